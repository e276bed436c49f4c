import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The process of the engine.
package enum ThisProcess {
  package static var id: Int32 { getpid() }

  /// The name of its user, as set by the login; otherwise the user's number.
  package static var userName: String {
    for name in ["LOGNAME", "USER"] {
      if let user = variable(name), !user.isEmpty { return user }
    }
    return "user \(geteuid())"
  }

  package static var session: Int32 { getsid(0) }

  /// An identity distinct from that of every other process that has had or will have its id.
  package static var identity: ProcessIdentity {
    ProcessStatus(of: id)?.identity ?? ProcessIdentity(id: id, startTicks: 0)
  }

  /// The number of the namespace that its process ids belong to (Linux, `pid_namespaces(7)`); 0 if there are no
  /// namespaces.
  package static let idNamespace: UInt64 = {
    #if os(Linux)
      var status = stat()
      return stat("/proc/self/ns/pid", &status) == 0 ? UInt64(status.st_ino) : 0
    #else
      return 0
    #endif
  }()

  /// The number of processors it may run on, at least 1.
  package static var processorCount: Int { Int(weft_processor_count()) }

  /// The value of an environment variable, byte for byte.
  package static func variableBytes(_ name: String) -> [UInt8]? {
    guard let value = getenv(name) else { return nil }
    return Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
  }

  /// Sends TSTP to this process's own group, as ^Z does to the foreground group.
  ///
  /// - Returns: False, without sending anything, if this process ignores TSTP: its parent then has no job control.
  static func stopJob() -> Bool {
    guard weft_signal_is_ignored(SIGTSTP) == 0 else { return false }
    return kill(0, SIGTSTP) == 0
  }
}

/// Functions for a program's `main`.
extension ThisProcess {
  /// The arguments as bytes, without the program's own name: a path need not be UTF-8.
  package static var arguments: [[UInt8]] {
    var count: Int32 = 0
    // Without /proc, `CommandLine` has none.
    let list = weft_arguments(&count) ?? CommandLine.unsafeArgv
    if count == 0 { count = CommandLine.argc }
    return (1..<max(1, Int(count))).map { index in
      guard let argument = list[index] else { return [] }
      return UnsafeBufferPointer(start: argument, count: strlen(argument)).map {
        UInt8(bitPattern: $0)
      }
    }
  }

  /// The value of an environment variable; invalid UTF-8 is repaired.
  package static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// Opens /dev/null for standard streams that were closed, so that no file opened later gets their number and is
  /// written to by mistake. Reading returns no bytes, writing fails.
  package static func fillStandardStreams() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      // The lowest free number is this one.
      _ = open("/dev/null", O_RDONLY)
    }
  }

  /// Keeps the memory and environment of this process from other processes of the same user, and out of core files
  /// (Linux, `PR_SET_DUMPABLE` of prctl(2)). Does not affect spawned programs, and does not restrict root. Does nothing
  /// if the system does not support it.
  package static func hideMemory() { weft_hide_memory() }

  /// Stops this process as TSTP does by default, and returns once it has been continued. TSTP must not be ignored.
  /// Returns immediately if no process could continue it (the system does not stop orphaned groups).
  package static func stop() { weft_signal_stop(SIGTSTP) }

  /// Exits immediately, on any thread; nothing is flushed and no other code runs.
  package static func exit(_ status: Int32) -> Never { _exit(status) }
}

extension Machine {
  /// A UUID that distinguishes this boot of the machine from all others, as process ids and ticks do not. Empty if the
  /// system has none (Linux: `random(4)`, `boot_id`).
  package static let bootID: String = {
    #if os(Linux)
      let path = "/proc/sys/kernel/random/boot_id"
      let bytes = (try? FileReading.bytes(of: path, limit: 256)) ?? []
      return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
    #else
      var text = [CChar](repeating: 0, count: 64)
      var size = text.count
      guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return "" }
      return String(cString: text)
    #endif
  }()
}

/// The number of programs that can run at the same time within the limit of open files.
package struct DescriptorBudget: Sendable, Hashable {
  /// The soft `RLIMIT_NOFILE`: new descriptors get numbers below it.
  package var limit: Int
  /// The number of descriptors below the limit that are already open. Higher ones, which a process may have inherited,
  /// do not reduce the budget.
  package var open: Int

  package init(limit: Int, open: Int) {
    self.limit = limit
    self.open = open
  }

  /// The descriptors per program. While it is spawned, the engine holds both ends of its three pipes, its exit
  /// descriptor, its thread's wake descriptor, and its control group's directory and events. Once it runs, three are
  /// closed.
  package static let perProgram = 10

  /// The descriptors for files that the engine opens briefly: a process listing, a copy of a log, a file to read.
  package static let reserve = 8

  /// The descriptors that a run holds from beginning to end: its folder with logs, control, lock, reserve and journal,
  /// `/dev/null`, and the control group with its parent and its events.
  package static let perRun = 11

  /// The lowest limit with which a run can start, with one program at a time.
  package var fewest: Int { open + Self.perRun + Self.perProgram }

  /// The number of programs that can run at the same time; always at least one.
  ///
  /// - Parameter extra: The descriptors that each program needs in addition to ``perProgram``.
  package func programs(extra: Int = 0) -> Int {
    max(1, (limit - open - Self.reserve) / (Self.perProgram + extra))
  }

  /// The lowest limit with which `count` programs can run at the same time.
  package func limit(forPrograms count: Int, extra: Int = 0) -> Int {
    open + Self.reserve + count * (Self.perProgram + extra)
  }
}

extension ThisProcess {
  /// Raises the limit of open files as far as this process may; if refused, the limit stays unchanged. Spawned programs
  /// get the original limit, because some cannot cope with a high one (`select`, loops over all numbers). For a
  /// program's `main`: in a library it would change the host.
  package static func raiseDescriptorLimit() { _ = weft_descriptor_limit_raise() }
}

extension DescriptorBudget {
  /// The current budget of this process.
  package static var ofThisProcess: DescriptorBudget {
    let limit = weft_descriptor_limit()
    return DescriptorBudget(limit: Int(limit), open: Int(weft_open_descriptors(limit)))
  }
}

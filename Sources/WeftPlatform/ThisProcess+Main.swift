import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Functions for a program's `main`.
extension ThisProcess {
  /// The arguments as bytes, without the program's own name: a path need not be UTF-8.
  package static var arguments: [[UInt8]] {
    (1..<max(1, Int(CommandLine.argc))).map { index in
      guard let argument = CommandLine.unsafeArgv[index] else { return [] }
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

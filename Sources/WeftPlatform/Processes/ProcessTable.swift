import Synchronization

/// A process for reports.
package struct ProcessRecord: Hashable, Sendable {
  package var id: Int32
  /// The program's name as the kernel keeps it: at most 15 bytes.
  package var command: String
}

/// An identity that distinguishes a process from an earlier one with the same id.
package struct ProcessIdentity: Hashable, Sendable {
  package var id: Int32
  /// The start time, in the kernel's ticks since boot.
  package var startTicks: UInt64

  package init(id: Int32, startTicks: UInt64) {
    self.id = id
    self.startTicks = startTicks
  }
}

/// A process and its relations to others.
package struct ProcessStatus: Hashable, Sendable {
  package var identity: ProcessIdentity
  package var command: String
  /// False for zombies, which only wait to be reaped.
  package var isAlive: Bool
  package var parent: Int32
  package var group: Int32
  package var session: Int32

  package var id: Int32 { identity.id }
  package var record: ProcessRecord { ProcessRecord(id: id, command: command) }

  package init(
    identity: ProcessIdentity, command: String, isAlive: Bool = true, parent: Int32, group: Int32,
    session: Int32
  ) {
    self.identity = identity
    self.command = command
    self.isAlive = isAlive
    self.parent = parent
    self.group = group
    self.session = session
  }
}

/// The processes of this machine, zombies included.
///
/// A walk over /proc takes a few microseconds for each process of the whole machine, so concurrent callers share one: a
/// walk serves all calls made before it begins.
package final class ProcessTable: Sendable {
  static let shared = ProcessTable()

  /// The result of one walk.
  struct Walk {
    /// Later walks have higher numbers.
    var number = 0
    fileprivate var begun = Duration.zero
    var processes: [ProcessStatus] = []
  }

  private let last = Mutex(Walk())

  /// All processes at some moment after the start of this call.
  func walk() -> Walk {
    let asked = MonotonicClock.now
    return last.withLock { walk in
      if walk.begun <= asked {
        walk.number += 1
        walk.begun = MonotonicClock.now
        walk.processes = Self.all()
      }
      return walk
    }
  }

  /// The living members of group `leader`, without the leader itself.
  func members(ofGroup leader: Int32) -> [ProcessStatus] {
    walk().processes.filter { $0.group == leader && $0.id != leader && $0.isAlive }
  }
}

#if os(Linux)
  import Glibc

  extension ProcessTable {
    /// Whether /proc lists processes by their ids in this namespace. In a PID namespace without its own mount, /proc
    /// belongs to a different one, and a signal sent to an id from it could hit any process.
    package static let isReadable: Bool = {
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
        let count = readlink("/proc/self", buffer.baseAddress!, buffer.count)
        guard count > 0 else { return false }
        let target = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: buffer[..<count]))
        return DecimalDigits.number(startingAt: target) == Int(getpid())
      }
    }()

    static func all() -> [ProcessStatus] {
      var processes: [ProcessStatus] = []
      guard isReadable, let listing = opendir("/proc") else { return processes }
      defer { closedir(listing) }
      while let entry = readdir(listing) {
        let id = withUnsafeBytes(of: &entry.pointee.d_name) { DecimalDigits.number(startingAt: $0) }
        if let id, let status = ProcessStatus(of: Int32(id)) { processes.append(status) }
      }
      return processes
    }
  }

  extension ProcessStatus {
    /// `nil` if there is no such process (any more).
    package init?(of id: Int32) {
      guard ProcessTable.isReadable else { return nil }
      let file = open("/proc/\(id)/stat", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      let status = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
        let count = max(0, read(file, buffer.baseAddress, buffer.count))
        return ProcessStatus(line: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
      guard let status else { return nil }
      self = status
    }

    /// The effective user of a process; `nil` if there is no such process. Read from its status file, because the
    /// directory of a process that hides its memory belongs to root.
    static func user(of id: Int32) -> uid_t? {
      guard let bytes = CgroupFile.contents(ofFile: "/proc/\(id)/status") else { return nil }
      let line = bytes.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "Uid:".utf8) }
      // "Uid:", then real, effective, saved and file system user (proc_pid_status(5)).
      let fields = line?.split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
      guard let fields, fields.count > 2 else { return nil }
      return uid_t(String(decoding: fields[2], as: UTF8.self))
    }

    /// Parses /proc/PID/stat (proc_pid_stat(5)). The command is in parentheses and may contain any byte, including
    /// parentheses; the last one ends it.
    init?(line: UnsafeRawBufferPointer) {
      guard let id = DecimalDigits.number(startingAt: line),
        let open = line.firstIndex(of: UInt8(ascii: "(")),
        let close = line.lastIndex(of: UInt8(ascii: ")")), open < close
      else { return nil }
      let fields = line[(close + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 20)
      // Fields from 3, the state, on; 20 is the number of threads, 22 the start.
      guard fields.count > 19, let state = fields[0].first else { return nil }
      let numbers = [1, 2, 3, 17, 19].compactMap {
        DecimalDigits.number(startingAt: UnsafeRawBufferPointer(rebasing: fields[$0]))
      }
      guard numbers.count == 5 else { return nil }
      let isDead = state == UInt8(ascii: "Z") || state == UInt8(ascii: "X")
      self.init(
        identity: ProcessIdentity(id: Int32(id), startTicks: UInt64(numbers[4])),
        command: String(decoding: line[(open + 1)..<close], as: UTF8.self),
        // A process whose main thread has ended looks like a zombie while its other threads run.
        isAlive: !isDead || numbers[3] > 1,
        parent: Int32(numbers[0]), group: Int32(numbers[1]), session: Int32(numbers[2]))
    }
  }
#endif

/// Parses numbers as the kernel writes them.
enum DecimalDigits {
  /// The number at the beginning of `bytes`; `nil` if they begin with anything but a digit.
  static func number(startingAt bytes: UnsafeRawBufferPointer) -> Int? {
    var number: Int?
    for byte in bytes {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { break }
      let (scaled, isTooLarge) = (number ?? 0).multipliedReportingOverflow(by: 10)
      guard !isTooLarge else { return nil }
      number = scaled + Int(byte - UInt8(ascii: "0"))
    }
    return number
  }
}

#if canImport(Darwin)
  import Darwin

  extension ProcessTable {
    package static let isReadable = true

    static func all() -> [ProcessStatus] { listed([CTL_KERN, KERN_PROC, KERN_PROC_ALL]) }

    fileprivate static func listed(_ query: [Int32]) -> [ProcessStatus] {
      var query = query
      let depth = UInt32(query.count)
      var size = 0
      guard sysctl(&query, depth, nil, &size, nil, 0) == 0 else { return [] }
      var processes = [kinfo_proc](
        repeating: kinfo_proc(), count: size / MemoryLayout<kinfo_proc>.stride + 16)
      size = processes.count * MemoryLayout<kinfo_proc>.stride
      guard sysctl(&query, depth, &processes, &size, nil, 0) == 0 else { return [] }
      return processes.prefix(size / MemoryLayout<kinfo_proc>.stride).map(ProcessStatus.init)
    }
  }

  extension ProcessStatus {
    /// `nil` if there is no such process (any more).
    package init?(of id: Int32) {
      guard let status = ProcessTable.listed([CTL_KERN, KERN_PROC, KERN_PROC_PID, id]).first else {
        return nil
      }
      self = status
    }

    /// Not needed: macOS shows no environments, so no process is found by them.
    static func user(of id: Int32) -> uid_t? { nil }

    fileprivate init(_ process: kinfo_proc) {
      let started = process.kp_proc.p_starttime
      self.init(
        identity: ProcessIdentity(
          id: process.kp_proc.p_pid,
          startTicks: UInt64(started.tv_sec) * 1_000_000 + UInt64(started.tv_usec)),
        command: withUnsafeBytes(of: process.kp_proc.p_comm) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        },
        isAlive: Int32(process.kp_proc.p_stat) != SZOMB, parent: process.kp_eproc.e_ppid,
        group: process.kp_eproc.e_pgid, session: getsid(process.kp_proc.p_pid))
    }
  }
#endif

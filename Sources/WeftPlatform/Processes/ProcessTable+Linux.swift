#if os(Linux)
  import Glibc

  extension ProcessTable {
    static func groups() -> [Int32: [ProcessRecord]] {
      var groups: [Int32: [ProcessRecord]] = [:]
      guard let listing = opendir("/proc") else { return groups }
      defer { closedir(listing) }
      while let entry = readdir(listing) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        guard let id = Int32(name), let status = ProcessStatus(of: id), status.isAlive else {
          continue
        }
        groups[status.group, default: []].append(ProcessRecord(id: id, command: status.command))
      }
      return groups
    }
  }

  /// What /proc/PID/stat says (proc_pid_stat(5)).
  struct ProcessStatus: Equatable {
    var command: String
    var state: UInt8
    var parent: Int32
    var group: Int32
    var session: Int32

    init(command: String, state: UInt8, parent: Int32, group: Int32, session: Int32) {
      self.command = command
      self.state = state
      self.parent = parent
      self.group = group
      self.session = session
    }

    /// Neither a zombie nor dead.
    var isAlive: Bool { state != UInt8(ascii: "Z") && state != UInt8(ascii: "X") }

    /// `nil` when there is no such process (any more).
    init?(of id: Int32) {
      let file = open("/proc/\(id)/stat", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      let line = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
        Array(buffer.prefix(max(0, read(file, buffer.baseAddress, buffer.count))))
      }
      self.init(line: line)
    }

    /// The command stands in parentheses and may hold any byte, parentheses too; the last one ends it.
    init?(line: [UInt8]) {
      guard let open = line.firstIndex(of: UInt8(ascii: "(")),
        let close = line.lastIndex(of: UInt8(ascii: ")")), open < close
      else { return nil }
      let fields = line[(close + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 4)
      guard fields.count >= 4, let state = fields[0].first else { return nil }
      let numbers = fields[1...3].compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
      guard numbers.count == 3 else { return nil }
      command = String(decoding: line[(open + 1)..<close], as: UTF8.self)
      self.state = state
      (parent, group, session) = (numbers[0], numbers[1], numbers[2])
    }
  }
#endif

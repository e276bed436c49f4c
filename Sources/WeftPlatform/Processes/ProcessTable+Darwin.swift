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

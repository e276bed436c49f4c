#if canImport(Darwin)
  import Darwin

  extension ProcessTable {
    static func groups() -> [Int32: [ProcessRecord]] {
      var query = [CTL_KERN, KERN_PROC, KERN_PROC_ALL]
      var size = 0
      guard sysctl(&query, 3, nil, &size, nil, 0) == 0 else { return [:] }
      var processes = [kinfo_proc](
        repeating: kinfo_proc(), count: size / MemoryLayout<kinfo_proc>.stride + 16)
      size = processes.count * MemoryLayout<kinfo_proc>.stride
      guard sysctl(&query, 3, &processes, &size, nil, 0) == 0 else { return [:] }
      var groups: [Int32: [ProcessRecord]] = [:]
      for process in processes.prefix(size / MemoryLayout<kinfo_proc>.stride)
      where process.kp_proc.p_stat != SZOMB {
        let command = withUnsafeBytes(of: process.kp_proc.p_comm) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        groups[process.kp_eproc.e_pgid, default: []].append(
          ProcessRecord(id: process.kp_proc.p_pid, command: command))
      }
      return groups
    }
  }
#endif

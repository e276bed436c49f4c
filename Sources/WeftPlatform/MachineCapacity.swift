/// The processors and the memory that this process and its programs may use: those of the machine, or fewer if control
/// groups around the process limit them.
package struct MachineCapacity: Sendable, Hashable {
  /// At least 1.
  package var processors: Int
  /// In bytes; whole mebibytes.
  package var memory: Int

  package init(processors: Int, memory: Int) {
    (self.processors, self.memory) = (processors, memory)
  }

  /// No limit, as for runs that start no programs.
  package static let unlimited = MachineCapacity(processors: .max, memory: .max)

  /// The capacity as it is now.
  package static var present: MachineCapacity {
    MachineCapacity(processors: ThisProcess.processorCount) { path in
      (try? FileReading.bytes(of: path)).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// - Parameters:
  ///   - processors: The number of processors that the process may run on.
  ///   - read: The text of a file of the system; `nil` if it cannot be read.
  init(processors: Int, read: (String) -> String?) {
    self.init(processors: processors, memory: MachineCapacity.memory(of: read("/proc/meminfo")))
    guard let mounts = read("/proc/self/mountinfo"), let membership = read("/proc/self/cgroup")
    else { return }
    func groups(of controller: Substring? = nil) -> [String] {
      ControlGroupLocation(mounts: mounts, membership: membership, controller: controller)?
        .enclosing ?? []
    }
    func number(_ path: String) -> Int? { read(path).flatMap { Int($0.prefix { $0 != "\n" }) } }
    for group in groups() {
      limit(memory: number("\(group)/memory.max"))
      // "QUOTA PERIOD", or "max PERIOD".
      let fields = read("\(group)/cpu.max")?.split { $0 == " " || $0 == "\n" }.map { Int($0) } ?? []
      if fields.count == 2 { limit(quota: fields[0], period: fields[1]) }
    }
    for group in groups(of: "memory") { limit(memory: number("\(group)/memory.limit_in_bytes")) }
    for group in groups(of: "cpu") {
      limit(
        quota: number("\(group)/cpu.cfs_quota_us"), period: number("\(group)/cpu.cfs_period_us"))
    }
    if memory < .max { memory -= memory % (1 << 20) }
  }

  private mutating func limit(memory limit: Int?) {
    if let limit, limit > 0 { memory = min(memory, limit) }
  }

  private mutating func limit(quota: Int?, period: Int?) {
    guard let quota, let period, quota > 0, period > 0 else { return }
    processors = min(processors, max(1, quota / period))
  }

  /// The memory of the machine (`proc_meminfo(5)`).
  private static func memory(of text: String?) -> Int {
    guard let line = text?.split(separator: "\n").first(where: { $0.hasPrefix("MemTotal:") }),
      let kibibytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return .max }
    return kibibytes << 10
  }
}

extension ControlGroupLocation {
  /// The process's own group and those around it, up to the mounted top.
  fileprivate var enclosing: [String] {
    var groups = [directory]
    while let last = groups.last, last != top, let slash = last.lastIndex(of: "/") {
      groups.append(String(last[..<slash]))
    }
    return groups
  }
}

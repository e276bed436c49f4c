import WeftEvents
import WeftPlatform

extension WeftEvents.ContainmentLevel {
  init(_ level: WeftPlatform.ContainmentLevel) {
    switch level {
    case .cgroup: self = .cgroup
    case .subreaper: self = .subreaper
    case .groupAndCookie: self = .groupAndCookie
    }
  }
}

extension Remains {
  init(_ end: OrphansEnd) {
    self.init()
    leftovers = end.ended.map(LeftoverProcess.init)
    unkillable = end.orphans.map(LeftoverProcess.init)
  }
}

extension LeftoverProcess {
  static func sentence(onUnkillable processes: [LeftoverProcess]) -> String {
    let shown = processes.prefix(10).map { "\($0.process) (\($0.command))" }
      .joined(separator: ", ")
    let more = processes.count > 10 ? " and \(processes.count - 10) more" : ""
    return "could not kill what steps have started: \(shown)\(more)"
  }
}

import WeftDefinition
import WeftPlatform

/// What the system had no room for when an attempt was to be started.
struct Shortage: Sendable, Hashable {
  /// One sentence, and its cure.
  let message: String
  let help: String?
  /// Whether the same may well succeed later.
  let mayPass: Bool

  init(_ reason: ThreadNotStarted) {
    message = reason.message
    help = "raise the limit of processes (ulimit -u) or lower the parallelism"
    mayPass =
      switch reason {
      case .poolIsClosed: false
      case .resources(let error): error.isShortage
      }
  }

  /// `nil` if it is not for want of room.
  init?(_ obstacle: AttemptObstacle) {
    let error: SystemError
    switch obstacle {
    case .notStarted(.resources(let reason)), .input(_, let reason),
      .log(_, .unwritten(.other(let reason))):
      error = reason
    case .notStarted, .log, .environment, .timedOut, .stalled: return nil
    }
    guard error.isShortage else { return nil }
    let reason = ProgramNotStarted.resources(error)
    (message, help, mayPass) = (reason.message, reason.help, true)
  }

  /// How the attempt fails that is not tried any more.
  var failure: StepFailure {
    StepFailure(classes: [.spawn], message: "did not start: \(message)", help: help)
  }

  /// What is told when the first has to wait.
  func warning(step: String) -> RunWarning {
    RunWarning(
      kind: .scarceResources, message: "step \"\(step)\" waits to start: \(message)", help: help)
  }
}

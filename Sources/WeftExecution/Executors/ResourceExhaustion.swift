import WeftDefinition
import WeftEvents
import WeftPlatform

/// A lack of resources when an attempt was to be started.
struct ResourceExhaustion: Sendable, Hashable {
  /// The problem as one sentence.
  let message: String
  let help: String?
  /// Whether a later try may well succeed.
  let mayPass: Bool

  init(_ reason: ThreadError) {
    message = reason.message
    help = "raise the limit of processes (ulimit -u) or lower the parallelism"
    mayPass =
      switch reason {
      case .poolIsClosed: false
      case .resources(let error): error.isShortage
      }
  }

  /// `nil` if the obstacle is not resource exhaustion.
  init?(_ obstacle: AttemptObstacle) {
    let error: SystemError
    switch obstacle {
    case .notStarted(.resources(let reason)), .input(_, let reason),
      .log(_, .unwritten(.other(let reason))):
      error = reason
    case .notStarted, .log, .environment, .timedOut, .stalled: return nil
    }
    guard error.isShortage else { return nil }
    let reason = SpawnError.resources(error)
    (message, help, mayPass) = (reason.message, reason.help, true)
  }

  /// The failure of an attempt that is given up.
  var failure: StepFailure {
    StepFailure(classes: [.spawn], message: "did not start: \(message)", help: help)
  }

  /// The warning when the first attempt has to wait.
  func warning(step: String) -> RunWarning {
    RunWarning(
      kind: .scarceResources, message: "step \"\(step)\" waits to start: \(message)", help: help)
  }
}

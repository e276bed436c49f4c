/// The exit status of the program; stable across releases.
enum ExitCode: Sendable, Hashable {
  case success
  /// A step failed, or `--strict` counts the result as a failure.
  case failure
  /// The command line is wrong, or names something that does not exist.
  case usage
  /// The workflow file is rejected; nothing was started.
  case rejected
  /// The program broke a promise: the disk, or its own output.
  case broken
  /// The run is suspended until a pending approval is answered; `weft resume` continues it.
  case waiting
  /// The run's own time limit passed; a step's limit is a ``failure``. Equal to timeout(1).
  case timedOut
  /// A signal ended the program: 130 for ^C, 143 for TERM, 129 for HUP.
  case signal(Int32)

  var status: Int32 {
    switch self {
    case .success: 0
    case .failure: 1
    case .usage: 2
    case .rejected: 3
    case .broken: 4
    case .waiting: 75
    case .timedOut: 124
    case .signal(let number): 128 + number
    }
  }
}

package import WeftEvents
import WeftPlatform

/// The exit status of the program, decided by the end of a run; stable across releases.
package enum ExitCode: Sendable, Hashable {
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

  package var status: Int32 {
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

extension ExitCode {
  /// Returns the code of a suspended run.
  package init(of pause: RunPause?, keptPromises: Bool) {
    guard let pause else { preconditionFailure("events ended before the run did") }
    self = keptPromises && pause.unkillable.isEmpty ? .waiting : .broken
  }

  /// Returns the code of an ended run.
  ///
  /// - Parameters:
  ///   - isRejected: Whether it counts as failed although it succeeded.
  ///   - keptPromises: Whether the engine recorded, and the program wrote, everything required. If not, that
  ///     determines the code rather than the run's outcome, unless a signal ended the run, since a lost terminal is
  ///     then only a consequence. An unkillable process takes precedence over everything.
  package init(of end: RunEnd, isRejected: Bool = false, keptPromises: Bool) {
    if !end.unkillable.isEmpty {
      self = .broken
    } else if case .signal(let name)? = end.cancellation, let signal = Signal(name: name) {
      self = .signal(signal.rawValue)
    } else if !keptPromises {
      self = .broken
    } else if case .runTimeout? = end.cancellation {
      self = .timedOut
    } else if [.requested, .filesChanged].contains(end.cancellation) {
      // Cancelled by "weft cancel", a run with the same concurrency key, or --watch; equal to the first ^C.
      self = .signal(Signal.interrupt.rawValue)
    } else if end.outcome == .success {
      self = isRejected ? .failure : .success
    } else {
      self = .failure
    }
  }
}

import WeftEvents
import WeftPlatform

extension ExitCode {
  /// Returns the code of a suspended run.
  init(of pause: RunPause?, keptPromises: Bool) {
    guard let pause else { preconditionFailure("events ended before the run did") }
    self = keptPromises && pause.unkillable.isEmpty ? .waiting : .broken
  }

  /// Returns the code of an ended run.
  ///
  /// - Parameter keptPromises: Whether the engine recorded, and the program wrote, everything required. If not, that
  ///   determines the code rather than the run's outcome, unless a signal ended the run, since a lost terminal is
  ///   then only a consequence. An unkillable process takes precedence over everything.
  init(of end: RunEnd, isStrict: Bool, keptPromises: Bool) {
    if !end.unkillable.isEmpty {
      self = .broken
    } else if case .signal(let name)? = end.cancellation, let signal = Signal(name: name) {
      self = .signal(signal.rawValue)
    } else if !keptPromises {
      self = .broken
    } else if case .runTimeout? = end.cancellation {
      self = .timedOut
    } else if case .requested? = end.cancellation {
      // Cancelled by "weft cancel" or a run with the same concurrency key; equal to the first ^C.
      self = .signal(Signal.interrupt.rawValue)
    } else if end.outcome == .success {
      self = isStrict && end.counts.tolerated > 0 ? .failure : .success
    } else {
      self = .failure
    }
  }
}

import WeftExecution
import WeftPlatform

extension ExitCode {
  /// The code of a run that waits for somebody, without its engine.
  init(of pause: RunPause?, keptPromises: Bool) {
    guard let pause else { preconditionFailure("events ended before the run did") }
    self = keptPromises && pause.unkillable.isEmpty ? .waiting : .broken
  }

  /// The code of a run that has ended.
  ///
  /// - Parameter keptPromises: Whether the engine recorded, and the program wrote, all that it had to.
  ///   If not, that is told rather than how the run ended; unless a signal ended it, of which a lost
  ///   terminal is only a consequence. That something could not be killed is told before all.
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
      // By "weft cancel", or by a run of the same concurrency key: as the first ^C does.
      self = .signal(Signal.interrupt.rawValue)
    } else if end.outcome == .success {
      self = isStrict && end.counts.tolerated > 0 ? .failure : .success
    } else {
      self = .failure
    }
  }
}

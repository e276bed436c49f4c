import Synchronization
import WeftEvents
import WeftExecution
import WeftPlatform

/// Ends or stops a run on signals, on a separate thread, so that signals take effect even while the main thread waits
/// for its output to be read.
final class SignalHandling: Sendable {
  private struct State {
    var interruptions = Interruptions()
    /// The first signal, which determines the exit code.
    var first: Signal?
    /// `nil` until the run has begun.
    var run: RunEngine?
  }

  private let suspension: Suspension
  /// Requested by the first signal, for work before the run.
  let stop = StopSwitch()
  private let state = Mutex(State())

  init(_ suspension: Suspension) {
    self.suspension = suspension
  }

  /// Starts listening; must be called before the program creates its first thread.
  ///
  /// - Returns: The error if it cannot.
  func start() -> CommandError? {
    do {
      _ = try SignalListener.start(SignalListener.ending + [.terminalStop]) { [self] signal in
        if signal == .terminalStop { suspension.stopUntilContinued() } else { end(for: signal) }
      }
      return nil
    } catch {
      return CommandError("cannot listen for signals: \(error)")
    }
  }

  /// Directs signals to this run, including one that came before.
  func attach(_ run: RunEngine) {
    let first = state.withLock { state in
      state.run = run
      return state.first
    }
    if let first { run.cancel(.signal(first.name)) }
  }

  /// The first signal that asked the program to end.
  var first: Signal? { state.withLock { $0.first } }

  private func end(for signal: Signal) {
    let (action, run, first) = state.withLock { state in
      state.interruptions.runIsOver = state.run?.report.end != nil
      let first = state.first ?? signal
      state.first = first
      return (state.interruptions.next(), state.run, first)
    }
    switch action {
    case .cancel:
      stop.request(.graceful)
      run?.cancel(.signal(signal.name))
    case .kill:
      stop.request(.now)
      run?.killNow()
    case .leave:
      suspension.arbiter.loan?.end(restoringScreen: true)
      run?.abandon()
      ThisProcess.exit(ExitCode.signal(first.rawValue).status)
    }
  }
}

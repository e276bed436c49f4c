import Synchronization
import WeftExecution
import WeftPlatform

/// Ends a run when signals ask for it, on a thread of its own: they are heard also while the main
/// thread waits for somebody to read what it writes.
final class SignalHandling: Sendable {
  private struct State {
    var interruptions = Interruptions()
    /// The first signal; it makes the exit code.
    var first: Signal?
    /// `nil` until the run has begun.
    var run: LiveRun?
  }

  private let state = Mutex(State())

  /// Begins to listen; before the program makes its first thread.
  ///
  /// - Returns: Why it cannot.
  func start() -> Complaint? {
    do {
      _ = try SignalListener.start { [self] in receive($0) }
      return nil
    } catch {
      return Complaint("cannot listen for signals: \(error)")
    }
  }

  /// From now on signals are about this run; one that came before is about it, too.
  func attach(_ run: LiveRun) {
    let first = state.withLock { state in
      state.run = run
      return state.first
    }
    if let first { run.cancel(.signal(first.name)) }
  }

  private func receive(_ signal: Signal) {
    let (action, run, first) = state.withLock { state in
      state.interruptions.runIsOver = state.run?.report.end != nil
      let first = state.first ?? signal
      state.first = first
      return (state.interruptions.next(), state.run, first)
    }
    switch action {
    case .cancel: run?.cancel(.signal(signal.name))
    case .kill: run?.killNow()
    case .leave: ThisProcess.exit(ExitCode.signal(first.rawValue).status)
    }
  }
}

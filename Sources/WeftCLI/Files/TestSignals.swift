import Synchronization
import Weft
import WeftPlatform

/// Signals that end `weft test`, as they end `weft run`: the first one cancels the current case, the second kills what
/// is real, the third exits at once.
final class TestSignals: Sendable {
  private struct State {
    var interruptions = Interruptions()
    var first: Signal?
  }

  let stop = StopSwitch()
  private let state = Mutex(State())

  /// Starts listening; must be called before the program creates its first thread.
  ///
  /// - Returns: The error if it cannot.
  func start() -> CommandError? {
    do {
      _ = try SignalListener.start { [self] in end(for: $0) }
      return nil
    } catch {
      return CommandError("cannot listen for signals: \(error)")
    }
  }

  /// The first signal, which determines the exit code.
  var first: Signal? { state.withLock { $0.first } }

  private func end(for signal: Signal) {
    let (action, first) = state.withLock { state in
      let first = state.first ?? signal
      state.first = first
      return (state.interruptions.next(), first)
    }
    switch action {
    case .cancel: stop.request(.graceful)
    case .kill: stop.request(.now)
    case .leave: ThisProcess.exit(ExitCode.signal(first.rawValue).status)
    }
  }
}

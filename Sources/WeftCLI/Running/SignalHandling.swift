import Synchronization
import Weft
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
    var run: Run?
    var isListening = false
  }

  private let suspension: Suspension
  /// Requested by the first signal, for work before the run.
  let stop = StopSwitch()
  private let state = Mutex(State())

  init(_ suspension: Suspension) {
    self.suspension = suspension
  }

  /// Starts listening, unless it has; must be called before the program creates its first thread.
  ///
  /// - Returns: The error if it cannot.
  func start() -> CommandError? {
    let isListening = state.withLock { state in
      defer { state.isListening = true }
      return state.isListening
    }
    if isListening { return nil }
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
  func attach(_ run: Run) {
    let first = state.withLock { state in
      state.run = run
      return state.first
    }
    if let first { run.cancel(.signal(first.name)) }
  }

  /// Directs signals to the program again, after its run has ended and before the next one.
  func detach() { state.withLock { $0.run = nil } }

  /// The first signal that asked the program to end.
  var first: Signal? { state.withLock { $0.first } }

  private func end(for signal: Signal) {
    let (action, run, first) = state.withLock { state in
      state.interruptions.runIsOver = state.run?.live.report.end != nil
      let first = state.first ?? signal
      state.first = first
      return (state.interruptions.next(signal, at: MonotonicClock.now), state.run, first)
    }
    switch action {
    case nil: break
    case .cancel:
      stop.request(.graceful)
      run?.cancel(.signal(signal.name))
    case .kill:
      stop.request(.now)
      run?.cancel(.signal(signal.name))
      run?.kill()
    case .leaveOnceClosed:
      run?.whenClosed { [self] in leave(run, first) }
    case .leave: leave(run, first)
    }
  }

  private func leave(_ run: Run?, _ first: Signal) -> Never {
    suspension.arbiter.loan?.end(restoringScreen: true)
    run?.live.abandon()
    ThisProcess.exit(ExitCode.signal(first.rawValue).status)
  }
}

/// The effects of signals that ask the program to end: the first cancels the run gracefully, the second kills running
/// processes, the third exits at once. After the run, the first one exits as soon as its record is complete. QUIT (^\) is
/// never less than the second.
///
/// One request may come as two signals: `timeout` sends TERM to its child and to the group of it, a terminal that is closed
/// sends HUP and so does its shell, and some programs pass a ^C on that their child has got already.
struct Interruptions: Sendable, Hashable {
  enum Action: Sendable, Hashable {
    case cancel
    case kill
    /// Exits once the journal of the run, which has ended, is closed and its report written.
    case leaveOnceClosed
    case leave
  }

  /// The time within which another signal is the same request. A user is slower.
  static let repetition = Duration.milliseconds(100)

  private var count = 0
  /// The time of the last signal that counted.
  private var last: Duration?
  /// Set when nothing runs any more, and only output remains to be written.
  var runIsOver = false

  /// Returns the effect of the next signal; `nil` if it repeats the last one.
  mutating func next(_ signal: Signal, at now: Duration) -> Action? {
    let isStronger = signal == .quit && count < 2
    if let last, now - last < Interruptions.repetition, !isStronger { return nil }
    last = now
    count = max(count + 1, signal == .quit ? 2 : 1)
    switch count {
    case 1...2 where runIsOver: return .leaveOnceClosed
    case 1: return .cancel
    case 2: return .kill
    default: return .leave
    }
  }
}

/// The effect of ^Z: the display withdraws, the steps are paused, the terminal is restored, and the program stops
/// until `fg` or `bg`.
struct Suspension: Sendable {
  let displayLock: DisplayLock
  let arbiter: TerminalArbiter

  /// The longest wait for a display whose output is not read.
  private static let patience = Duration.milliseconds(250)

  /// Stops the program; returns when it is continued.
  func stopUntilContinued() {
    _ = displayLock.ask(atMost: Suspension.patience)
    // In this order, a step about to start with the terminal either has it by now, or waits.
    RunningGroups.shared.pause()
    arbiter.loan?.suspend()
    ThisProcess.stop()
    RunningGroups.shared.resume()
    arbiter.loan?.resume()
    displayLock.release()
  }
}

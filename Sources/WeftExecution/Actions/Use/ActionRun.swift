import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlatform

/// One attempt of an action, from its thread to its end: carries out the decisions of an ``ActionEnding``.
final class ActionRun: Sendable {
  private struct State {
    var ending = ActionEnding()
    var task: Task<Void, Never>?
    /// The timers of the time limit and of the grace period.
    var timers: [TimerToken] = []
    var outcome: AttemptEnd.Status?

    /// - Returns: Whether the timer is still needed.
    mutating func keep(_ timer: TimerToken) -> Bool {
      if !ending.isOver { timers.append(timer) }
      return !ending.isOver
    }

    mutating func takeTimers() -> [TimerToken] {
      defer { timers = [] }
      return timers
    }
  }

  let promise: Promise<AttemptEnd, Never>
  private let attempt: Attempt
  private let action: Action
  private let context: ActionContext
  private let pen: LogWriter
  private let time: any TimeSource
  private let grace: Duration
  private let state = Mutex(State())

  init(
    _ attempt: Attempt, _ action: Action, given call: ActionCall, run: RunID,
    time: any TimeSource, grace: Duration
  ) {
    self.attempt = attempt
    self.action = action
    self.time = time
    self.grace = grace
    pen = LogWriter(attempt.output, time)
    context = ActionContext(attempt, call, run: run, pen)
    promise = Promise(ifDropped: .success(AttemptEnd(.failed(.threadEnded))))
  }

  /// Runs the action on the calling thread until it ends, even if that is long after the attempt has ended.
  func perform() {
    ActionThread().run(
      { [self] in
        let outcome = await outcome()
        state.withLock { $0.outcome = outcome }
      }, began: { watch($0) })
    act(
      on: state.withLock { state in
        guard let outcome = state.outcome else {
          preconditionFailure("\(action.name) has ended without an outcome")
        }
        return state.ending.actionEnded(outcome)
      })
  }

  private func outcome() async -> AttemptEnd.Status {
    do {
      return ReturnedValue.judged(try await action.run(context))
    } catch {
      return .failed(.thrown(error))
    }
  }

  private func watch(_ task: Task<Void, Never>) {
    state.withLock { $0.task = task }
    if let limit = attempt.resolved.timeout {
      start(time.schedule(after: limit) { [weak self] in self?.decide { $0.timeoutPassed(limit) } })
    }
    // The attempt retains its switch; a strong reference here would be a cycle.
    for level in [StopLevel.graceful, .now] {
      attempt.stop.whenRequested(level) { [weak self] in
        self?.decide { $0.stopRequested(level) }
      }
    }
  }

  private func decide(_ change: (inout ActionEnding) -> ActionEnding.Decision) {
    act(on: state.withLock { change(&$0.ending) })
  }

  private func act(on decision: ActionEnding.Decision) {
    switch decision {
    case .nothing: break
    case .cancel:
      start(time.schedule(after: grace) { [weak self] in self?.decide { $0.gracePassed() } })
      let task = state.withLock { $0.task }
      task?.cancel()
    case .end(let status, let isAbandoned):
      for timer in state.withLock({ $0.takeTimers() }) { timer.cancel() }
      pen.close()
      if isAbandoned { attempt.warnings.report(.actionLeftBehind(by: attempt.address)) }
      promise.succeed(AttemptEnd(status))
    }
  }

  private func start(_ timer: TimerToken) {
    if !state.withLock({ $0.keep(timer) }) { timer.cancel() }
  }
}

extension StepFailure {
  /// The maximum length of an error's description, in characters.
  private static let longestDescription = 1000

  static func thrown(_ error: any Error) -> StepFailure {
    let description = "\(error)".unicodeScalars
    var reported = String(description.prefix(longestDescription))
    if description.count > longestDescription { reported += "…" }
    return StepFailure(classes: [.action], message: "threw an error: \(reported)")
  }
}

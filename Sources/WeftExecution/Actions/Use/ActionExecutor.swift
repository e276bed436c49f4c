import Synchronization
package import WeftDefinition
package import WeftEvents
package import WeftFutures
import WeftJSON
package import WeftPlatform

/// The actions that a program has registered, and the threads that they run on.
package struct ActionRegistry: Sendable {
  private let actions: [ActionName: Action]
  /// Stacks as large as those of the host's own threads, because host code runs on them.
  let threads = ThreadPool(name: "weft-action", stackBytes: 8 << 20)

  /// - Precondition: No two have the same name.
  package init(_ actions: [Action] = []) {
    self.actions = Dictionary(actions.map { ($0.name, $0) }) { first, _ in
      preconditionFailure("two actions are called \"\(first.name)\"")
    }
  }

  package var names: Set<ActionName> { Set(actions.keys) }

  subscript(name: ActionName) -> Action? { actions[name] }
}

/// Runs actions, each on a thread of its own until it ends.
package final class ActionExecutor: StepExecutor {
  private let registry: ActionRegistry
  private let run: RunID
  private let starts: StartQueue
  private let time: any TimeSource
  private let grace: Duration

  package init(run: RunID, configuration: EngineConfiguration, time: any TimeSource) {
    self.run = run
    self.time = time
    registry = configuration.actions
    grace = configuration.stopPolicy.grace
    starts = StartQueue(registry.threads, time: time)
  }

  package func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    guard let call = attempt.resolved.action.call else {
      preconditionFailure("\(attempt.address) is to run an action and has none")
    }
    guard let action = registry[call.name] else {
      return Future(value: AttemptEnd(.failed(.unregistered(call.name))))
    }
    let reporter = AttemptReporter(attempt, time)
    let context = ActionContext(attempt, call, run: run, reporter, time)
    let run = ActionRun(attempt, reporter, time: time, grace: grace) {
      do {
        return ReturnedValue.judged(try await action.run(context))
      } catch {
        return .failed(.thrown(error))
      }
    }
    return starts.submit(run)
  }
}

extension StartQueue {
  /// Performs an attempt, but never on this thread, though it may be one of these: it may be running an action that has
  /// cancelled a step.
  func submit(_ run: ActionRun) -> Future<AttemptEnd, Never> {
    submit(
      Request(for: run.attempt, run.promise) { [self] in
        programStarted()
        run.perform()
        programEnded()
        return nil
      }, onThisThread: false)
    return run.promise.future
  }
}

extension StepFailure {
  fileprivate static func unregistered(_ name: ActionName) -> StepFailure {
    StepFailure(
      classes: [.spawn], message: "did not start: the action \"\(name)\" is not registered",
      help: "pass it to the engine that runs the plan")
  }
}

/// One attempt that is a task, from its thread to its end: carries out the decisions of an ``ActionEnding``.
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
  fileprivate let attempt: Attempt
  private let body: @Sendable () async -> AttemptEnd.Status
  private let reporter: AttemptReporter
  private let time: any TimeSource
  private let grace: Duration
  private let state = Mutex(State())

  /// - Parameter body: The task; cancelled when the attempt is to end.
  init(
    _ attempt: Attempt, _ reporter: AttemptReporter, time: any TimeSource, grace: Duration,
    body: @escaping @Sendable () async -> AttemptEnd.Status
  ) {
    self.attempt = attempt
    self.body = body
    self.time = time
    self.grace = grace
    self.reporter = reporter
    promise = Promise(ifDropped: .success(AttemptEnd(.failed(.threadEnded))))
  }

  /// Runs the action on the calling thread until it ends, even if that is long after the attempt has ended.
  func perform() {
    ActionThread().run(
      { [self] in
        let outcome = await body()
        state.withLock { $0.outcome = outcome }
      }, began: { watch($0) })
    act(
      on: state.withLock { state in
        guard let outcome = state.outcome else {
          preconditionFailure("\(attempt.address) has ended without an outcome")
        }
        return state.ending.actionEnded(outcome)
      })
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
      reporter.close()
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
    if let error = error as? ActionError {
      return StepFailure(classes: [.action], message: shortened(error.message), help: error.help)
    }
    return StepFailure(classes: [.action], message: "threw an error: \(shortened("\(error)"))")
  }

  static func shortened(_ text: String) -> String {
    let description = text.unicodeScalars
    return String(description.prefix(longestDescription))
      + (description.count > longestDescription ? "…" : "")
  }
}

/// The single thread that runs the jobs of an action's task and of its child tasks in turn.
///
/// An action that blocks stalls only itself: neither the engine, nor other actions, nor the host's cooperative
/// pool, which has only as many threads as the machine has processors.
final class ActionThread: TaskExecutor {
  private struct State {
    /// In the order in which they will run.
    var jobs: [UnownedJob] = []
    var isClosed = false

    mutating func takeJobs() -> [UnownedJob]? {
      defer { jobs = [] }
      return isClosed && jobs.isEmpty ? nil : jobs
    }
  }

  private let state = Mutex(State())
  private let wakeup = Wakeup()

  /// Runs a task to its end on the calling thread.
  ///
  /// - Parameter began: Called with the task before any of it runs.
  func run(
    _ action: @escaping @Sendable () async -> Void, began: (Task<Void, Never>) -> Void
  ) {
    let task = Task(executorPreference: self) { [self] in
      await action()
      close()
    }
    began(task)
    while let jobs = state.withLock({ $0.takeJobs() }) {
      if jobs.isEmpty { wakeup.wait() }
      for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  /// Callable on any thread.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isLate = state.withLock { state in
      if !state.isClosed { state.jobs.append(job) }
      return state.isClosed
    }
    // A task outlives its child tasks, and nothing else is enqueued here by itself; unstructured tasks that are
    // given this executor run on the global one instead.
    if isLate { globalConcurrentExecutor.enqueue(ExecutorJob(job)) } else { wakeup.wake() }
  }

  private func close() { state.withLock { $0.isClosed = true } }
}

/// A value that an action has returned: it may be as large as the output of a program.
enum ReturnedValue {
  /// The status of the attempt.
  static func judged(
    _ value: JSONValue, limitBytes: Int = WorkflowLimits.valueBytes
  ) -> AttemptEnd.Status {
    var capacity = limitBytes
    return take(value, from: &capacity) ? .returned(value) : .failed(.returnedTooMuch)
  }

  /// Subtracts the bytes of a value as compact JSON, every character unescaped; stops when there is no room.
  private static func take(_ value: JSONValue, from capacity: inout Int) -> Bool {
    switch value {
    case .null, .bool(true): capacity -= 4
    case .bool(false): capacity -= 5
    case .number(let number): capacity -= number.text.utf8.count
    case .string(let text): capacity -= text.utf8.count + 2
    case .array(let elements):
      capacity -= 2 + max(0, elements.count - 1)
      for element in elements {
        guard capacity >= 0, take(element, from: &capacity) else { return false }
      }
    case .object(let members):
      capacity -= 2 + max(0, members.count - 1)
      for member in members {
        capacity -= member.key.utf8.count + 3
        guard capacity >= 0, take(member.value, from: &capacity) else { return false }
      }
    }
    return capacity >= 0
  }
}

extension StepFailure {
  static let returnedTooMuch = StepFailure(
    classes: [.output],
    message:
      "returned a value of more than \(ByteCount(WorkflowLimits.valueBytes)), which is the limit",
    help: "let the action write it to a file, and return the name of the file")
}

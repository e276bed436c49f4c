import Synchronization
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftFutures
import WeftPlanning
import WeftPlatform

/// One run of the real engine in virtual time, whose steps take given times and do nothing.
struct RunRehearsal {
  var plan: Plan
  var configuration: EngineConfiguration
  let way: EarlierWay
  let durations: StepDurations
  /// The numbers by which durations are divided, by step of the plan.
  var speeds: [Double]
  var choice = StepDurations.Choice.typical

  /// The result of a rehearsal.
  struct Result: Sendable {
    let maxParallel: Int
    let duration: Duration
    let end: RunEnd
    /// The attempts, in the order of their starts.
    let attempts: [Attempted]
  }

  /// An attempt in a rehearsal.
  struct Attempted: Sendable {
    /// The step, as an index into ``Plan/steps``.
    let step: Int
    let address: StepAddress
    let start: Duration
    var end: Duration
    /// The attempt whose end led to this start; `nil` if it was the start of the run.
    let cause: Int?
    /// The number of attempts that were running when that attempt ended, itself included.
    let runningAtCause: Int
    /// Whether it was stopped before its time was over.
    var isStopped = false
  }

  /// - Parameter maxParallel: `nil` for the default of a run.
  /// - Returns: `nil` if the run stands still, which only an error of the engine can cause.
  func run(maxParallel: Int?) -> Result? {
    let time = CausalTime()
    let executor = RehearsalExecutor(self, time)
    var configuration = configuration
    configuration.maxParallel = maxParallel
    configuration.rehearsal = way
    configuration.historyLimit = 0
    let start = WallTime.now
    let wallClock: @Sendable () -> WallTime = { start.advanced(by: time.now) }
    let world = SimulatedWorld(
      time: time, wallClock: wallClock, environment: configuration.environment ?? .inherited(),
      secrets: RunSecrets(), seed: 1
    ) { _, _ in executor }
    world.configure(&configuration)
    guard let live = try? world.start(plan, configuration, { _ in }) else { return nil }
    while !live.completion.isSettled, time.callNext() {}
    guard let end = live.completion.outcome?.get().end else {
      live.abandon()
      return nil
    }
    return Result(
      maxParallel: live.maxParallel, duration: end.duration, end: end,
      attempts: executor.attempts)
  }
}

/// Virtual time that knows which attempt's end has led to what happens now.
private final class CausalTime: TimeSource {
  private let time = ManualTime()
  private let current = Mutex<Int?>(nil)

  /// The attempt whose end, directly or after a delay, has led to what happens now.
  var cause: Int? {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }

  var now: Duration { time.now }

  func schedule(
    after delay: Duration, _ action: @escaping @Sendable () -> Void
  ) -> TimerToken {
    let cause = cause
    return time.schedule(after: delay) { [self] in
      self.cause = cause
      action()
    }
  }

  /// - Returns: Whether there was anything to call.
  func callNext() -> Bool {
    guard time.nextDue != nil else { return false }
    time.callNext()
    return true
  }
}

/// Ends each attempt when its time is over.
private final class RehearsalExecutor: StepExecutor {
  private struct State {
    var attempts: [RunRehearsal.Attempted] = []
    var running: [Int: Promise<AttemptEnd, Never>] = [:]
    /// The number of attempts that were running at the end of each.
    var runningAtEnd: [Int] = []
  }

  private let rehearsal: RunRehearsal
  private let time: CausalTime
  private let state = Mutex(State())

  init(_ rehearsal: RunRehearsal, _ time: CausalTime) {
    (self.rehearsal, self.time) = (rehearsal, time)
  }

  var attempts: [RunRehearsal.Attempted] { state.withLock { $0.attempts } }

  func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    let (length, status) = course(of: attempt)
    let promise = Promise<AttemptEnd, Never>(ifDropped: .success(AttemptEnd(.stopped(nil))))
    let (now, cause) = (time.now, time.cause)
    let number = state.withLock { state in
      let number = state.attempts.count
      state.running[number] = promise
      state.runningAtEnd.append(0)
      state.attempts.append(
        RunRehearsal.Attempted(
          step: attempt.index, address: attempt.address, start: now, end: now, cause: cause,
          runningAtCause: cause.map { state.runningAtEnd[$0] } ?? 0))
      return number
    }
    _ = time.schedule(after: length) { [weak self] in self?.end(number, status) }
    attempt.stop.whenRequested { [weak self] in
      guard let self else { return }
      _ = time.schedule(after: .zero) { [weak self] in self?.end(number, .stopped(nil)) }
    }
    return promise.future
  }

  private func end(_ number: Int, _ status: AttemptEnd.Status) {
    let (now, cause) = (time.now, time.cause)
    let ended = state.withLock { state -> (promise: Promise<AttemptEnd, Never>, isDecided: Bool)? in
      guard let promise = state.running[number] else { return nil }
      state.runningAtEnd[number] = state.running.count
      state.running[number] = nil
      state.attempts[number].end = now
      guard case .stopped = status else { return (promise, false) }
      state.attempts[number].isStopped = true
      return (
        promise, cause.map { state.running[$0] == nil && state.attempts[$0].end == now } ?? false
      )
    }
    guard let ended else { return }
    // The winner of a race or join ends its losers too.
    if !ended.isDecided { time.cause = number }
    ended.promise.succeed(AttemptEnd(status))
  }

  /// The length of an attempt, and its end.
  private func course(of attempt: Attempt) -> (Duration, AttemptEnd.Status) {
    let way = rehearsal.way
    var known = way.end(of: attempt.step, at: attempt.address)
    if let failure = known.end.failure, !attempt.tolerates(failure),
      known.end.conclusion == .success || !rehearsal.plan.mayTolerate(attempt.index)
    {
      known.end = StepEnd(
        outcome: .success, conclusion: .success, attempts: 1, exit: known.end.exit, duration: .zero)
    }
    if attempt.resolved.command?.usesTerminal == true {
      way.noteUnforeseeable(attempt.index)
      return (.zero, .rehearsed(known))
    }
    let (execution, basis) = rehearsal.durations.execution(
      of: attempt.index, at: attempt.address, rehearsal.choice)
    if basis == .assumed { way.noteUnmeasured(attempt.index) }
    let earlier = execution.failures.dropFirst(attempt.number - 1).first
    if let earlier, attempt.step.retry.contains(where: { $0.max > 0 }) {
      return (length(earlier.microseconds, of: attempt), .failed(earlier.failure))
    }
    // A lower bound says nothing of how long a faster step would take.
    if execution.ending == .cutShort {
      return (.microseconds(execution.microseconds), .rehearsed(known))
    }
    return (length(execution.microseconds, of: attempt), .rehearsed(known))
  }

  private func length(_ microseconds: Int, of attempt: Attempt) -> Duration {
    .microseconds(Int64(Double(microseconds) / rehearsal.speeds[attempt.index]))
  }
}

extension Plan {
  /// Whether something around a step may tolerate its failure.
  fileprivate func mayTolerate(_ step: Int) -> Bool {
    if steps[step].isLoop { return true }
    return allEnclosingGroups(ofGroup: steps[step].group).contains { groups[$0].isBoundary }
  }
}

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
    /// Whether it is the end of an attempt that was stopped: the time from the request until it had ended.
    var isStopping = false
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
    let capacity = configuration.resources.capacity
    world.configure(&configuration)
    // The run is predicted for this machine.
    configuration.resources.capacity = capacity
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

/// Ends each attempt when its time is over; a service is ready then, and ends when it is stopped.
private final class RehearsalExecutor: StepExecutor {
  private struct State {
    var attempts: [RunRehearsal.Attempted] = []
    var running: [Int: Promise<AttemptEnd, Never>] = [:]
    /// The services that are ready.
    var ready: [Int: Promise<AttemptEnd, Never>] = [:]
    /// The latest attempt of each service, by the number of its instance.
    var services: [Int: Int] = [:]
    /// The number of attempts that were running at the end of each.
    var runningAtEnd: [Int] = []

    /// Adds an attempt that begins.
    mutating func add(
      _ attempt: Attempt, at now: Duration, _ cause: Int?, isStopping: Bool = false
    ) -> Int {
      runningAtEnd.append(0)
      attempts.append(
        RunRehearsal.Attempted(
          step: attempt.index, address: attempt.address, start: now, end: now, cause: cause,
          runningAtCause: cause.map { runningAtEnd[$0] } ?? 0, isStopping: isStopping))
      return attempts.count - 1
    }
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
    let isService = isService(attempt, ending: status)
    let promise = Promise<AttemptEnd, Never>(ifDropped: .success(AttemptEnd(.stopped(nil))))
    let (now, cause) = (time.now, time.cause)
    let number = state.withLock { state in
      let number = state.add(attempt, at: now, cause)
      state.running[number] = promise
      if isService { state.services[attempt.instanceNumber] = number }
      return number
    }
    if !isService { _ = time.schedule(after: length) { [weak self] in self?.end(number, status) } }
    attempt.stop.whenRequested { [weak self] in self?.stop(number, attempt) }
    return promise.future
  }

  func probe(
    _ attempt: Attempt, for service: Command.Service, stop: StopSwitch
  ) -> Future<Bool, Never> {
    let (length, status) = course(of: attempt)
    guard isService(attempt, ending: status) else { return Future(value: false) }
    let promise = Promise<Bool, Never>(ifDropped: .success(false))
    _ = time.schedule(after: length) { [weak self] in
      promise.succeed(self?.getReady(attempt.instanceNumber) ?? false)
    }
    return promise.future
  }

  /// Whether an attempt is one of a service that gets ready.
  private func isService(_ attempt: Attempt, ending status: AttemptEnd.Status) -> Bool {
    guard attempt.resolved.command?.service != nil, case .rehearsed(let known) = status else {
      return false
    }
    return known.end.conclusion == .success
  }

  /// - Returns: Whether the service has not ended yet.
  private func getReady(_ instance: Int) -> Bool {
    let now = time.now
    let number = state.withLock { state -> Int? in
      guard let number = state.services[instance], let promise = state.running[number] else {
        return nil
      }
      state.runningAtEnd[number] = state.running.count
      state.running[number] = nil
      state.ready[number] = promise
      state.attempts[number].end = now
      return number
    }
    if let number { time.cause = number }
    return number != nil
  }

  private func stop(_ number: Int, _ attempt: Attempt) {
    let pause = rehearsal.durations.stopTime(of: attempt.index, at: attempt.address)
    let (now, cause) = (time.now, time.cause)
    let last = state.withLock { state in
      if pause == .zero { return number }
      let service = state.ready.removeValue(forKey: number)
      guard let promise = service ?? state.running.removeValue(forKey: number) else {
        return number
      }
      if service == nil {
        state.attempts[number].end = now
        state.attempts[number].isStopped = true
      }
      let last = state.add(attempt, at: now, cause, isStopping: true)
      state.running[last] = promise
      return last
    }
    _ = time.schedule(after: last == number ? .zero : pause) { [weak self] in
      self?.end(last, .stopped(nil))
    }
  }

  private func end(_ number: Int, _ status: AttemptEnd.Status) {
    let (now, cause) = (time.now, time.cause)
    let ended = state.withLock { state -> (promise: Promise<AttemptEnd, Never>, isDecided: Bool)? in
      if let service = state.ready.removeValue(forKey: number) { return (service, true) }
      guard let promise = state.running[number] else { return nil }
      state.runningAtEnd[number] = state.running.count
      state.running[number] = nil
      state.attempts[number].end = now
      guard case .stopped = status, !state.attempts[number].isStopping else {
        return (promise, false)
      }
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

import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A service that has been ready, until its step has ended.
struct RunningService: Sendable {
  let address: StepAddress
  /// The start of its latest attempt that got ready.
  var since: Duration
  /// Ends its current attempt; `nil` while it is being started again.
  var stop: StopSwitch?
  /// Whether nothing needs it any more.
  var isStopping = false
  /// Settles when the step has ended.
  let ended = Promise<Void, Never>(ifDropped: .success(()))
}

/// Decides what the end of a service's attempt means, from what happened to it before.
enum ServicePhase: Sendable, Hashable {
  case starting
  /// It was not ready in time.
  case late
  /// Its sign was found, and is being acted on.
  case gettingReady
  /// It cannot be used, for this reason, although it runs.
  indirect case unusable(StepFailure)
  case ready
  case ended
}

/// One attempt of a service, from its start to its end.
private final class ServiceAttempt: Sendable {
  let attempt: Attempt
  let service: Command.Service
  /// Ends the search for a sign that it is ready.
  let probing = StopSwitch()
  /// The result for whatever needs the service: that it is ready, or how it has ended.
  let result = Promise<NodeResult, Never>(
    ifDropped: .success(NodeResult(conclusion: .cancelled, causingStep: nil)))
  private struct State {
    var phase = ServicePhase.starting
    /// The end of the attempt, if it came while the service was getting ready.
    var deferredEnd: AttemptEnd?
  }

  private let state = Mutex(State())

  init(_ attempt: Attempt, _ service: Command.Service) {
    self.attempt = attempt
    self.service = service
  }

  /// Leaves the starting phase.
  ///
  /// - Returns: Whether it was in it.
  func leaveStart(for next: ServicePhase) -> Bool {
    state.withLock { state in
      guard state.phase == .starting else { return false }
      state.phase = next
      return true
    }
  }

  /// Ends the phase of getting ready.
  ///
  /// - Returns: The end of the attempt, if it came meanwhile: it is for the caller to act on.
  func getReady(as next: ServicePhase) -> AttemptEnd? {
    state.withLock { state in
      state.phase = next
      return state.deferredEnd.take()
    }
  }

  /// Records the end of the attempt.
  ///
  /// - Returns: The phase before it; `nil` if ``getReady(as:)`` will return the end.
  func end(_ end: AttemptEnd) -> ServicePhase? {
    state.withLock { state in
      if state.phase == .gettingReady {
        state.deferredEnd = end
        return nil
      }
      defer { state.phase = .ended }
      return state.phase
    }
  }
}

/// Services: commands that keep running while other steps use them.
///
/// To its dependents, a service has ended when it is ready. Its step ends when its group does: the service is one of the
/// group's pending cleanups, so services and cleanups are undone in the reverse order of their starts.
extension RunEngine {
  /// Runs an attempt of a service, which holds a slot until it is ready.
  func serve(_ attempt: Attempt, _ service: Command.Service) -> MaybeReady<NodeResult, Never> {
    let run = ServiceAttempt(attempt, service)
    // Before the start, because the sign may be its first line of output.
    let sign = executor.probe(attempt, for: service, stop: run.probing)
    let ending = executor.execute(attempt)
    let timer = time.schedule(after: service.timeout) {
      guard run.leaveStart(for: .late) else { return }
      run.probing.request(.now)
      attempt.stop.request(.graceful)
    }
    sign.whenSettled { [self] sign in
      if case .success(true) = sign { becomeReady(run) }
    }
    ending.whenSettled { [self] end in
      timer.cancel()
      run.probing.request(.now)
      ended(run, end.get())
    }
    return .later(run.result.future)
  }

  // MARK: Readiness

  private func becomeReady(_ run: ServiceAttempt) {
    let (attempt, task) = (run.attempt, run.attempt.task)
    // An attempt that is being cancelled ends as such.
    guard state.withLock({ $0.cancelReason(in: task.scope) }) == nil || task.immunity != .none,
      run.leaveStart(for: .gettingReady)
    else { return }
    if attempt.output.isBuffered {
      learnSecrets(of: attempt, AttemptEnd(.answered))
      attempt.output.passOnBuffered()
    }
    var status = AttemptEnd(.answered)
    if let rehearsal {
      status.status = .rehearsed(rehearsal.end(of: task.step, at: task.address))
    }
    let own = producesValues(attempt) ? Boxed.holding(collectOutputs(of: attempt, &status)) : nil
    if case .failed(let failure) = status.status {
      attempt.stop.request(.graceful)
      if let end = run.getReady(as: .unusable(failure)) { ended(run, end) }
      return
    }
    let (isFirst, since, stop) = enter(attempt)
    let end = StepEnd.judging(
      attempt, status, cancelledFor: nil, duration: time.now - since,
      logBytes: logs.size(of: task.instanceNumber),
      outputs: own?.value.outputs.map(ReportedOutput.init) ?? [])
    if let own { record(own.value, end, of: task) }
    if isFirst { durations?.becameReady(task, end) }
    events.publish(
      .stepReady(task.address, end), step: task.place, keeping: kept(own?.value, making: []))
    run.result.succeed(.of(task.address, end, failedBefore: task.failedBefore))
    slots.vacate(task.instanceNumber)
    if let stop { attempt.stop.request(stop) }
    // Its end must not be seen before its readiness, by anybody.
    if let end = run.getReady(as: .ready) { ended(run, end) }
  }

  /// Schedules the end of a service that starts for the first time for that of its group.
  func scheduleEnd(of task: StepTask) {
    guard !plan.bodies.services.isEmpty, task.step.isService else { return }
    state.withLock { state in
      state.cleanups[state.scopes.groupScope(around: task.scope), default: []].append(
        .service(task.instanceNumber, node: task.step.node))
    }
  }

  /// Counts a service as up.
  ///
  /// - Returns: Whether it is the first time, the start of the attempt, and how to stop it if it is needed no more.
  private func enter(
    _ attempt: Attempt
  ) -> (isFirst: Bool, since: Duration, stop: StopLevel?) {
    let (task, number) = (attempt.task, attempt.instanceNumber)
    return state.withLock { state in
      let since = state.running.remove(number)?.since ?? time.now
      let isFirst = state.services[number] == nil
      if isFirst {
        state.services[number] = RunningService(address: task.address, since: since)
      }
      state.services[number]?.stop = attempt.stop
      state.services[number]?.since = since
      if state.servicesStopLevel == .now { return (isFirst, since, .now) }
      return (isFirst, since, state.services[number]?.isStopping == true ? .graceful : nil)
    }
  }

  // MARK: The end

  private func ended(_ run: ServiceAttempt, _ end: AttemptEnd) {
    var end = end
    guard let phase = run.end(end) else { return }
    let isCancelled = state.withLock { $0.cancelReason(in: run.attempt.task.scope) != nil }
    if phase != .ready, !isCancelled, isUnneeded(run.attempt.task) {
      // It was being started again, and its users have ended meanwhile.
      let number = run.attempt.instanceNumber
      state.withLock { state in
        if let since = state.running.remove(number)?.since { state.services[number]?.since = since }
      }
      endedAfterReadiness(run.attempt, end)
      run.result.succeed(.success)
      return
    }
    switch phase {
    case .ready: return endedAfterReadiness(run.attempt, end)
    case .starting:
      if case .ended(let exit) = end.status {
        end.status = .misdelivered(exit, .endedEarly(exit))
      }
    case .late: end.status.fail(.notReady(within: run.service.timeout))
    case .unusable(let failure): end.status.fail(failure)
    case .gettingReady, .ended: preconditionFailure("\(run.attempt.address) ended twice")
    }
    forward(finish(run.attempt, end), to: run.result)
  }

  private func forward(
    _ result: MaybeReady<NodeResult, Never>, to promise: Promise<NodeResult, Never>
  ) {
    Future(result).whenSettled { promise.succeed($0.get()) }
  }

  private func endedAfterReadiness(_ attempt: Attempt, _ end: AttemptEnd) {
    var task = attempt.task
    attempt.output.finish()
    logs.endAttempt(of: attempt.instanceNumber)
    let (isStopping, since) = state.withLock { state in
      state.services[task.instanceNumber]?.stop = nil
      let service = state.services[task.instanceNumber]
      let isKilled = state.servicesStopLevel == .now
      return (isKilled || service?.isStopping == true, service?.since ?? time.now)
    }
    // A failure elsewhere does not end what still needs the service, nor cleanups that will.
    task.immunity = max(task.immunity, .fromFailures)
    let exit = end.status.exit
    var end = end
    if isStopping {
      end.status = .answered
    } else if let exit {
      end.status = .misdelivered(
        exit, .endedEarly(exit, restarts: attempt.resolved.command?.service?.restarts ?? 0))
    }
    var stepEnd = StepEnd.judging(
      attempt, end, cancelledFor: nil, duration: time.now - since,
      logBytes: logs.size(of: task.instanceNumber), outputs: [])
    if isStopping { stepEnd.exit = exit }
    let own = task.instance.result(ofNode: task.step.node)
    if !isStopping, let failure = stepEnd.failure, task.mayBeTriedAgain, obstacle(to: task) == nil {
      switch retry(of: &task, after: failure, own, attempt.resolved, nil) {
      case .retry(let delay, _):
        // It concludes itself, whether or not the next attempt gets ready.
        return Future(tryAgain(task, after: stepEnd, delay)).whenSettled { _ in }
      case .giveUp(let refusal): stepEnd.notRetried = refusal?.message
      }
    }
    stepEnd.outputs = (own?.outputs ?? []).map(ReportedOutput.init)
    _ = conclude(task, stepEnd, leaving: own.map(Boxed.holding))
    slots.release(task.instanceNumber)
  }

  /// Ends a service that nothing needs any more.
  ///
  /// - Returns: Settles when its step has ended.
  func stopService(_ number: Int) -> Future<Void, Never> {
    let (service, next, pause, level) = state.withLock { state in
      state.services[number]?.isStopping = true
      let isThere = state.services[number] != nil
      return (
        state.services[number], isThere ? state.running[number]?.stop : nil,
        isThere ? state.pauses.remove(number) : nil, state.servicesStopLevel
      )
    }
    guard let service else { return Future(value: ()) }
    service.stop?.request(level)
    // One that is being started again is not waited for.
    next?.request(level)
    pause?.end(.cutShort)
    if service.stop == nil, next == nil, pause == nil { slots.refuse(CollectionOfOne(number)) }
    return service.ended.future
  }

  /// Whether a service has been ready, and nothing needs it any more.
  func isUnneeded(_ task: StepTask) -> Bool {
    guard !plan.bodies.services.isEmpty, task.step.isService else { return false }
    return state.withLock { $0.services[task.instanceNumber]?.isStopping == true }
  }

  /// Ends a service that waits to be started again, and that nothing needs any more.
  func concludeUnneeded(_ task: StepTask) -> NodeResult {
    let end = StepEnd(
      outcome: .success, conclusion: .success, attempts: task.lastEnd?.attempts ?? task.attempt,
      exit: task.lastEnd?.exit, duration: task.lastEnd?.duration ?? .zero,
      logBytes: UInt64(logs.size(of: task.instanceNumber)))
    let own = task.instance.result(ofNode: task.step.node)
    return conclude(task, end, leaving: own.map(Boxed.holding))
  }

  /// Records that a service's step has ended.
  func serviceEnded(_ task: StepTask, _ end: StepEnd) {
    let service = state.withLock { state -> RunningService? in
      if end.conclusion == .failure {
        state.failedServices[task.address] = state.scopes.groupScope(around: task.scope)
      }
      return state.services.removeValue(forKey: task.instanceNumber)
    }
    service?.ended.succeed(())
  }
}

/// The effect of a failed service on the steps that need it.
extension RunEngine {
  /// The results of a node's dependencies, with that of a service which has failed since it was ready.
  func withServices(
    _ results: NodeResults, of node: Plan.NodeIndex, in instance: Instance
  ) -> NodeResults {
    // The end of a group has the results of its members.
    if case .groupEnd = plan.nodes[node] { return results }
    let failed = failedServices(neededBy: node, in: instance)
    if failed.isEmpty { return results }
    return .many(
      results.list
        + failed.map { service in
          let result = NodeResult(conclusion: .failure, causingStep: service.address)
          return effective(result, of: service.node, at: node, in: instance)
        })
  }

  /// The services that a node needs, directly or not, and that have failed.
  func failedServices(
    neededBy node: Plan.NodeIndex, in instance: Instance
  ) -> [(node: Plan.NodeIndex, address: StepAddress)] {
    guard let needed = plan.bodies.services.needed[Int32(node)] else { return [] }
    let failed = state.withLock { $0.failedServices }
    if failed.isEmpty { return [] }
    return needed.compactMap { index in
      let step = plan.steps[Int(index)]
      let address = instance.around(step.node).address(of: step.address)
      return failed[address] != nil ? (step.node, address) : nil
    }
  }
}

extension StepFailure {
  /// - Parameter restarts: The number of restarts that its service allows; `nil` if it was not ready.
  fileprivate static func endedEarly(_ exit: ProgramExit, restarts: Int? = nil) -> StepFailure {
    let how =
      switch exit {
      case .code(let code): "exited with code \(code)"
      case .signal(let name): "was ended by signal \(name)"
      }
    return StepFailure(
      classes: [.service],
      message: "\(how) \(restarts == nil ? "before it was ready" : "while it was needed")",
      help: restarts.map {
        $0 == 0
          ? "\"restart\" in \"service\" starts it again"
          : "\"restart\" in \"service\" allows \($0); a larger number starts it again more often"
      } ?? "a service keeps running in the foreground until it is terminated")
  }

  fileprivate static func notReady(within limit: Duration) -> StepFailure {
    StepFailure(
      classes: [.timeout], message: "was not ready within \(DurationText.text(of: limit))",
      help: "look at its output; \"timeout\" in \"service\" gives it more time")
  }
}

extension Command.Service {
  /// The retries of a service: `restart` times, after delays as those of `retry`. An expression for their number may still
  /// evaluate to any.
  var restartPolicies: [RetryPolicy] {
    restarts == 0 && $restarts.expression == nil
      ? [] : [RetryPolicy(max: restarts, jitter: .none, classes: [.service])]
  }
}

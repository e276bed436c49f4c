import Synchronization
import WeftDefinition
package import WeftEvents
package import WeftFutures
package import WeftPlanning
package import WeftPlatform

/// The engine: one run in progress, with the plan's futures, its slots and scopes, and its event stream.
///
/// It connects the types that decide (``Scopes``, ``SlotQueue``, ``RetryLedger`` …) with those that act (a
/// ``StepExecutor``, ``Slots``, timers). Decisions are made under one lock, and take effect after it is released.
///
/// The extensions follow a node of the plan in the order in which it is processed: RunEngine+Steps (admission and
/// starts), the kinds of action that need no executor (`Actions/`), RunEngine+Attempts (ends of attempts and steps),
/// RunEngine+Groups, RunEngine+Loops, RunEngine+Closing (cleanups and `finally`).
package final class RunEngine: Sendable {
  package let plan: Plan
  package let id: RunID
  /// The maximum number of attempts that run at once.
  package let maxParallel: Int
  /// Settles after the last event, when nothing of the run is left.
  package let completion: Future<RunReport, Never>

  let configuration: EngineConfiguration
  let events: EventStream
  let logs: StepLogs
  let warnings: RunWarnings
  let slots: Slots
  let executor: any StepExecutor
  let time: any TimeSource
  /// The results of earlier runs; `nil` to run every step.
  let cache: CommandCache?
  let values: RunValues
  /// `nil` unless the durations of steps are wanted.
  let durations: RunDurations?
  package var secrets: RunSecrets { configuration.secrets }
  /// The inbox for requests. `nil` also once the run is suspended: from then on, requests are for the engine that resumes
  /// it, whatever steps still end here.
  var inbox: (any ControlInbox)? {
    state.withLock { $0.left == nil } ? configuration.journal.inbox : nil
  }
  /// Decides what is reusable in a resumed run; `nil` for a new run.
  let resumePolicy: ResumePolicy?
  let instance: Instance
  /// The payload of the run's first event.
  private let start: RunStart
  let startedAt: Duration
  let state: Mutex<State>
  /// Held while requests are taken from the inbox, and their answers noted.
  let inboxTurn = Mutex(())
  /// Cuts short the termination of processes that outlived their step.
  private let closing = StopSwitch()
  private let finished: Promise<RunReport, Never>
  let logOwners: LogOwners
  /// `nil` unless a display asks for them.
  let openLines: OpenLines?

  /// The state that the lock guards. Steps are keyed by instance number, groups by scope.
  struct State {
    var scopes: Scopes
    var running = InstanceTable<RunningAttempt>()
    /// Steps and groups that wait for a time: between two attempts, or because that is their action.
    var pauses = Pauses()
    /// Steps that wait for an answer.
    var approvals = Approvals()
    /// Watches whether the run is idle; present while an approval waits that cannot be given here.
    var idleDetector: IdleDetector?
    /// Set once the run is suspended.
    var left: SuspendedRun?
    var groups = RunningGroups()
    /// The elements that loops of a resumed run no longer have.
    var formerElements: [StepAddress] = []
    /// The pending cleanups of each group, by its scope, in the order in which their steps started.
    var cleanups: [Int: [PendingCleanup]] = [:]
    /// The services that have been ready, until their steps end.
    var services: [Int: RunningService] = [:]
    /// The services that have failed, each with the scope of its group, until that ends.
    var failedServices: [StepAddress: Int] = [:]
    /// Watches whether steps wait for ever; present while a step may.
    var deadlockDetector: DeadlockDetector?
    var deadlockTimer: TimerToken?
    /// The waiting steps that fail instead, by their instance numbers.
    var deadlocked: [Int: StepFailure] = [:]
    /// The waiting steps whose scopes differ from those that the plan has for them.
    var waitingElsewhere: [Int: StepTask] = [:]
    var retryBudget: RetryBudget
    var random: RunRandom
    var runTimer: TimerToken?
    /// Whether all members of the top level have ended, so that the run's time limit no longer counts.
    var isClosing = false
    /// Timers for the next look at whether the run can be suspended, and at the control requests.
    var restTimer: TimerToken?
    var controlTimer: TimerToken?
    var killsAtOnce = false
    /// The way to end services. A run that is suspended has no step to kill, and ends its services with their grace.
    var servicesStopLevel = StopLevel.graceful
    /// Processes that could not be killed.
    var unkillable: [LeftoverProcess] = []
  }

  /// The processors and memory that steps may request in total; `nil` if no step requests any.
  let capacity: MachineCapacity?

  struct RunningAttempt {
    let address: StepAddress
    let stop: StopSwitch
    /// The beginning of the step's attempt; not before the time that is recorded for it.
    var since: Duration
    let scope: Int
    let immunity: Immunity
  }

  private init(
    _ plan: Plan, id: RunID, configuration: EngineConfiguration, executor: any StepExecutor,
    time: any TimeSource, logs: StepLogs, cache: CommandCache?
  ) {
    self.cache = cache
    self.plan = plan
    self.id = id
    self.executor = executor
    self.time = time
    self.logs = logs
    logOwners = LogOwners(plan: plan, logs: logs)
    openLines = configuration.resources.tracksOpenLines ? OpenLines() : nil
    instance = .run(of: plan)
    durations =
      configuration.measuresDurations || plan.expectedDurations != nil
      ? RunDurations(of: plan, configuration.selection) : nil
    resumePolicy = configuration.journal.recorded.map {
      ResumePolicy(plan: plan, recorded: $0, rerunning: configuration.journal.rerunning)
    }
    self.configuration = configuration
    configuration.secrets.add(secretsIn: configuration.inputs)
    maxParallel = configuration.maxParallel(for: plan)
    capacity = plan.requestsResources ? configuration.resources.capacity ?? .present : nil
    slots = Slots(
      plan: plan, maxParallel: maxParallel, capacity: capacity,
      joined: configuration.resources.jobserver?.pipe,
      offersTokens: configuration.rehearsal == nil, time: time)
    let startedAt = time.now
    self.startedAt = startedAt
    events = EventStream(
      plan: plan, secrets: configuration.secrets, recorder: configuration.journal.recorder,
      historyLimit: configuration.historyLimit
    ) { time.now - startedAt }
    warnings = RunWarnings(events)
    values = RunValues(
      plan: plan, run: id, directory: configuration.journal.runDirectory,
      inputs: configuration.inputs, secrets: configuration.secrets,
      process: plan.values.isEmpty
        ? .empty : (configuration.environment ?? .inherited()).hiding(plan.declaredSecrets),
      startDirectory: configuration.startDirectory)
    state = Mutex(
      State(
        scopes: Scopes(plan: plan, onFailure: configuration.onFailure),
        retryBudget: RetryBudget(
          steps: plan.steps.count, percent: configuration.retryBudgetPercent),
        random: RunRandom(seed: configuration.randomSeed)))
    start = RunStart(
      of: plan, run: id, maxParallel: maxParallel, containment: executor.containment,
      resumption: configuration.journal.recorded.map { $0.resumptions + 1 } ?? 0)
    finished = Promise(ifDropped: .success(RunReport(start: start)))
    completion = finished.future
  }

  /// Compiles the plan and starts it.
  ///
  /// - Parameters:
  ///   - executor: Runs the attempts.
  ///   - time: The clock and timers for time limits and delays.
  ///   - warnings: Warnings to report right after the start.
  ///   - subscribing: Called with the run before its first event.
  package static func start(
    _ plan: Plan, id: RunID = .make(at: WallClock.now),
    configuration: EngineConfiguration = EngineConfiguration(), executor: any StepExecutor,
    time: any TimeSource, logs: StepLogs = StepLogs(), warnings: [RunWarning] = [],
    cache: CommandCache? = nil, subscribing: (RunEngine) -> Void = { _ in }
  ) -> RunEngine {
    let run = RunEngine(
      plan, id: id, configuration: configuration, executor: executor, time: time, logs: logs,
      cache: cache)
    subscribing(run)
    run.begin(telling: warnings)
    return run
  }

  private func begin(telling earlyWarnings: [RunWarning]) {
    configuration.journal.recorder?.onLost { [weak self] in self?.recordLost() }
    events.publish(.runStarted(start))
    for warning in earlyWarnings { warnings.reportOnce(warning) }
    values.failures?.follow { [weak self] in self?.failuresSoFar() ?? [] }
    let gate = Promise<[NodeResult], Never>(ifDropped: .success([]))
    let futures = compile(plan.bodies.root, in: instance, start: gate.future)
    Future.zip(plan.groups[0].members.map { futures[plan.closingNode(of: Int($0))] })
      .flatMap { [self] members in close(after: members) }
      .whenSettled { [self] _ in end() }
    if let timeout = configuration.timeout ?? plan.workflow.timeout {
      let timer = time.schedule(after: timeout) { [self] in
        respond(
          to: state.withLock { state in
            if state.isClosing { return .nothing }
            return state.scopes.runCancelled(.runTimeout(timeout)) ?? .nothing
          })
      }
      state.withLock { $0.runTimer = timer }
    }
    // A cancel that was requested before the start must be seen before any step starts.
    heedRequests()
    gate.succeed([])
  }

  /// Makes the futures of a plan region.
  func compile(
    _ body: PlannedBodies.Body, of group: Int = 0, in instance: Instance,
    start: Future<[NodeResult], Never>
  ) -> [Future<NodeResult, Never>] {
    let compiler = GraphCompiler(plan: plan, instance: instance, start: start)
    let futures = compiler.compile(
      body, of: group, by: BodyLauncher(run: self, group: group, instance: instance))
    if plan.bodies.waitForOutside { instance.keep(futures) }
    return futures
  }

  /// Launches the nodes of one plan region, each once, when all its dependencies have settled.
  final class BodyLauncher: Sendable {
    private let run: RunEngine
    private let group: Int
    private let instance: Instance

    init(run: RunEngine, group: Int, instance: Instance) {
      self.run = run
      self.group = group
      self.instance = instance
    }

    func launch(
      _ index: Plan.NodeIndex, after results: NodeResults
    ) -> MaybeReady<NodeResult, Never> {
      var effectiveResults = run.effectiveResults(results, of: index, inBodyOf: group, instance)
      if !run.plan.bodies.services.isEmpty {
        effectiveResults = run.withServices(effectiveResults, of: index, in: instance)
      }
      let result = run.launch(run.plan.nodes[index], in: instance, after: effectiveResults)
      guard !run.plan.bodies.raceMembers.isEmpty,
        let raceMember = run.plan.bodies.raceMembers[Int32(index)]
      else { return result }
      return .later(
        Future(result).map { [run, instance] result in
          run.memberEnded(Int(raceMember.member), ofGroup: raceMember.group, in: instance, result)
          return result
        })
    }
  }

  /// Executes a node whose dependencies have all settled.
  private func launch(
    _ node: PlanNode, in instance: Instance, after results: NodeResults
  ) -> MaybeReady<NodeResult, Never> {
    switch node {
    case .step(let index): launchStep(Int(index), in: instance, after: results)
    case .groupStart(let index): .later(launchGroup(Int(index), in: instance, after: results))
    case .groupEnd(let index): .later(launchGroupEnd(Int(index), in: instance, after: results))
    }
  }

  /// The response to a failure for the other members of a group.
  func response(inGroup group: Int) -> FailureResponse {
    configuration.onFailure ?? plan.files[plan.groups[group].file].workflow.onFailure
  }

  // MARK: Control

  /// Cancels the run: running steps are terminated, and no other starts. Only the first reason counts.
  package func cancel(_ reason: CancelReason) {
    respond(to: state.withLock { $0.scopes.runCancelled(reason) } ?? .nothing)
  }

  /// Handles a journal that can no longer be written: nothing new starts, and running steps continue to their end.
  private func recordLost() {
    guard state.withLock({ $0.scopes.runCancelled(.recordLost) }) != nil else { return }
    events.publishUnlessFinished(.runCancelling(.recordLost))
    respond(to: .blockScope(0))
  }

  /// Kills the run without a grace period, including its cleanups.
  package func killNow() {
    state.withLock { $0.servicesStopLevel = .now }
    endNow()
  }

  /// Ends everything without a grace period, except for services, unless they are being killed too.
  func endNow() {
    cancel(.requested)
    let running = state.withLock { state in
      state.killsAtOnce = true
      let services = state.servicesStopLevel == .now ? state.services.values.compactMap(\.stop) : []
      return state.running.values.map(\.stop) + services
    }
    for stop in running { stop.request(.now) }
    // Immune steps are cut short too.
    respond(to: .blockScope(0))
    cancelClosing()
    closing.request(.now)
  }

  /// Returns borrowed jobserver tokens and removes temporary files. For a process that exits before the run has
  /// ended.
  package func abandon() {
    slots.close()
    values.folder.close()
  }

  /// Waits until the run has ended and nothing of it is left. Cancelling the waiting task has no effect.
  package func ended() async -> RunReport { await completion.value }

  /// Adds a subscriber that gets every event.
  package func subscribe(
    outputLimitBytes: Int = EventSubscription.defaultOutputLimitBytes
  ) -> EventSubscription {
    events.subscribe(outputLimitBytes: outputLimitBytes)
  }

  /// A range of a step's log, as far as it exists. Empty for a step that has not started, and for an element that
  /// succeeded, since there may be very many.
  package func log(of step: StepAddress, in range: Range<UInt64>) -> [UInt8] {
    logOwners.log(of: step, in: range)
  }

  /// Returns the text of the line that a step has begun and not ended, if the configuration tracks such lines.
  package func openLine(of step: StepAddress) -> [UInt8]? { openLines?.line(of: step) }

  /// The size of a step's log.
  package func logSize(of step: StepAddress) -> UInt64 { logOwners.size(of: step) }

  /// The sequence number of the last event; 0 before the first.
  package var lastEventSequence: UInt64 { events.lastSequence }

  /// The report of the run so far.
  package var report: RunReport { events.report ?? RunReport(start: start) }

  /// The fault that made the journal unusable; `nil` if there is none, or no journal.
  package var recordFault: RecordError? { configuration.journal.recorder?.fault }

  /// A promise that the engine could not keep, as a sentence; `nil` if there is none.
  package var engineFault: String? {
    let unkillable = state.withLock { $0.unkillable }
    guard unkillable.isEmpty else {
      return secrets.mask.masked(LeftoverProcess.sentence(onUnkillable: unkillable))
    }
    if let fault = recordFault { return fault.message }
    return logs.faultMessage
  }

  private func end() {
    slots.close()
    let timers = state.withLock { [$0.restTimer, $0.controlTimer, $0.deadlockTimer] }
    for timer in timers { timer?.cancel() }
    executor.finish(stop: closing).whenSettled { [self] orphans in end(leaving: orphans.get()) }
  }

  private func end(leaving orphans: RunOrphans) {
    let outputs = outputsOfRun()
    values.folder.close()
    // Before the end is reported: the process may exit right after.
    cache?.close()
    let earlier = configuration.journal.recorded?.duration ?? .zero
    let duration = earlier + (time.now - startedAt)
    if state.withLock({ $0.left }) == nil { settleSteps() }
    let counts = events.counts
    let (left, unkillable) = state.withLock { state in
      state.unkillable += orphans.unkillable
      return (state.left, state.unkillable)
    }
    if let left {
      // Before the end is reported: the process may exit right after.
      configuration.journal.inbox?.close(after: nil)
      let pause = RunPause(
        requests: left.requests, duration: duration, counts: countsWhileSuspended(left.counts),
        leftovers: orphans.leftovers, unkillable: unkillable)
      events.publish(.runWaiting(pause))
    } else {
      func end(_ outputs: Result<[ReportedOutput], StepFailure>) -> RunEnd {
        state.withLock { state in
          RunEnd(
            of: state.scopes, counts, duration: duration, outputs: outputs,
            leftovers: orphans.leftovers, unkillable: unkillable)
        }
      }
      var last = end(outputs)
      if last.outcome == .success, let failure = keepState() { last = end(.failure(failure)) }
      inbox?.close(after: last.outcome)
      events.publish(.runFinished(last))
    }
    configuration.journal.recorder?.close()
    finished.succeed(report)
  }
}

import Synchronization
import WeftDefinition
package import WeftFutures
package import WeftPlanning
package import WeftPlatform

/// A run under way: the plan's futures, the slots, the scopes, and the stream that tells of them.
///
/// It holds together what decides (``Scopes``, ``SlotQueue``, ``RetryLedger`` …) and what does (a
/// ``StepExecutor``, ``Slots``, timers): decisions are made under one lock, acted upon after it.
///
/// What happens to a node of the plan is told in the order in which it happens: LiveRun+Steps (may it start, its
/// attempts), LiveRun+Endings (how they end), LiveRun+Groups, LiveRun+Repeating (a group again as a whole),
/// LiveRun+FanOut (many elements), LiveRun+Closing (what cleans up, and what is done finally).
package final class LiveRun: Sendable {
  package let plan: Plan
  package let id: RunID
  /// How many attempts may run at once.
  package let maxParallel: Int
  /// Settles after the last event, when nothing of the run is left.
  package let completion: Future<RunReport, Never>

  let events: EventStream
  let recorder: (any RunRecorder)?
  let logs: StepLogs
  let warnings: RunWarnings
  package let secrets: RunSecrets
  let slots: Slots
  let executor: any StepExecutor
  let time: any TimeSource
  let approver: (any Approver)?
  /// Whether another engine may go on where this one waits for nothing but answers.
  let leavesWhileWaiting: Bool
  let inbox: (any ControlInbox)?
  /// What steps have made before; `nil`: every step is run.
  let cache: CommandCache?
  let values: RunValues
  /// `nil` where nobody wants to know how long steps take.
  let durations: RunDurations?
  /// What of an earlier part of the run stands; `nil` of a run that begins.
  var standing: StandingRule? { boxedStanding?.value }
  private let boxedStanding: Boxed<StandingRule>?
  let frame: Frame
  let wallClock: @Sendable () -> WallTime
  /// What was left out by whoever started the run; empty: nothing.
  let selection: Selection
  /// What the run's first event says.
  private let start: RunStart
  let startedAt: Duration
  /// How long the parts of the run before this one took.
  private let earlierDuration: Duration
  private let timeout: Duration?
  /// What whoever started the run said about failures, for all files; `nil`: each says it for itself.
  private let onFailure: FailureResponse?
  let state: Mutex<State>
  /// Hurries the end of what outlived its step.
  private let closing = StopSwitch()
  private let finished: Promise<RunReport, Never>
  /// Where the plan has its steps; made when a log is first asked for.
  let planIndices = Mutex<[StepAddress: Int]?>(nil)

  /// Everything that the one lock guards. Steps are known by their numbers, groups by their scopes'.
  struct State {
    var scopes: Scopes
    var running = InstanceTable<RunningAttempt>()
    /// Steps that wait for a time: between two attempts, or because that is all they do.
    var pauses: [Int: Pause] = [:]
    /// Steps that wait for an answer.
    var approvals: [Int: PendingApproval] = [:]
    /// All that have asked.
    var asked: Set<StepAddress> = []
    /// What was answered before it was asked.
    var earlyAnswers: [StepAddress: ApprovalAnswer] = [:]
    /// There as long as somebody has to be waited for who is not here.
    var restWatch: RestWatch?
    /// Set once the run is left to another engine.
    var left: Leaving?
    var groups: [Int: RunningGroup] = [:]
    /// The elements that loops of a resumed run have no more.
    var formerElements: [StepAddress] = []
    /// Which steps of elements have begun to write, by the numbers by which their logs are known.
    var writing = InstanceTable<StepAddress>()
    /// The same of elements that have ended, but for those of which nothing is kept.
    var keptLogs: [StepAddress: Int] = [:]
    /// What is to be cleaned up when a group, by its scope, ends; in the order of starting.
    var cleanups: [Int: [Cleanup]] = [:]
    /// The scopes of steps that wait for a slot and are not where the plan has them.
    var scopesOfWaiting: [Int: Int] = [:]
    var retryBudget: RetryBudget
    var random: RunRandom
    var runTimer: TimerToken?
    /// For the next look at whether the run can be left, and at what others ask of it.
    var restTimer: TimerToken?
    var controlTimer: TimerToken?
    var killsAtOnce = false
    /// Processes that could not be killed.
    var unkillable: [LeftoverProcess] = []
  }

  struct RunningAttempt {
    let stop: StopSwitch
    let since: Duration
    let scope: Int
    let shelter: Shelter
  }

  struct RunningGroup {
    let since: Duration
    /// Of a group with a time limit: tells it from a later group in the same scope.
    let clock: GroupClock?
    var timer: TimerToken?
    /// Whether something above it had failed.
    let failedBefore: Bool
    /// How many members have succeeded; of a group that may be over before all have ended.
    var successes = 0
    var success: GroupSuccess?
    /// The member that has won its race.
    var winner: Plan.NodeIndex?
  }

  /// The identity of one group with a time limit.
  final class GroupClock: Sendable {}

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
    approver = configuration.approver
    leavesWhileWaiting = configuration.leavesWhileWaiting
    inbox = configuration.inbox
    frame = .run(of: plan)
    selection = configuration.selection
    durations =
      configuration.measuresDurations || plan.expectedDurations != nil
      ? RunDurations(of: plan, configuration.selection) : nil
    boxedStanding = configuration.past.map {
      .holding(StandingRule(plan: plan, past: $0, anew: configuration.anew))
    }
    wallClock = configuration.wallClock
    secrets = configuration.secrets
    secrets.add(secretsIn: configuration.inputs)
    maxParallel = configuration.maxParallel(for: plan)
    timeout = configuration.timeout ?? plan.workflow.timeout
    slots = Slots(
      plan: plan, maxParallel: maxParallel, joined: configuration.jobserver?.pipe, time: time)
    let startedAt = time.now
    self.startedAt = startedAt
    earlierDuration = configuration.past?.duration ?? .zero
    recorder = configuration.recorder
    events = EventStream(
      plan: plan, secrets: configuration.secrets, recorder: configuration.recorder,
      historyLimit: configuration.historyLimit
    ) { time.now - startedAt }
    warnings = RunWarnings(events)
    values = RunValues(
      plan: plan, run: id, directory: configuration.runDirectory,
      inputs: RunInputs(configuration.inputs), secrets: configuration.secrets,
      process: plan.values.isEmpty ? .empty : .inherited().hiding(plan.declaredSecrets),
      startDirectory: configuration.startDirectory)
    onFailure = configuration.onFailure
    state = Mutex(
      State(
        scopes: Scopes(plan: plan, onFailure: onFailure),
        retryBudget: RetryBudget(
          steps: plan.steps.count, percent: configuration.retryBudgetPercent),
        random: RunRandom(seed: configuration.randomSeed)))
    start = RunStart(
      of: plan, run: id, maxParallel: maxParallel, containment: executor.containment,
      resumption: configuration.past.map { $0.resumptions + 1 } ?? 0)
    finished = Promise(ifDropped: .success(RunReport(start: start)))
    completion = finished.future
  }

  /// Compiles the plan and starts it.
  ///
  /// - Parameters:
  ///   - executor: Runs the attempts.
  ///   - time: What limits are measured by.
  ///   - warnings: What to tell right after the start.
  ///   - subscribing: Called with the run before anything of it has happened.
  package static func start(
    _ plan: Plan, id: RunID = .make(at: WallClock.now),
    configuration: EngineConfiguration = EngineConfiguration(), executor: any StepExecutor,
    time: any TimeSource, logs: StepLogs = StepLogs(), warnings: [RunWarning] = [],
    cache: CommandCache? = nil, subscribing: (LiveRun) -> Void = { _ in }
  ) -> LiveRun {
    let run = LiveRun(
      plan, id: id, configuration: configuration, executor: executor, time: time, logs: logs,
      cache: cache)
    subscribing(run)
    run.begin(telling: warnings)
    return run
  }

  private func begin(telling earlyWarnings: [RunWarning]) {
    recorder?.whenLost { [weak self] in self?.recordLost() }
    events.publish(.runStarted(start))
    for warning in earlyWarnings { warnings.tellOnce(warning) }
    let gate = Promise<[NodeResult], Never>(ifDropped: .success([]))
    let futures = compile(plan.bodies.root, in: frame, start: gate.future)
    Future.zip(plan.groups[0].members.map { futures[plan.closingNode(of: Int($0))] })
      .flatMap { [self] members in close(after: members) }
      .whenSettled { [self] _ in end() }
    if let timeout {
      let timer = time.schedule(after: timeout) { [self] in cancel(.runTimeout(timeout)) }
      state.withLock { $0.runTimer = timer }
    }
    // Who has asked for an end before the beginning wants nothing started.
    heedRequests()
    gate.succeed([])
  }

  /// Makes the futures of a body.
  func compile(
    _ body: PlannedBodies.Body, of group: Int = 0, in frame: Frame,
    start: Future<[NodeResult], Never>
  ) -> [Future<NodeResult, Never>] {
    let compiler = GraphCompiler(plan: plan, frame: frame, start: start)
    let futures = compiler.compile(
      body, of: group, by: BodyLauncher(run: self, group: group, frame: frame))
    if plan.bodies.waitForOutside { frame.keep(futures) }
    return futures
  }

  /// Launches the nodes of one body.
  private final class BodyLauncher: NodeLauncher {
    private let run: LiveRun
    private let group: Int
    private let frame: Frame

    init(run: LiveRun, group: Int, frame: Frame) {
      self.run = run
      self.group = group
      self.frame = frame
    }

    func launch(
      _ index: Plan.NodeIndex, after results: NodeResults
    ) -> Eventual<NodeResult, Never> {
      let spared = run.spared(results, of: index, inBodyOf: group, frame)
      let result = run.launch(run.plan.nodes[index], in: frame, after: spared)
      guard !run.plan.bodies.racers.isEmpty, let racer = run.plan.bodies.racers[Int32(index)]
      else { return result }
      return .later(
        Future(result).map { [run, frame] result in
          run.memberEnded(Int(racer.member), ofGroup: racer.group, in: frame, result)
          return result
        })
    }
  }

  /// Does what a node is there for, now that everything it waits for has settled.
  private func launch(
    _ node: PlanNode, in frame: Frame, after results: NodeResults
  ) -> Eventual<NodeResult, Never> {
    switch node {
    case .step(let index): launchStep(Int(index), in: frame, after: results)
    case .groupStart(let index): .later(launchGroup(Int(index), in: frame, after: results))
    case .groupEnd(let index): .later(launchGroupEnd(Int(index), in: frame, after: results))
    }
  }

  /// What a failure means for the rest of a group.
  func response(inGroup group: Int) -> FailureResponse {
    onFailure ?? plan.files[plan.groups[group].file].workflow.onFailure
  }

  // MARK: From outside

  /// Ends the run: what runs is asked to end, nothing else starts. Only the first reason counts.
  package func cancel(_ reason: CancelReason) {
    respond(to: state.withLock { $0.scopes.runCancelled(reason) } ?? .nothing)
  }

  /// The record of the run cannot be kept: nothing new starts, and what runs goes on to its end.
  private func recordLost() {
    guard state.withLock({ $0.scopes.runCancelled(.recordLost) }) != nil else { return }
    events.publishUnlessFinished(.runCancelling(.recordLost))
    respond(to: .holdBack(0))
  }

  /// Ends the run without a grace: what runs is killed, also what cleans up.
  package func killNow() {
    cancel(.requested)
    let running = state.withLock { state in
      state.killsAtOnce = true
      return state.running.values.map(\.stop)
    }
    for stop in running { stop.request(.now) }
    // What the end of a run does not cut short is cut short now.
    respond(to: .holdBack(0))
    cancelClosing()
    closing.request(.now)
  }

  /// Before the process ends though the run has not: what others wait for is given back.
  package func abandon() {
    slots.close()
    values.folder.close()
  }

  /// Waits until the run has ended and nothing of it is left. Cancelling the waiting task changes nothing.
  package func ended() async -> RunReport { await completion.value }

  /// A subscriber that gets every event.
  package func subscribe(
    outputLimitBytes: Int = EventSubscription.defaultOutputLimitBytes
  ) -> EventSubscription {
    events.subscribe(outputLimitBytes: outputLimitBytes)
  }

  /// What is known of the run at this moment.
  package var report: RunReport { events.report ?? RunReport(start: start) }

  /// Why the record could not be kept; `nil` if it was, or there is none.
  package var recordFault: RecordFault? { recorder?.fault }

  /// A promise that the engine could not keep, in a sentence; `nil` if there is none.
  package var engineFault: String? {
    let unkillable = state.withLock { $0.unkillable }
    guard unkillable.isEmpty else {
      return secrets.mask.masked(LeftoverProcess.sentence(onUnkillable: unkillable))
    }
    if let fault = recorder?.fault { return fault.message }
    return logs.faultMessage
  }

  private func end() {
    slots.close()
    let timers = state.withLock { [$0.runTimer, $0.restTimer, $0.controlTimer] }
    for timer in timers { timer?.cancel() }
    executor.finish(stop: closing).whenSettled { [self] remains in end(leaving: remains.get()) }
  }

  private func end(leaving remains: Remains) {
    let outputs = outputsOfRun()
    values.folder.close()
    // Before anybody hears of the end, who may end the process then.
    cache?.close()
    let duration = earlierDuration + (time.now - startedAt)
    if state.withLock({ $0.left }) == nil { settleSteps() }
    let counts = events.counts
    let last = state.withLock { state in
      state.unkillable += remains.unkillable
      guard let left = state.left else {
        return RunEvent.Kind.runFinished(
          RunEnd(
            of: state.scopes, counts, duration: duration, outputs: outputs, leftovers: remains.leftovers,
            unkillable: state.unkillable))
      }
      return .runWaiting(
        RunPause(
          requests: left.requests, duration: duration, counts: left.counts,
          leftovers: remains.leftovers, unkillable: state.unkillable))
    }
    // Before anybody hears of the end, who may end the process then. What was answered is recorded by now.
    if case .runWaiting(let pause) = last {
      inbox?.close(leaving: Set(pause.requests.map(\.step)))
    } else {
      inbox?.close(leaving: [])
    }
    events.publish(last)
    recorder?.close()
    finished.succeed(report)
  }
}

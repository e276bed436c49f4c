import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// One run that a seed describes, from start to end, on simulated time.
struct Simulation {
  let seed: UInt64
  let made: RandomWorkflow
  let plan: Plan
  let maxParallel: Int
  private(set) var events: [RunEvent] = []
  private(set) var records: [ScriptedRecorder.Entry] = []
  private(set) var attempts: [ScriptedWorld.Record] = []
  private(set) var answers: [ScriptedPerson.Record] = []
  private(set) var report: RunReport
  /// The times and kinds of interruptions from outside.
  private(set) var interruptions: [Interruption] = []
  /// Anything left over when the run ended or got stuck; empty if all is well.
  private(set) var leaks: [String] = []

  struct Interruption: Hashable {
    let moment: Duration
    let kills: Bool
  }

  /// The conditions under which one part of a run executes.
  struct Circumstances {
    /// Mixed into the seed of the world, so that a step that fails in one part may succeed in the next.
    var part: UInt64 = 0
    /// The percentage of attempts that fail; `nil` for what the seed says.
    var failures: Int?
    /// Whether every attempt ends at once.
    var isQuick = false
    /// Whether every approval is granted.
    var approvesAll = false
    /// The interruptions from outside; `nil` for those that the seed says, for a run that begins.
    var interruptions: [Interruption]?
    var isRecorded = false
    /// The recorded past of the run, if it is resumed.
    var recorded: RunState?
    var rerun = RerunSelection()
    /// The earlier version of the workflow, whose numbers its steps keep.
    var earlier: Plan?
    /// The steps of the plan that the run skips.
    var excluded: [Int] = []
    /// The inbox of a run without an approver; `nil` if there is an approver.
    var inbox: MemoryInbox?
  }

  /// `nil` if the planner rejects the workflow.
  init?(
    seed: UInt64, _ vocabulary: RandomWorkflow.Vocabulary = .all,
    planting fault: PlantedFault? = nil, isHeard: Bool = true
  ) {
    self.init(
      seed: seed, RandomWorkflow.make(seed: seed, vocabulary), planting: fault, isHeard: isHeard)
  }

  /// - Parameters:
  ///   - prefix: The prefix of the addresses of the steps that the seed describes.
  ///   - isHeard: Whether the run has subscribers; without them, there are no events.
  init?(
    seed: UInt64, _ made: RandomWorkflow, planting fault: PlantedFault? = nil, prefix: String = "",
    in circumstances: Circumstances = Circumstances(), isHeard: Bool = true
  ) {
    guard var plan = Planner.plan(made.workflow).plan,
      var planned = Planner.plan(fault?.workflow(made.workflow) ?? made.workflow).plan
    else { return nil }
    if let earlier = circumstances.earlier {
      (plan, planned) = (plan.numbered(after: earlier), planned.numbered(after: earlier))
    }
    (self.seed, self.made, self.plan) = (seed, made, plan.afterEarlierRuns(seed: seed))
    var random = SeededGenerator(seed: seed ^ 0x5EED)
    maxParallel = Int.random(in: 1...6, using: &random)
    let (recorded, inbox) = (circumstances.recorded, circumstances.inbox)
    let interruptions = Interruption.plan(&random)
    let plans =
      circumstances.interruptions ?? (recorded == nil && inbox == nil ? interruptions : [])
    let failures = [0, 8, 20, 45].randomElement(using: &random)!
    let time = ManualTime()
    let world = ScriptedWorld(
      time: time, seed: seed &+ circumstances.part &* 0x9E37_79B9_7F4A_7C15,
      failures: circumstances.failures ?? failures, isQuick: circumstances.isQuick, prefix: prefix)
    var configuration = EngineConfiguration()
    configuration.maxParallel = maxParallel
    configuration.randomSeed = seed
    configuration.journal.recorded = recorded
    configuration.journal.rerunning = circumstances.rerun
    configuration.selection = Selection(excluding: circumstances.excluded, of: plan)
    configuration.resources.capacity = made.machine?.capacity
    let person = ScriptedPerson(
      time: time, seed: seed &+ circumstances.part, isThere: inbox == nil,
      approvesAll: circumstances.approvesAll)
    configuration.resources.approver = person
    configuration.journal.suspendsWhileWaiting = inbox != nil
    configuration.journal.inbox = inbox
    let recorder = circumstances.isRecorded ? ScriptedRecorder() : nil
    configuration.journal.recorder = recorder
    if !isHeard { configuration.historyLimit = 0 }
    var subscription: EventSubscription?
    let run = RunEngine.start(
      planned.afterEarlierRuns(seed: seed), id: RunID("simulated"), configuration: configuration,
      executor: fault?.executor(world) ?? world, time: time
    ) { run in
      if isHeard { subscription = run.subscribe() }
      recorder?.countEvents { Int(run.events.lastSequence) }
    }
    report = run.report
    drive(run, world, person, time, interrupting: plans, &random)
    events = subscription?.takeAll() ?? []
    if let fault { events = fault.events(events) }
    attempts = world.records
    answers = person.records
    records = recorder?.entries ?? []
    recorder?.close()
    report = run.report
    recordLeaks(of: run, world, time)
    if person.askedCount > 0 { leaks.append("\(person.askedCount) questions are open") }
  }

  /// No run takes longer than this, or more turns.
  private static let (longest, mostTurns) = (Duration.seconds(20_000), 50_000)

  private mutating func drive(
    _ run: RunEngine, _ world: ScriptedWorld, _ person: ScriptedPerson, _ time: ManualTime,
    interrupting plans: [Interruption], _ random: inout SeededGenerator
  ) {
    var plans = plans[...]
    for _ in 0..<Simulation.mostTurns {
      guard !run.completion.isSettled else { return }
      // Withdrawing questions may lead to stopped attempts.
      person.noticeStops()
      world.noticeStops()
      guard !run.completion.isSettled else { return }
      if let left = run.remainingTime, left < .zero { leaks.append("\(left) is to be left") }
      if let plan = plans.first, plan.moment <= time.now {
        plans = plans.dropFirst()
        interruptions.append(Interruption(moment: time.now, kills: plan.kills))
        if plan.kills { run.killNow() } else { run.cancel(.requested) }
        continue
      }
      let moments = [world.nextDue, person.nextDue, time.nextDue].compactMap { $0 }
      guard let next = moments.min(), next <= Simulation.longest else { break }
      if let plan = plans.first, plan.moment < next, next > time.now {
        time.move(to: plan.moment)
        continue
      }
      // If a timer and an attempt are due together, either may be first.
      let isOther = world.nextDue == next || person.nextDue == next
      let isTimer = time.nextDue == next && (!isOther || Bool.random(using: &random))
      if isTimer {
        time.callNext()
      } else if next > time.now {
        time.move(to: next)
      } else if person.nextDue == next, world.nextDue != next || Bool.random(using: &random) {
        person.answerOne(at: next)
      } else {
        world.endOne(at: next, using: &random)
      }
    }
    leaks.append("the run does not end")
  }

  private mutating func recordLeaks(of run: RunEngine, _ world: ScriptedWorld, _ time: ManualTime) {
    world.noticeStops()
    guard run.completion.isSettled else { return run.abandon() }
    if let left = run.remainingTime { leaks.append("\(left) is left after the end") }
    if time.scheduledCount > 0 { leaks.append("\(time.scheduledCount) timers are left") }
    if world.searchCount > 0 { leaks.append("\(world.searchCount) services are still probed") }
    if world.runningCount > 0 { leaks.append("\(world.runningCount) attempts still run") }
    let waiting = run.slots.waiting()
    if !waiting.isEmpty { leaks.append("instances \(waiting) still wait for slots") }
    let resources = run.plan.requestsResources ? made.machine?.pools ?? [] : []
    let pools = plan.pools.map(\.slots) + resources.map(\.slots)
    let free = run.slots.free(ofPools: pools.count)
    if free.run != maxParallel { leaks.append("\(free.run) of \(maxParallel) slots are free") }
    if free.pools != pools {
      leaks.append("of the pools \(free.pools) slots are free")
    }
  }
}

extension Simulation.Interruption {
  /// Returns the interruptions of a run. Most runs have none.
  fileprivate static func plan(_ random: inout SeededGenerator) -> [Self] {
    guard Int.random(in: 0..<100, using: &random) < 25 else { return [] }
    let moment = Int.random(in: 0...40, using: &random)
    var plan = [Self(moment: .seconds(moment), kills: false)]
    if Int.random(in: 0..<100, using: &random) < 35 {
      plan.append(
        Self(moment: .seconds(moment + Int.random(in: 0...15, using: &random)), kills: true))
    }
    return plan
  }
}

extension Plan {
  /// The plan with durations of earlier runs for some of the steps, for every second seed.
  fileprivate func afterEarlierRuns(seed: UInt64) -> Plan {
    guard seed % 2 == 1 else { return self }
    var random = SeededGenerator(seed: seed ^ 0xD07A)
    let known = steps.compactMap { step -> DurationHistory.Entry? in
      let time = Int.random(in: 0...60_000_000, using: &random)
      let times = Int.random(in: 0...4, using: &random)
      guard Int.random(in: 0..<4, using: &random) > 0 else { return nil }
      return MeasuredStep(recent: [time], times: times)
        .map { DurationHistory.Entry(step.address.text, $0) }
    }
    return expecting(DurationHistory(known))
  }
}

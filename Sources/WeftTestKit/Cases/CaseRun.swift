import Weft
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform
import WeftRecord

/// Runs a case with the real engine, in a simulated world: from its start to its end, or to that of the engine that
/// resumes it.
struct CaseRun {
  private let testCase: TestCase
  private let prepared: PreparedCase
  private let world: CaseWorld
  private let store = CaseStore()
  private let engine: Engine
  private let id: RunID
  private let seed: UInt64
  private var random: SeededGenerator?
  private var interruptions: [TestInterruption]
  private let stop: StopSwitch

  /// - Parameters:
  ///   - seed: The completion order; 0 is that of the starts.
  ///   - stop: Ends the run before its end, as signals end `weft run`.
  init(_ prepared: PreparedCase, seed: UInt64, stop: StopSwitch) {
    (self.prepared, self.stop) = (prepared, stop)
    self.seed = seed
    testCase = prepared.testCase
    world = CaseWorld(prepared.book)
    random = seed == 0 ? nil : SeededGenerator(seed: seed)
    interruptions = testCase.interruptions
    var options = Engine.Options()
    options.maxParallel = testCase.maxParallel ?? prepared.plan.workflow.maxParallel ?? 8
    options.onFailure = testCase.onFailure
    options.only = testCase.only.map(\.value)
    options.skip = testCase.skip.map(\.value)
    options.from = testCase.from.map(\.value)
    engine = Engine(options: options, transport: CaseTransport(world))
    // Real processes are found by their run, so that must be no other's.
    id = prepared.hasRealSteps ? .make(at: WallClock.now) : CaseRun.fixedID
  }

  private static let fixedID = RunID("20260101-000000-7e57ed")

  /// Runs the case, and returns everything that happened.
  mutating func record() -> CaseRecord {
    do throws(StartError) {
      try runFirstEngine()
      if let resumption = testCase.resumption, world.record.fault == nil, stop.level == .none {
        try resume(resumption)
      }
    } catch {
      world.change { $0.fault = "the run does not start: \(error.sentence)" }
    }
    var record = world.record
    record.seed = seed
    record.missedInterruptions = interruptions
    record.isStopped = stop.level > .none
    return record
  }

  private mutating func runFirstEngine() throws(StartError) {
    let ready = try engine.prepare(prepared.plan, prepared.inputs, in: store, id: id)
    try run(ready)
  }

  private mutating func resume(_ resumption: TestResumption) throws(StartError) {
    var rules = Engine.ResumeOptions()
    rules.rerunning = resumption.rerun.map(\.value)
    rules.interrupted =
      switch resumption.interrupted {
      case .fail: .fail
      case .rerun: .rerun
      case .skip: .skip
      }
    // Nothing that steps make exists here.
    rules.acceptsChangedFiles = true
    let previous: PreviousRun
    do throws(RunStoreError) { previous = try PreviousRun(id, in: store) } catch {
      throw .journal(error)
    }
    if previous.hasSucceeded, rules.isIdleAfterSuccess {
      world.change { $0.fault = "the run has succeeded: there is nothing to resume" }
      return
    }
    let book = prepared.resumedBook
    world.turnTo(book) { book.isReset($0) }
    try run(engine.prepare(prepared.plan, prepared.inputs, after: previous, nil, rules, in: store))
  }

  private mutating func run(_ ready: PreparedRun) throws(StartError) {
    var subscription: EventSubscription?
    var surroundings = RunSurroundings()
    surroundings.approver = CaseApprover(world)
    surroundings.subscribe = { subscription = $0.subscribe(outputLimitBytes: 0) }
    surroundings.simulation = SimulatedWorld(
      time: world.time, wallClock: prepared.wallClock(of: world.time),
      environment: prepared.environment, secrets: prepared.secrets(), seed: seed
    ) { [world] plan, configuration in CaseExecutor(plan, configuration, in: world) }
    let start = world.time.now
    let run = try engine.launch(ready, surroundings)
    var driver = CaseDriver(run.live, subscription, world, stop, startedAt: start)
    driver.drive(&interruptions, store, &random)
    guard !driver.isStuck else { return run.live.abandon() }
    _ = run.waitUntilClosed()
    guard !driver.isGone else {
      world.change { record in
        record.exitCode = 128 + Signal.kill.rawValue
        record.duration = driver.goneAt - start
      }
      return
    }
    world.change { record in
      let keepsPromises = run.live.engineFault == nil
      if let end = record.end {
        record.exitCode = ExitCode(of: end, isStrict: false, keptPromises: keepsPromises).status
      } else if record.pause != nil {
        record.exitCode = ExitCode(of: record.pause, keptPromises: keepsPromises).status
      }
    }
  }
}

/// Drives one engine of a case: carries out whatever is due next, and moves virtual time to it.
struct CaseDriver {
  private let live: RunEngine
  private let subscription: EventSubscription?
  private let world: CaseWorld
  private let stop: StopSwitch
  /// The level of the stop that the run knows.
  private var stopLevel = StopLevel.none
  private let start: Duration
  /// Whether the engine has been cut off.
  private(set) var isGone = false
  private(set) var goneAt = Duration.zero
  /// Whether its end is only waited for.
  private var isKilled = false
  /// Whether not even killing it ends it.
  private(set) var isStuck = false

  /// A run in virtual time goes no further than this, nor takes more turns.
  private static let (longest, mostTurns) = (Duration.seconds(36_525 * 86_400), 20_000_000)

  init(
    _ live: RunEngine, _ subscription: EventSubscription?, _ world: CaseWorld,
    _ stop: StopSwitch, startedAt start: Duration
  ) {
    (self.live, self.subscription, self.world) = (live, subscription, world)
    (self.stop, self.start) = (stop, start)
  }

  /// Returns when the run has ended.
  mutating func drive(
    _ interruptions: inout [TestInterruption], _ store: CaseStore,
    _ random: inout SeededGenerator?
  ) {
    var turns = 0
    while !live.completion.isSettled, !isStuck {
      for act in takeEvents(&interruptions) { carryOut(act, store) }
      if live.completion.isSettled || isStuck { break }
      passOnStop()
      if world.isUnscripted { kill() }
      turns += 1
      if turns > CaseDriver.mostTurns {
        turns = 0
        giveUp("the run goes on and on")
      }
      let now = world.time.now
      if let act = takeTimed(&interruptions, at: now) {
        carryOut(act, store)
        continue
      }
      turn(interruptions, &random)
    }
    // A run that has ended is not interrupted any more.
    var none: [TestInterruption] = []
    _ = takeEvents(&none)
  }

  /// Ends the run if the case is to be stopped.
  private mutating func passOnStop() {
    let level = stop.level
    guard level > stopLevel else { return }
    stopLevel = level
    if level == .graceful { live.cancel(.requested) } else { kill() }
  }

  /// Carries out what is due next, or moves time.
  private mutating func turn(
    _ interruptions: [TestInterruption], _ random: inout SeededGenerator?
  ) {
    let now = world.time.now
    let (act, timer) = (world.agenda.nextDue, world.time.nextDue)
    let mayAct = act.map { $0 <= now } ?? false
    let mayFire = timer.map { $0 <= now } ?? false
    switch (mayAct, mayFire) {
    case (true, true) where random != nil && Bool.random(using: &random!): world.time.callNext()
    case (true, _): world.agenda.actOnce(at: now, using: &random)
    case (false, true): world.time.callNext()
    case (false, false):
      if world.waitForReal() { return }
      let times = interruptions.compactMap(\.time)
      guard let next = ([act, timer] + times).compactMap(\.self).min() else {
        return giveUp("the run never ends: \(unending)")
      }
      guard next <= CaseDriver.longest else {
        return giveUp("the run takes more than a hundred years")
      }
      world.time.move(to: next)
    }
  }

  /// The steps that never end.
  private var unending: String {
    let running = world.record.steps.filter { $0.value.spans.last.map { $0.end == nil } ?? false }
    let names = running.keys.map(\.text).sorted().map { "\"\($0)\"" }
    return names.isEmpty
      ? "nothing is left to happen"
      : "\(names.prefix(8).joined(separator: ", ")) never ends, and nothing stops it"
  }

  private mutating func giveUp(_ fault: String) {
    world.change { $0.fault = $0.fault ?? fault }
    isStuck = isKilled
    kill()
  }

  private mutating func kill() {
    guard !isKilled else { return }
    isKilled = true
    live.killNow()
  }

  // MARK: Interruptions

  private func takeTimed(
    _ interruptions: inout [TestInterruption], at now: Duration
  ) -> TestInterruption.Act? {
    let due = interruptions.indices.filter { interruptions[$0].time.map { $0 <= now } ?? false }
      .min { interruptions[$0].time! < interruptions[$1].time! }
    return due.map { interruptions.remove(at: $0).act.value }
  }

  /// Records the events since the last call, and returns the interruptions that wait for one of them.
  private func takeEvents(
    _ interruptions: inout [TestInterruption]
  ) -> [TestInterruption.Act] {
    guard let events = subscription?.takeAll(), !isGone, !events.isEmpty else { return [] }
    var acts: [TestInterruption.Act] = []
    world.change { record in
      for event in events {
        record.take(event, startedAt: start)
        while let index = interruptions.firstIndex(where: { $0.waits(for: event.kind) }) {
          acts.append(interruptions.remove(at: index).act.value)
        }
      }
    }
    return acts
  }

  private mutating func carryOut(_ act: TestInterruption.Act, _ store: CaseStore) {
    switch act {
    case .cancel: live.cancel(.requested)
    case .kill: live.killNow()
    case .fullDisk: store.fill()
    case .crash:
      store.cutOff()
      isGone = true
      goneAt = world.time.now
      kill()
    }
  }
}

extension TestInterruption {
  fileprivate var time: Duration? { if case .time(let time) = moment { time } else { nil } }

  /// Whether an event is its moment.
  fileprivate func waits(for kind: RunEvent.Kind) -> Bool {
    switch (moment, kind) {
    case (.start(let step), .stepStarted(let address, _)),
      (.start(let step), .groupStarted(let address, _)),
      (.end(let step), .stepFinished(let address, _)),
      (.end(let step), .groupFinished(let address, _)):
      StepPattern(step.value).matches(address)
    default: false
    }
  }
}

extension StartError {
  /// The reason as a sentence.
  fileprivate var sentence: String {
    if case .workflow(let error) = self, let first = error.diagnostics.first {
      return first.message
    }
    if case .journal(let error) = self { return error.message }
    return "\(self)"
  }
}

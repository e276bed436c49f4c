import Weft
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform
import WeftRecord

/// Runs a case with the real engine, in a simulated world: from its start to its end, or to that of the last engine
/// that resumes it.
struct CaseRun {
  private let testCase: TestCase
  private let prepared: PreparedCase
  private let world: CaseWorld
  private let store = CaseStore()
  private let engine: Engine
  private let id: RunID
  private let seed: UInt64
  private let point: Int
  private var random: SeededGenerator?
  private let stop: StopSwitch

  /// - Parameters:
  ///   - seed: The completion order; 0 is that of the starts.
  ///   - point: The record at which to interrupt the run, for an interruption at each of them.
  ///   - stop: Ends the run before its end, as signals end `weft run`.
  init(_ prepared: PreparedCase, seed: UInt64, point: Int, stop: StopSwitch) {
    (self.prepared, self.stop, self.seed, self.point) = (prepared, stop, seed, point)
    testCase = prepared.testCase
    world = CaseWorld(prepared.book, prepared.addresses)
    random = seed == 0 ? nil : SeededGenerator(seed: seed)
    var options = Engine.Options()
    options.maxParallel = testCase.maxParallel ?? prepared.plan.workflow.maxParallel ?? 8
    options.onFailure = testCase.onFailure
    options.timeout = testCase.timeout
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
      for (index, resumption) in testCase.resumptions.enumerated() {
        guard world.record.fault == nil, stop.level == .none else { break }
        guard try resume(resumption, index) else { break }
      }
    } catch {
      world.change { $0.fault = .init(message: "the run does not start: \(error.sentence)") }
    }
    var record = world.record
    record.seed = seed
    record.isStopped = stop.level > .none
    return record
  }

  private mutating func runFirstEngine() throws(StartError) {
    let interruptions = expectEngine(testCase.interruptions)
    let ready = try engine.prepare(prepared.plan, prepared.inputs, in: store, id: id)
    try run(ready, interruptions)
  }

  /// - Returns: Whether another engine may follow.
  private mutating func resume(
    _ resumption: TestResumption, _ index: Int
  ) throws(StartError) -> Bool {
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
    if previous.hasSucceeded, rules.isIdleAfterSuccess(nil) {
      world.change { record in
        // After the last record, there is nothing left to interrupt.
        record.isPastEnd = testCase.isSweep
        guard !testCase.isSweep else { return }
        record.fault = .init(
          message: "the run has succeeded: there is nothing to resume", range: resumption.range)
      }
      return false
    }
    let book = prepared.resumedBooks[index]
    world.turnTo(book) { book.isReset($0) }
    world.time.move(to: world.time.now + resumption.pause)
    let interruptions = expectEngine(resumption.interruptions)
    let ready = try engine.prepare(
      prepared.plan, prepared.inputs, after: previous, nil, rules, in: store)
    try run(ready, interruptions)
    return true
  }

  private func expectEngine(_ interruptions: [TestInterruption]) -> [PendingInterruption] {
    let pending = interruptions.map { PendingInterruption($0, each: point) }
    store.expectEngine(
      endingAt: pending.compactMap { interruption in
        guard let end = interruption.end else { return nil }
        return interruption.record.map { (count: $0, end: end) }
      })
    return pending
  }

  private mutating func run(
    _ ready: PreparedRun, _ interruptions: [PendingInterruption]
  ) throws(StartError) {
    var subscription: EventSubscription?
    var surroundings = RunSurroundings()
    surroundings.approver = CaseApprover(world)
    surroundings.subscribe = { [store] live in
      subscription = live.subscribe(outputLimitBytes: 0)
      store.countEvents { [weak live] in live?.lastEventSequence ?? 0 }
    }
    var simulation = SimulatedWorld(
      time: world.time, wallClock: prepared.wallClock(of: world.time),
      environment: prepared.environment, secrets: prepared.secrets(), seed: seed
    ) { [world] plan, configuration in CaseExecutor(plan, configuration, in: world) }
    simulation.keepState = { [world] state in
      world.change { record in
        record.state = state.members.map { ReportedOutput(name: $0.key, value: $0.value) }
      }
    }
    surroundings.simulation = simulation
    let start = world.time.now
    let run = try engine.launch(ready, surroundings)
    var driver = CaseDriver(
      run.live, subscription, world, store, stop, startedAt: start, interruptions)
    driver.drive(&random)
    guard !driver.isStuck else { return run.live.abandon() }
    _ = run.waitUntilClosed()
    let keepsPromises = run.live.engineFault == nil
    world.change { record in
      record.endEngine(startedAt: start, goneAt: driver.goneAt, now: world.time.now)
      record.missed += driver.pending.map {
        CaseRecord.Missed(
          interruption: $0.interruption, endedAfter: record.duration, records: store.recordCount)
      }
      if driver.goneAt != nil {
        record.exitCode = 128 + Signal.kill.rawValue
      } else if let end = record.end {
        record.exitCode = ExitCode(of: end, keptPromises: keepsPromises).status
      } else if record.pause != nil {
        record.exitCode = ExitCode(of: record.pause, keptPromises: keepsPromises).status
      }
    }
  }
}

extension TestCase {
  /// Whether it is run once for each record of an engine.
  var isSweep: Bool {
    (interruptions + resumptions.flatMap(\.interruptions)).contains(where: \.isSweep)
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

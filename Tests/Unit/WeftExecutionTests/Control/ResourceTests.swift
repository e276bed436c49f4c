import Testing
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Runs whose commands request resources, on a machine that a test describes.
@Suite struct ResourceTests {
  private static let gibibyte = 1 << 30

  private static func step(
    _ id: String, cpus: Int? = nil, gibibytes: Int? = nil
  ) -> Step {
    var step = Step(StepID(id)!, run: "true")
    step.action.command?.resources = Command.Resources(
      cpus: cpus, memory: gibibytes.map { ByteCount($0 * gibibyte) })
    return step
  }

  private static func run(
    _ workflow: Workflow, cpus: Int = 4, gibibytes: Int = 8
  ) throws -> RunHarness {
    try RunHarness(workflow, onFailure: .continue) {
      $0.resources.capacity = MachineCapacity(processors: cpus, memory: gibibytes * gibibyte)
    }
  }

  private static func ends(_ run: RunHarness) -> [String: StepEnd] {
    var ends: [String: StepEnd] = [:]
    for step in run.run.report.steps {
      if case .finished(let end) = step.state { ends[step.address.text] = end }
    }
    return ends
  }

  @Test func whatRunsAtTheSameTimeFits() throws {
    let run = try Self.run(
      Workflow(parallel: [
        Self.step("a", cpus: 3), Self.step("b", cpus: 2), Self.step("c", gibibytes: 6),
        Self.step("d", cpus: 1, gibibytes: 3), Step("e", run: "true"),
      ]))
    #expect(run.running == ["a", "c", "e"])
    let holder = [StepAddress("a")]
    #expect(
      run.run.waitingSteps(atMost: 1).first
        == [WaitingStep(StepAddress("b"), .pool("resources.cpus", holders: holder))])
    run.executor.exit("c")
    #expect(run.running == ["a", "e"], "b, which asked first, needs processors too")
    run.executor.exit("a")
    #expect(run.running == ["b", "d", "e"])
  }

  @Test func theEventSaysWhatIsRequested() throws {
    let run = try Self.run(Workflow(parallel: [Self.step("a", cpus: 3, gibibytes: 2)]))
    let requests = (run.subscription.takeAll() ?? []).compactMap { event -> [PoolRequest]? in
      if case .stepQueued(_, let requests, _) = event.kind { requests } else { nil }
    }
    #expect(
      requests == [
        [
          PoolRequest("resources.cpus", slots: 3),
          PoolRequest("resources.memory", slots: 2 * Self.gibibyte),
        ]
      ])
  }

  @Test func aRequestThatNeverFitsFailsTheStep() throws {
    let run = try Self.run(
      Workflow(parallel: [
        Self.step("processors", cpus: 5), Self.step("memory", gibibytes: 9),
        Self.step("all", cpus: 4, gibibytes: 8),
      ]))
    #expect(run.running == ["all"])
    run.executor.exit("all")
    let failures = Self.ends(run).mapValues { $0.failure }
    #expect(failures["processors"]??.classes == [.limit])
    #expect(
      failures["processors"]??.message
        == "did not start: it needs 5 processors, and there are only 4 processors")
    #expect(
      failures["memory"]??.message
        == "did not start: it needs 9GiB of memory, and there is only 8GiB")
    #expect(run.run.completion.isSettled)
  }

  @Test func aRetryMayRequestMore() throws {
    var step = Self.step("a").retry(RetryPolicy(max: 2, delay: .zero, jitter: .none))
    step.action.command?.resources?.$memory.expression = Condition(
      "${{ case(run.attempt == 1, '2GiB', run.attempt == 2, '6GiB', '9GiB') }}")
    let run = try Self.run(
      Workflow(parallel: [step, Self.step("b", gibibytes: 5)]))
    #expect(run.running == ["a", "b"])
    run.executor.exit("a", code: 1)
    run.time.advance(by: .seconds(1))
    #expect(run.running == ["b"], "6 GiB do not fit beside 5")
    run.executor.exit("b")
    #expect(run.running == ["a"])
    run.executor.exit("a", code: 1)
    run.time.advance(by: .seconds(1))
    #expect(run.running == [])
    let end = Self.ends(run)["a"]
    #expect(end?.attempts == 3 && end?.failure?.classes == [.limit])
    #expect(run.run.completion.isSettled)
  }

  @Test func theWorkflowsOwnPoolsCountBeside() throws {
    var (first, second) = (Self.step("a", cpus: 1), Self.step("b", cpus: 1))
    first.control.pools = [PoolRequest("db")]
    second.control.pools = [PoolRequest("db")]
    var workflow = Workflow(parallel: [first, second, Self.step("c", cpus: 3)])
    workflow.pools = [Pool("db", slots: 1)]
    let run = try Self.run(workflow)
    #expect(run.running == ["a", "c"])
    run.executor.exit("a")
    #expect(run.running == ["b", "c"])
  }

  @Test func anExpressionThatGivesNoSizeFailsTheStep() throws {
    var step = Self.step("a")
    step.action.command?.resources?.$memory.expression = Condition("${{ run.args[0] }}")
    let run = try RunHarness(Workflow(parallel: [step])) {
      $0.resources.capacity = .unlimited
      $0.inputs = InputValues([], arguments: ["much"])
    }
    #expect(run.running == [])
    #expect(Self.ends(run)["a"]?.failure?.classes == [.expression])
  }

  @Test func veryManyVeryLargeRequestsWait() throws {
    // Together more bytes than an integer holds.
    let steps = (0..<8_400).map { Self.step("s\($0)", gibibytes: 1 << 20) }
    let run = try RunHarness(Workflow(parallel: steps)) { $0.resources.capacity = .unlimited }
    #expect(run.running.count == 100)
    #expect(run.run.waitingSteps(atMost: 1).count == 8_300)
  }

  @Test("no machine is ever overcommitted", arguments: 0..<200 as Range<UInt64>)
  func randomRuns(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (cpus, gibibytes) = (
      Int.random(in: 1...6, using: &random), Int.random(in: 1...6, using: &random)
    )
    var requests: [String: (cpus: Int, gibibytes: Int)] = [:]
    var steps: [Step] = []
    for index in 0..<Int.random(in: 1...30, using: &random) {
      let request = (
        cpus: Int.random(in: 1...cpus, using: &random),
        gibibytes: Int.random(in: 1...gibibytes, using: &random)
      )
      var step = Self.step("s\(index)", cpus: request.cpus, gibibytes: request.gibibytes)
      if Bool.random(using: &random) {
        step = step.retry(RetryPolicy(max: 1, delay: .zero, jitter: .none))
      }
      requests["s\(index)"] = request
      steps.append(step)
    }
    let run = try Self.run(Workflow(parallel: steps), cpus: cpus, gibibytes: gibibytes)
    var ended = 0
    while !run.run.completion.isSettled {
      let running = run.running
      let used = running.reduce(into: (cpus: 0, gibibytes: 0)) {
        $0.cpus += requests[$1]?.cpus ?? 0
        $0.gibibytes += requests[$1]?.gibibytes ?? 0
      }
      guard !running.isEmpty else {
        try #require(run.time.scheduledCount > 0, "seed \(seed): nothing runs, and nothing will")
        run.time.advance(by: .seconds(1))
        continue
      }
      #expect(used.cpus <= cpus && used.gibibytes <= gibibytes, "seed \(seed): \(running)")
      ended += 1
      run.executor.exit(
        running.randomElement(using: &random)!,
        code: Int.random(in: 0...3, using: &random) == 0 ? 1 : 0)
      try #require(ended < 100)
    }
  }
}

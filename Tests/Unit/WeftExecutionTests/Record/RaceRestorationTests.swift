import Testing
import WeftDefinition
import WeftJSON
import WeftPlanning
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Races in a resumed run of which two members succeeded at the same time.
@Suite struct RaceRestorationTests {
  @Test("the winner stays the recorded one", arguments: [false, true])
  func theWinnerStaysTheRecordedOne(isRecomputed: Bool) throws {
    let files = WorkflowFiles([
      "workflow.json": """
      { "steps": [
        { "id": "r", "race": [{ "id": "p", "run": ["x"] }, { "id": "q", "run": ["y"] }],
          "outputs": { "w": "${{ self.winner }}" } },
        { "id": "end", "run": ["z", "${{ steps.r.winner }}", "${{ steps.r.outputs.w }}"] }] }
      """
    ])
    let workflow = try files.workflow("workflow.json")
    let keeper = RecordKeeper()
    let first = try RunHarness(workflow, recorder: keeper)
    first.executor.exit("q", code: 0)
    first.executor.exit("p", code: 0)
    first.executor.exit("end", code: 1)
    var success: StepEnd?
    for case .event(.stepFinished(StepAddress("q"), let end), _) in keeper.kinds { success = end }
    let end = try #require(success)
    var run = RunState()
    run.apply(
      RunRecord(
        number: 1, at: WallTime(nanoseconds: 0), .opened(RecordOpening(run: RunID("test")))))
    for (index, kind) in keeper.kinds.enumerated() {
      var kind = kind
      // As if its program had ended just before it was terminated.
      if case .event(.stepFinished(StepAddress("p"), _), let values) = kind {
        kind = .event(.stepFinished(StepAddress("p"), end), keeping: values)
      }
      run.apply(RunRecord(number: UInt64(index + 2), at: WallTime(nanoseconds: 0), kind))
    }
    #expect(run.groups[StepAddress("r")]?.end?.winner == StepAddress("q"))
    let second = try RunHarness(workflow) {
      $0.journal.recorded = run
      if isRecomputed {
        $0.journal.rerunning = RerunSelection(addresses: [StepAddress("r")])
      }
    }
    #expect(second.running == ["end"])
    let attempt = try #require(second.executor.attempts.first)
    #expect(attempt.resolved.command?.invocation == .program(["z", "q", "q"]))
  }

  @Test("no other member starts if the engine was killed after the success that decided a group")
  func decidedGroupsStartNothing() throws {
    // Neither needs a slot to start.
    let pause = StepAction.wait(.duration(.seconds(60)))
    let members = [
      Step(id: "p", action: pause), Step("q", run: ["q"]), Step(id: "s", action: pause),
    ]
    let join = StepGroup(.parallel, members, join: .atLeast(1))
    for group in [StepGroup(.race, members), join] {
      let workflow = Workflow(steps: [
        Step(id: "r", action: .group(group)), Step("end", run: ["end"]),
      ])
      let keeper = RecordKeeper()
      let first = try RunHarness(workflow, maxParallel: 2, recorder: keeper)
      first.executor.exit("q")
      var run = RunState()
      run.apply(
        RunRecord(
          number: 1, at: WallTime(nanoseconds: 0), .opened(RecordOpening(run: RunID("test")))))
      for (index, kind) in keeper.kinds.enumerated() {
        run.apply(RunRecord(number: UInt64(index + 2), at: WallTime(nanoseconds: 0), kind))
        if case .event(.stepFinished(StepAddress("q"), _), _) = kind { break }
      }
      let second = try RunHarness(workflow, maxParallel: 2) { $0.journal.recorded = run }
      let started = second.newEvents().filter { $0.hasSuffix(" started") }
      #expect(started == ["run started", "r group started", "end started"])
    }
  }

  /// The ways in which a member of a join contains the step in doubt.
  enum Place: CaseIterable {
    case itself, group, retriedGroup, loop, loopOfGroups

    var member: Step {
      let step = Step("x", run: ["x"])
      switch self {
      case .itself: return step
      case .group: return Step("g", steps: [step])
      case .retriedGroup:
        var group = Step("g", steps: [step])
        group.control.retry = [RetryPolicy(max: 1)]
        return group
      case .loop, .loopOfGroups:
        var loop = self == .loop ? step : Step("g", steps: [step])
        loop.control.fanOut = .forEach(ForEach(in: .values(.array([.string("a")]))))
        return loop
      }
    }
  }

  @Test(
    "a join that was decided starts nothing, and fails by a step in doubt, however often it is resumed",
    arguments: Place.allCases)
  func decidedJoinFailsByDoubt(_ place: Place) throws {
    let pause = StepAction.wait(.duration(.seconds(60)))
    let members = [
      Step(id: "p", action: pause), place.member, Step("q", run: ["q"]),
      Step(id: "s", action: pause),
    ]
    let join = StepGroup(.parallel, members, join: .atLeast(1))
    let workflow = Workflow(steps: [Step(id: "j", action: .group(join)), Step("end", run: ["end"])])
    var keeper = RecordKeeper()
    let first = try RunHarness(workflow, maxParallel: 2, recorder: keeper)
    first.executor.exit("q")
    var (run, number) = (RunState(), UInt64(0))
    func append(_ kinds: [RunRecord.Kind]) {
      for kind in [.opened(RecordOpening(run: RunID("test")))] + kinds {
        number += 1
        run.apply(RunRecord(number: number, at: WallTime(nanoseconds: 0), kind))
      }
    }
    let success = try #require(
      keeper.kinds.firstIndex {
        if case .event(.stepFinished(StepAddress("q"), _), _) = $0 { true } else { false }
      })
    append(Array(keeper.kinds[...success]))
    for _ in 0..<3 {
      keeper = RecordKeeper()
      let next = try RunHarness(workflow, maxParallel: 2, recorder: keeper) {
        $0.journal.recorded = run
      }
      let events = next.newEvents()
      #expect(next.running == [])
      #expect(!events.contains { $0.hasPrefix("p started") || $0.hasPrefix("s started") })
      append(keeper.kinds)
      #expect(run.groups[StepAddress("j")]?.end?.failure?.classes == [.inDoubt])
    }
  }
}

import Testing
import WeftDefinition
import WeftPlanning
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// The state of a step, group or loop is that of its latest record, in any part of the run.
@Suite struct ResumeSequenceTests {
  private static func step(_ id: String) -> Step { Step(StepID(stringLiteral: id), run: [id]) }

  private static let kinds: [(String, Step)] = [
    ("loop", step("build").forEach(["x", "y"])),
    ("group loop", Step("build", steps: [step("inner")]).forEach(["x"])),
    ("retried group", Step("build", steps: [step("inner")]).retry(1)),
    ("group", Step("build", steps: [step("inner")])),
    ("nested group", Step("build", steps: [Step("deep", parallel: [step("inner")])])),
    ("file", Step("build", workflow: Workflow(steps: [step("inner")]))),
    ("race", Step("build", race: [step("inner"), step("other")])),
    ("step", step("build")),
  ]

  @Test(
    "X02: what was skipped once and has run since is not skipped by later resumes",
    arguments: kinds.map(\.0))
  func aSkipIsReplacedByARun(kind: String) throws {
    let build = try #require(ResumeSequenceTests.kinds.first { $0.0 == kind }).1
    let workflow = Workflow(steps: [
      ResumeSequenceTests.step("fetch"), build, ResumeSequenceTests.step("deploy"),
    ])
    var run = SplitRun()
    #expect(try run.run(workflow, failing: ["fetch"]).ran == ["fetch"])
    #expect(try run.run(workflow, failing: ["deploy"]).ran.last == "deploy")
    let last = try run.run(workflow)
    #expect(last.ran == ["deploy"])
    #expect(last.outcome == .success)
  }

  @Test(
    "X03: a group that succeeded, and does not start in a later part, is not restored",
    arguments: kinds.map(\.0))
  func aSuccessIsReplacedByASkip(kind: String) throws {
    let inner = try #require(ResumeSequenceTests.kinds.first { $0.0 == kind }).1
    let workflow = Workflow(steps: [
      Step("g", steps: [ResumeSequenceTests.step("a"), inner])
        .cleanup(Step("tidy", run: ["tidy"])),
      ResumeSequenceTests.step("z"),
    ])
    var run = SplitRun()
    let first = try run.run(workflow, failing: ["z"])
    #expect(first.ran.prefix(1) == ["a"])
    // It was cleaned up, and a dependent needs it: it runs again, and fails.
    #expect(try run.run(workflow, failing: ["a"]).ran == ["a", "tidy"])
    let last = try run.run(workflow)
    #expect(last.ran == first.ran)
    #expect(last.outcome == .success)
  }

  @Test("X02, X03: a step of another file that is run again makes void all that is around it")
  func aRerunInAnotherFile() throws {
    let inner = Workflow(steps: [ResumeSequenceTests.step("b"), ResumeSequenceTests.step("c")])
    let workflow = Workflow(steps: [
      Step("g", steps: [ResumeSequenceTests.step("a"), Step("file", workflow: inner)]),
      ResumeSequenceTests.step("z"),
    ])
    var run = SplitRun()
    try run.run(workflow, failing: ["z"])
    let plan = try #require(Planner.plan(workflow).plan)
    let rerun = RerunSelection(
      steps: Set(plan.steps.indices.filter { plan.steps[$0].address.text.contains("/") }))
    #expect(try run.run(workflow, failing: ["file/b"], rerunning: rerun).outcome == .failure)
    let last = try run.run(workflow)
    #expect(last.ran == ["file/b", "file/c", "z"])
    #expect(last.outcome == .success)
  }

  @Test("X03: --from holds until the steps have run, in whatever part")
  func rerunsAreRemembered() throws {
    let workflow = Workflow(steps: [
      ResumeSequenceTests.step("a"), Step("inner", steps: [ResumeSequenceTests.step("b")]),
      ResumeSequenceTests.step("z"),
    ])
    var run = SplitRun()
    #expect(try run.run(workflow, failing: ["z"]).ran == ["a", "b", "z"])
    let again = try run.run(workflow, failing: ["a"], rerunning: RerunSelection(steps: [0, 1, 2]))
    #expect(again.ran == ["a"])
    #expect(try run.run(workflow, killing: "a").ran == ["a"])
    let last = try run.run(
      workflow, rerunning: RerunSelection(addresses: Set(run.recorded.inDoubt)))
    #expect(last.ran == ["a", "b", "z"])
    #expect(last.outcome == .success)
  }

  private static let tolerant: [(String, Step)] = [
    ("loop", step("m").forEach(["x", "y", "z"], tolerating: .percent(100))),
    (
      "loop of groups",
      Step("g", parallel: [step("f"), step("m")]).forEach(["x"], tolerating: .count(1))
    ),
    ("join", Step("g", parallel: [step("m"), step("n")], join: .atLeast(1))),
    ("tolerant group", Step("g", parallel: [step("m"), step("n")], allowFailure: .all)),
    ("tolerant step", Step("m", run: ["m"], allowFailure: .all)),
  ]

  @Test("X04: nothing tolerates a step in doubt", arguments: tolerant.map(\.0))
  func doubtIsNotTolerated(kind: String) throws {
    let step = try #require(ResumeSequenceTests.tolerant.first { $0.0 == kind }).1
    let workflow = Workflow(steps: [step, ResumeSequenceTests.step("after")], onFailure: .continue)
    let killed = ["loop": "m[0]", "loop of groups": "g[0].m"][kind] ?? "m"
    var run = SplitRun()
    try run.run(workflow, failing: ["g[0].f"], killing: killed)
    let second = try run.run(workflow, failing: ["g[0].f"])
    #expect(second.outcome == .failure)
    #expect(!second.ran.contains("after"))
    #expect(run.recorded.inDoubt == [StepAddress(killed)])
    let last = try run.run(
      workflow, rerunning: RerunSelection(addresses: Set(run.recorded.inDoubt)))
    // A join with enough successes needs no more.
    #expect(last.ran.contains(killed) == (kind != "join"))
    #expect(last.ran.last == "after")
    #expect(last.outcome == .success)
  }

  @Test(
    "X30: a rerun that a later part is told of settles all that is in doubt, also what it does not reach"
  )
  func allDoubtfulStepsAreSettledTogether() throws {
    let workflow = Workflow(
      steps: [
        ResumeSequenceTests.step("gate"), ResumeSequenceTests.step("m"),
        ResumeSequenceTests.step("n"),
      ])
    var run = SplitRun()
    try run.run(workflow, killing: "m")
    try run.run(workflow, failing: ["gate"], rerunning: RerunSelection(steps: [0]))
    #expect(run.recorded.inDoubt == ["m"].map { StepAddress($0) })
    let settled = RerunSelection(addresses: Set(run.recorded.inDoubt))
    // The gate fails again: the settled steps are not reached.
    try run.run(workflow, failing: ["gate"], rerunning: settled)
    #expect(run.recorded.inDoubt == [])
    #expect(try run.run(workflow).ran == ["gate", "m", "n"])
  }

  @Test(
    "X13: a cleanup that failed is run again, whatever is around it",
    arguments: ["group", "element", "top level"])
  func aFailedCleanupIsRunAgain(place: String) throws {
    let step = ResumeSequenceTests.step("a").cleanup(Step("free", run: ["free"]))
    let (around, address) =
      switch place {
      case "group": (Step("g", steps: [step]), "free")
      case "element": (Step("g", steps: [step]).forEach(["x"]), "g[0].free")
      default: (step, "free")
      }
    let workflow = Workflow(steps: [around])
    var run = SplitRun()
    #expect(try run.run(workflow, failing: [address]).outcome == .failure)
    #expect(try run.run(workflow, failing: [address]).ran == [address])
    let last = try run.run(workflow)
    #expect(last.ran == [address])
    #expect(last.outcome == .success)
  }

  @Test("X13: a cleanup runs again when what it cleans up after has run since, in whatever part")
  func aCleanupFollowsEachRun() throws {
    let step = ResumeSequenceTests.step("a").forEach(["x"]).cleanup(Step("free", run: ["free"]))
    let workflow = Workflow(steps: [step, ResumeSequenceTests.step("z")])
    var run = SplitRun()
    #expect(try run.run(workflow, failing: ["a[0]"]).ran == ["a[0]", "a[0].free"])
    // The engine is killed before its second run is cleaned up.
    #expect(try run.run(workflow, killing: "z").ran == ["a[0]", "z"])
    let last = try run.run(
      workflow, rerunning: RerunSelection(addresses: Set(run.recorded.inDoubt)))
    #expect(last.ran == ["z", "a[0].free"])
    #expect(last.outcome == .success)
  }

  @Test(
    "X13: a step whose cleanup has begun runs again for those that need it, however the cleanup ends",
    arguments: [false, true])
  func aCleanupThatBeganUndoesItsStep(isKilled: Bool) throws {
    let base = ResumeSequenceTests.step("base").cleanup(Step("drop", run: ["drop"]))
    let workflow = Workflow(steps: [base, ResumeSequenceTests.step("test")])
    var run = SplitRun()
    let first = try run.run(
      workflow, failing: isKilled ? ["test"] : ["test", "drop"], killing: isKilled ? "drop" : nil)
    #expect(first.ran == ["base", "test", "drop"])
    let last = try run.run(workflow)
    #expect(last.ran == ["base", "test", "drop"])
    #expect(last.outcome == .success)
  }

  @Test("X13: only the cleanup runs again if nothing needs what it undoes")
  func aCleanupThatFailedRunsAgainAlone() throws {
    let base = ResumeSequenceTests.step("base").cleanup(Step("drop", run: ["drop"]))
    let workflow = Workflow(steps: [base, ResumeSequenceTests.step("test")])
    var run = SplitRun()
    #expect(try run.run(workflow, failing: ["drop"]).ran == ["base", "test", "drop"])
    let last = try run.run(workflow)
    #expect(last.ran == ["drop"])
    #expect(last.outcome == .success)
  }

  @Test("X13: what a group cleans up at its end does not run again for dependents of the group")
  func dependentsOfAGroupDoNotNeedWhatItCleansUp() throws {
    let group = Step(
      "g",
      parallel: [
        ResumeSequenceTests.step("a").cleanup(Step("tidy", run: ["tidy"])),
        ResumeSequenceTests.step("b"),
      ])
    let workflow = Workflow(steps: [group, ResumeSequenceTests.step("z")])
    var run = SplitRun()
    #expect(try run.run(workflow, failing: ["b"]).ran == ["a", "b", "tidy"])
    let last = try run.run(workflow)
    #expect(last.ran == ["b", "z"])
    #expect(last.outcome == .success)
  }

  @Test("X13: a step in a group that is done needs nothing", arguments: ["race", "condition"])
  func aDoneGroupNeedsNothing(kind: String) throws {
    let base = ResumeSequenceTests.step("base").cleanup(Step("drop", run: ["drop"]))
    let group =
      kind == "race"
      ? Step("g", race: [ResumeSequenceTests.step("a"), ResumeSequenceTests.step("b")])
      : Step("g", steps: [Step("never", steps: [ResumeSequenceTests.step("a")]).if("false")])
    var run = SplitRun()
    try run.run(Workflow(steps: [base, group]), failing: ["drop"])
    #expect(try run.run(Workflow(steps: [base, group])).ran == ["drop"])
  }

  @Test("X13: only the cleanup runs again in an element of a loop with retries")
  func aCleanupInARetriedElementRunsAgainAlone() throws {
    let base = ResumeSequenceTests.step("base").cleanup(Step("drop", run: ["drop"]))
    let workflow = Workflow(steps: [
      Step("g", steps: [base, ResumeSequenceTests.step("test")]).forEach(["x"]).retry(1)
    ])
    var run = SplitRun()
    try run.run(workflow, killing: "g[0].drop")
    #expect(try run.run(workflow).ran == ["g[0].drop"])
  }

  @Test("X13: what was cleaned up runs again for an element that is to be rerun")
  func anElementNeedsWhatWasCleanedUp() throws {
    let workflow = Workflow(steps: [
      ResumeSequenceTests.step("base").cleanup(Step("drop", run: ["drop"])),
      ResumeSequenceTests.step("test").forEach(["x", "y"]),
    ])
    var run = SplitRun()
    try run.run(workflow, failing: ["drop"])
    let last = try run.run(workflow, rerunning: RerunSelection(addresses: [StepAddress("test[1]")]))
    #expect(last.ran == ["base", "test[1]", "drop"])
    #expect(last.outcome == .success)
  }

  /// A step that is cleaned up, and a loop of which one step in each element needs it.
  private static let loopWithANeed = Workflow(parallel: [
    step("base").cleanup(Step("drop", run: ["drop"])),
    Step(
      "each",
      parallel: [Step("read", run: ["read"], needs: ["base"]), step("other")]
    ).forEach(["x", "y"]),
  ])

  @Test("X13: a loop that is not done needs nothing for steps that are done in each element")
  func doneStepsOfALoopNeedNothing() throws {
    var run = SplitRun()
    let first = try run.run(ResumeSequenceTests.loopWithANeed, failing: ["each[1].other"])
    #expect(first.ran.last == "drop" && first.ran.contains("each[1].read"))
    let last = try run.run(ResumeSequenceTests.loopWithANeed)
    #expect(last.ran == ["each[1].other"])
    #expect(last.outcome == .success)
  }

  @Test("X13: one element in which a step is not done needs what the step needs")
  func oneElementOfALoopNeedsWhatWasCleanedUp() throws {
    var run = SplitRun()
    try run.run(ResumeSequenceTests.loopWithANeed, failing: ["each[1].read"])
    let last = try run.run(ResumeSequenceTests.loopWithANeed)
    #expect(last.ran.first == "base" && last.ran.last == "drop")
    #expect(last.ran.contains("each[1].read") && !last.ran.contains("each[0].read"))
    #expect(last.outcome == .success)
  }

  @Test("X13: an element that a loop did not reach this time is counted once, as it was")
  func elementsThatAreNotReachedAreRestored() throws {
    let workflow = Workflow(steps: [
      ResumeSequenceTests.step("test").forEach(["x", "y", "z"], maxParallel: 1),
      ResumeSequenceTests.step("last"),
    ])
    var run = SplitRun()
    try run.run(workflow, failing: ["last"])
    let second = try run.run(
      workflow, failing: ["test[1]"],
      rerunning: RerunSelection(addresses: [StepAddress("test[1]")]))
    #expect(second.ran == ["test[1]"])
    #expect(second.counts?.succeeded == 2 && second.counts?.restored == 2)
    #expect(second.counts?.failed == 1 && second.counts?.skipped == 1)
    #expect(try run.run(workflow).ran == ["test[1]", "last"])
  }

  @Test("X13: an element that was cleaned up, and that a loop did not reach, is no success")
  func elementsThatAreNotReachedAreStillCleanedUp() throws {
    let workflow = Workflow(steps: [
      Step(
        "g",
        steps: [
          ResumeSequenceTests.step("test").forEach(["x", "y", "z"], maxParallel: 1),
          ResumeSequenceTests.step("last"),
        ]
      ).cleanup(Step("drop", run: ["drop"]))
    ])
    var run = SplitRun()
    try run.run(workflow, failing: ["last"])
    let second = try run.run(
      workflow, failing: ["test[0]"],
      rerunning: RerunSelection(addresses: [StepAddress("test[1]")]))
    #expect(second.ran == ["test[0]", "drop"])
    #expect(second.counts?.succeeded == 1 && second.counts?.restored == 0)
    #expect(
      try run.run(workflow).ran == ["test[0]", "test[1]", "test[2]", "last", "drop"])
  }

  @Test("X13: the cleanup of a group needs the services of members that are done")
  func theCleanupOfAGroupNeedsTheServicesOfItsMembers() throws {
    let workflow = Workflow(parallel: [
      ResumeSequenceTests.service("db"),
      Step(
        "g",
        parallel: [Step("fill", run: ["fill"], needs: ["db"]), ResumeSequenceTests.step("check")]
      ).cleanup(Step("drop", run: ["drop"])),
    ])
    var run = SplitRun()
    #expect(try run.run(workflow, failing: ["check"]).ran.contains("fill"))
    let last = try run.run(workflow)
    #expect(Set(last.ran.prefix(2)) == ["db", "check"])
    #expect(last.ran.dropFirst(2) == ["drop"])
    #expect(last.outcome == .success)
    #expect(try run.run(workflow).ran == [])
  }

  @Test("X13: a service that fails when a pending cleanup needs it is left to that cleanup")
  func aServiceThatFailsForACleanupIsLeftToIt() throws {
    let workflow = Workflow(steps: [
      Step(
        "g",
        steps: [
          ResumeSequenceTests.service("db"),
          ResumeSequenceTests.step("fill").cleanup(Step("empty", run: ["empty"])),
        ])
    ])
    var run = SplitRun()
    try run.run(workflow, failing: ["empty"])
    // Without the service the cleanup fails, and is still pending.
    let second = try run.run(workflow, failing: ["db", "empty"])
    #expect(second.ran == ["db", "empty"])
    #expect(second.outcome == .failure)
    // It succeeds nevertheless: nothing needs the service any more.
    let third = try run.run(workflow, failing: ["db"])
    #expect(third.ran == ["db", "empty"])
    #expect(third.outcome == .success)
    #expect(try run.run(workflow).ran == [])
  }

  private static func service(_ id: StepID) -> Step {
    var command = Command(.program(["serve"]))
    command.service = Command.Service(ready: .tcp("127.0.0.1:1"))
    return Step(id, command)
  }

  @Test(
    "X13: what was cleaned up runs again for a service that a cleanup needs",
    arguments: ["top level", "group", "element", "file"])
  func aServiceNeedsWhatWasCleanedUp(place: String) throws {
    let steps = [
      ResumeSequenceTests.step("net").cleanup(Step("down", run: ["down"])),
      ResumeSequenceTests.service("db").cleanup(Step("gone", run: ["gone"])),
      ResumeSequenceTests.step("fill").cleanup(Step("empty", run: ["empty"])),
      ResumeSequenceTests.step("test"),
    ]
    let (workflow, prefix) =
      switch place {
      case "group": (Workflow(steps: [Step("g", steps: steps)]), "")
      case "element": (Workflow(steps: [Step("g", steps: steps).forEach(["x"])]), "g[0].")
      case "file": (Workflow(steps: [Step("g", workflow: Workflow(steps: steps))]), "g/")
      default: (Workflow(steps: steps), "")
      }
    var run = SplitRun()
    try run.run(workflow, failing: [prefix + "empty"])
    let last = try run.run(workflow)
    #expect(last.ran == ["net", "db", "empty", "gone", "down"].map { prefix + $0 })
    #expect(last.outcome == .success)
  }

  @Test("X13: chained services that nothing needs are decided in one pass")
  func chainedServicesAreDecidedOnce() throws {
    let services = (0..<40).map { ResumeSequenceTests.service(StepID(stringLiteral: "s\($0)")) }
    let workflow = Workflow(
      steps: services + [ResumeSequenceTests.step("test"), Step("z", run: ["z"], needs: [])],
      onFailure: .continue)
    var run = SplitRun()
    #expect(try run.run(workflow, failing: ["z"]).ran.count == 42)
    #expect(try run.run(workflow).ran == ["z"])
  }

  @Test(
    "X03: a step in doubt is listed exactly if the next engine fails it", arguments: kinds.map(\.0))
  func theListOfStepsInDoubtIsTrue(kind: String) throws {
    let build = try #require(ResumeSequenceTests.kinds.first { $0.0 == kind }).1
    var workflow = Workflow(steps: [
      build.cleanup(Step("tidy", run: ["tidy"])), ResumeSequenceTests.step("z"),
    ])
    workflow.finally = [ResumeSequenceTests.step("last")]
    let plan = try #require(Planner.plan(workflow).plan)
    var whole = SplitRun()
    for step in try whole.run(workflow).ran {
      var run = SplitRun()
      try run.run(workflow, killing: step)
      let listed = RerunSelection().interrupted(of: run.recorded, in: plan).map(\.text)
      let isClosing = step == "last" || step.hasSuffix("tidy")
      #expect(listed == (isClosing ? [] : [step]))
      #expect(try run.run(workflow).ran.contains(step) == isClosing)
      // A step that is accepted as done is no longer in doubt.
      var accepting = RerunSelection()
      accepting.accepted = Set(RerunSelection().interrupted(of: run.recorded, in: plan))
      try run.run(workflow, rerunning: accepting)
      #expect(RerunSelection().interrupted(of: run.recorded, in: plan) == [])
    }
  }
}

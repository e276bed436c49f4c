import Testing
import WeftDefinition
import WeftPlanning
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Pending cleanup of work that began before the engine was killed, even if that work is now skipped as a whole.
@Suite struct PendingCleanupTests {
  /// Resumes the run: the first step runs again, and its answer decides whether the second one runs.
  private func goOn(
    with workflow: Workflow, after recorded: RunState, saying answer: String
  ) throws -> [String] {
    let run = try RunHarness(workflow, maxParallel: 1) {
      $0.journal.recorded = recorded
      $0.journal.rerunning.steps = [0]
    }
    run.executor.write(answer, from: "a")
    var order: [String] = []
    while let next = run.running.first {
      order.append(next)
      run.executor.exit(next)
    }
    #expect(run.run.report.end != nil)
    return order
  }

  private func killed(_ workflow: Workflow, ending steps: String...) throws -> RunState {
    let keeper = RecordKeeper()
    let run = try RunHarness(workflow, recorder: keeper)
    run.executor.write("go", from: "a")
    for step in ["a"] + steps { run.executor.exit(step) }
    return keeper.run
  }

  private func workflow(_ second: Step) -> Workflow {
    Workflow(steps: [Step("a", run: ["a"]), second.if("steps.a.stdout == 'go'")])
  }

  @Test func skippedLoopRunsPendingCleanupsOfItsElements() throws {
    let loop = workflow(
      Step("e", run: ["e"]).forEach(["x", "y", "z"], maxParallel: 2).cleanup(Step(run: ["tidy"])))
    let recorded = try killed(loop, ending: "e[0]")
    // Three elements had begun.
    let pendingCleanups = ["e[2].cleanup", "e[1].cleanup", "e[0].cleanup"]
    #expect(try goOn(with: loop, after: recorded, saying: "stop") == ["a"] + pendingCleanups)
    #expect(try goOn(with: loop, after: recorded, saying: "go").suffix(3) == pendingCleanups)
  }

  @Test(arguments: [nil, 1])
  func elementsThatNoLongerStartAreCleanedUp(limit: Int?) throws {
    func loop(_ limit: Int?) -> Workflow {
      var step = Step("e", run: ["e"]).forEach(["x", "y", "z"], maxParallel: limit)
      step.control.isIdempotent = true
      return workflow(step.cleanup(Step(run: ["tidy"])))
    }
    let recorded = try killed(loop(nil))
    // The first element fails; the others are not opened before, if the loop has a limit now.
    let run = try RunHarness(loop(limit), maxParallel: 1) { $0.journal.recorded = recorded }
    var order: [String] = []
    while let next = run.running.first {
      order.append(next)
      run.executor.exit(next, code: next == "e[0]" ? 1 : 0)
    }
    #expect(order == ["e[0]", "e[2].cleanup", "e[1].cleanup", "e[0].cleanup"])
  }

  @Test func pendingCleanupsInsideElementsRun() throws {
    let inner = Step("i", run: ["i"]).forEach(["p"]).cleanup(Step("sweep", run: ["sweep"]))
    let group = workflow(
      Step("g", steps: [Step("b", run: ["b"]).cleanup(Step(run: ["t"])), inner])
        .forEach(["x", "y"]).cleanup(Step(run: ["all"])))
    let recorded = try killed(group, ending: "g[0].b")
    #expect(
      try goOn(with: group, after: recorded, saying: "stop") == [
        "a", "g[1].b.cleanup", "g[1].cleanup", "g[0].i[0].sweep", "g[0].b.cleanup", "g[0].cleanup",
      ])
  }

  @Test func aGroupThatWouldBeTriedAgain() throws {
    let group = workflow(
      Step("g", steps: [Step("b", run: ["b"]).cleanup(Step(run: ["t"])), Step("c", run: ["c"])])
        .retry(1))
    let recorded = try killed(group, ending: "b")
    #expect(try goOn(with: group, after: recorded, saying: "stop") == ["a", "b.cleanup"])
  }

  @Test("N1: a cleanup in a nested workflow that is not started again reads its inputs")
  func inputsOfANestedWorkflowThatIsSkipped() throws {
    let files = WorkflowFiles([
      "main.json": """
      {"steps": [{"id": "a", "run": ["a"]}, {"id": "b", "run": ["b"]},
        {"id": "c", "if": "steps.a.stdout == 'go'", "workflow": "c.json",
         "with": {"name": "${{ steps.b.stdout }}"}}]}
      """,
      "c.json": """
      {"inputs": {"name": {"type": "string", "minLength": 3}},
       "steps": [{"id": "x", "run": ["x"], "cleanup": {"run": ["rm", "${{ inputs.name }}"]}}]}
      """,
    ])
    let workflow = try files.workflow("main.json")
    let keeper = RecordKeeper()
    let first = try RunHarness(workflow, recorder: keeper)
    for (step, text) in [("a", "go"), ("b", "here")] {
      first.executor.write(text, from: step)
      first.executor.exit(step)
    }
    #expect(first.running == ["c/x"])

    let resumed = try RunHarness(workflow) {
      $0.journal.recorded = keeper.run
      $0.journal.rerunning.steps = [0, 1]
    }
    resumed.executor.write("stop", from: "a")
    resumed.executor.exit("a")
    resumed.executor.write("there", from: "b")
    resumed.executor.exit("b")
    #expect(resumed.running == ["c/x.cleanup"])
    let command = resumed.executor.attempts.first?.resolved.command
    #expect(command?.arguments(shell: .sh) == ["rm", "there"])

    // Invalid inputs fail the cleanup: with `null` in their place, it could remove anything.
    let unknown = try RunHarness(workflow) {
      $0.journal.recorded = keeper.run
      $0.journal.rerunning.steps = [0, 1]
    }
    unknown.executor.write("stop", from: "a")
    unknown.executor.exit("a")
    unknown.executor.write("x", from: "b")
    unknown.executor.exit("b")
    #expect(unknown.running.isEmpty)
    #expect(unknown.run.report.end?.outcome == .failure)
  }
}

import TestSupport
import Testing
import Weft

/// The arguments that a run is given: `run.args`.
@Suite(.hangLimit) struct RunArgumentsTests {
  private static let arguments = ["-x", "two words", "", "${{ inputs.none }}", "é"]
  private static let words = ["printf", "%s|", "${{ run.args }}"]

  private func text(_ run: Run, _ step: String) -> String {
    String(decoding: run.output(of: StepAddress(step)), as: UTF8.self)
  }

  @Test func eachReachesAProgramAsItIs() async throws {
    let workflow = Workflow(steps: [
      Step("says", run: Self.words),
      Step("some", run: "printf '%s' ${{ run.args[1] }} ${{ length(run.args) }}"),
    ])
    let run = try Engine().start(workflow, arguments: Self.arguments)
    #expect(await run.report.succeeded)
    #expect(text(run, "says") == "-x|two words||${{ inputs.none }}|é|")
    #expect(text(run, "some") == "two words5")
  }

  @Test func thereAreNoneUnlessTheyAreGiven() async throws {
    let run = try Engine().start(
      Workflow(steps: [Step("says", run: ["printf", "%s", "${{ length(run.args) }}"])]))
    #expect(await run.report.succeeded)
    #expect(text(run, "says") == "0")
  }

  @Test func aWorkflowThatNeverReadsThemRejectsThem() throws {
    let workflow = Workflow(steps: [Step("says", run: "echo ${{ run.id }}")])
    let error = #expect(throws: WorkflowError.self) {
      try Engine().start(workflow, arguments: ["x"])
    }
    #expect(error?.diagnostics.map(\.code) == ["W0429"])
    #expect(throws: WorkflowError.self) { try Engine().preview(workflow, arguments: ["x"]) }
  }

  @Test func aResumedRunHasThem() async throws {
    let workflow = Workflow(steps: [
      Step("says", run: Self.words),
      Step("fails", run: "test ${{ run.attempt }} -gt 1").retry(RetryPolicy(max: 0)),
      Step("again", run: Self.words),
    ])
    let store = MemoryRunStore()
    let first = try Engine().start(workflow, arguments: Self.arguments, in: store)
    #expect(await !first.report.succeeded)
    let second = try Engine().resume(first.id, workflow, rerunning: ["says"], in: store)
    _ = await second.report
    #expect(text(second, "says") == "-x|two words||${{ inputs.none }}|é|")
  }

  @Test func oneThatContainsASecretIsNotRecorded() async throws {
    let workflow = try Workflow(
      json: #"""
        { "inputs": { "token": { "secret": true } },
          "steps": [{ "run": ["sh", "-c", "test \"$1\" != hush-hush", "-", "${{ run.args }}"] },
            { "run": "true", "env": { "T": "${{ inputs.token }}" } }] }
        """#)
    let store = MemoryRunStore()
    let first = try Engine().start(
      workflow, inputs: ["token": "hush-hush"], arguments: ["hush-hush"], in: store)
    #expect(await !first.report.succeeded)
    let record = String(decoding: store.record(of: first.id), as: UTF8.self)
    #expect(!record.contains("hush-hush"))
    let error = #expect(throws: WorkflowError.self) {
      try Engine().resume(first.id, workflow, inputs: ["token": "hush-hush"], in: store)
    }
    #expect(error?.diagnostics.map(\.code) == ["W0430"])
  }
}

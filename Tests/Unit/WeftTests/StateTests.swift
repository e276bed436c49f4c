import TestSupport
import Testing
import Weft

/// Values that are kept between the runs of a workflow.
@Suite(.hangLimit) struct StateTests {
  private static func counter(_ steps: [Step], type: ValueSchema = ValueSchema()) -> Workflow {
    var workflow = Workflow(name: "counter", steps: steps)
    workflow.state = [
      StateDeclaration("count", type, default: 0, value: "${{ add(state.count, 1) }}")
    ]
    return workflow
  }

  private static let reads = Step("reads", run: "printf '%s' ${{ state.COUNT }}")

  private func seen(_ run: Run) -> String {
    String(decoding: run.output(of: StepAddress("reads")), as: UTF8.self)
  }

  @Test func aRunReadsWhatTheLastSuccessfulOneHasKept() async throws {
    let store = MemoryRunStore()
    let fails = Step("fails", run: "exit 3")
    for (steps, count) in [([Self.reads], "0"), ([Self.reads, fails], "1"), ([Self.reads], "1")] {
      let run = try Engine().start(Self.counter(steps), in: store)
      #expect(await run.report.succeeded == (steps.count == 1))
      #expect(seen(run) == count)
    }
  }

  @Test func aFailureOfFinallyKeepsNothing() async throws {
    let store = MemoryRunStore()
    var workflow = Self.counter([Self.reads])
    workflow.finally = [Step("ends", run: "exit 1")]
    let first = try Engine().start(workflow, in: store)
    #expect(await !first.report.succeeded)
    workflow.finally = []
    let second = try Engine().start(workflow, in: store)
    _ = await second.report
    #expect(seen(second) == "0")
  }

  @Test func aResumedRunReadsTheValuesWithWhichItBegan() async throws {
    let store = MemoryRunStore()
    let steps = [Step("fails", run: "exit 3"), Self.reads]
    let first = try Engine().start(Self.counter(steps), in: store)
    #expect(await !first.report.succeeded)
    for _ in 1...3 { _ = try await Engine().start(Self.counter([Self.reads]), in: store).report }
    let fixed = Self.counter([Step("fails", run: "true"), Self.reads])
    let second = try Engine().resume(first.id, fixed, in: store)
    #expect(await second.report.succeeded)
    #expect(seen(second) == "0")
    #expect(await second.warnings == [.stateReplaced])
    // It keeps nothing: the later runs have kept 3.
    let last = try Engine().start(Self.counter([Self.reads]), in: store)
    _ = await last.report
    #expect(seen(last) == "3")
  }

  /// A run that is resumed after its success replaces the state as long as no other run has.
  @Test func aResumedRunReplacesWhatItHasKeptItself() async throws {
    let store = MemoryRunStore()
    let workflow = Self.counter([Self.reads])
    let first = try Engine().start(workflow, in: store)
    #expect(await first.report.succeeded)
    var options = Engine.ResumeOptions()
    options.rerunning = ["reads"]
    let again = try Engine().resume(first.id, workflow, options: options, in: store)
    #expect(await again.report.succeeded)
    #expect(await again.warnings == [])
    #expect(seen(again) == "0")
    for count in ["1", "2"] {
      let next = try Engine().start(workflow, in: store)
      _ = await next.report
      #expect(seen(next) == count)
    }
    let late = try Engine().resume(first.id, workflow, options: options, in: store)
    #expect(await late.report.succeeded)
    #expect(await late.warnings == [.stateReplaced])
    let last = try Engine().start(workflow, in: store)
    _ = await last.report
    #expect(seen(last) == "3")
  }

  @Test func workflowsDoNotShareIt() async throws {
    let store = MemoryRunStore()
    _ = try await Engine().start(Self.counter([Self.reads]), in: store).report
    var other = Self.counter([Self.reads])
    other.name = "other"
    let run = try Engine().start(other, in: store)
    _ = await run.report
    #expect(seen(run) == "0")
  }

  @Test func aValueThatContainsASecretFailsTheRun() async throws {
    let workflow = try Workflow(
      json: #"""
        { "name": "w", "inputs": { "token": { "secret": true } },
          "state": { "last": { "default": "", "value": "${{ steps.a.outputs.x }}" } },
          "steps": [
            { "run": "true", "env": { "T": "${{ inputs.token }}" } },
            { "id": "a", "outputs": { "x": "hush-hush!" } }] }
        """#)
    let store = MemoryRunStore()
    let run = try Engine().start(workflow, inputs: ["token": "hush-hush"], in: store)
    let report = await run.report
    #expect(
      report.end?.failure?.message == #"state "last" is not kept: its value contains a secret"#)
  }

  @Test func aValueOfAnotherTypeFailsTheRun() async throws {
    var workflow = Self.counter([Self.reads])
    workflow.state[0].schema = try Workflow(
      json: #"{ "inputs": { "n": { "type": "integer", "maximum": 0 } }, "steps": ["true"] }"#
    ).inputs[0].schema
    let report = try await Engine().start(workflow, in: MemoryRunStore()).report
    #expect(report.end?.failure?.message == #"state "count" is 1, expected at most 0"#)
  }

  /// A declaration that changed, a store that is missing or keeps no state, a workflow that cannot be found again.
  @Test func whatCannotBeReadOrKeptIsAnErrorBeforeTheStart() async throws {
    let store = MemoryRunStore()
    _ = try await Engine().start(Self.counter([Self.reads]), in: store).report
    var changed = Self.counter([Self.reads])
    changed.state[0].schema = try Workflow(
      json: #"{ "inputs": { "n": { "type": "string" } }, "steps": ["true"] }"#
    ).inputs[0].schema
    changed.state[0].initialValue = ""
    changed.state[0].value = "x"
    var unnamed = Self.counter([Self.reads])
    unnamed.name = nil
    let trials: [(Workflow, (any RunStore)?, String)] = [
      (changed, store, "W0431"), (unnamed, store, "W0432"),
      (Self.counter([Self.reads]), nil, "W0432"),
    ]
    for (workflow, store, code) in trials {
      let error = #expect(throws: WorkflowError.self) {
        if let store {
          try Engine().start(workflow, in: store)
        } else {
          try Engine().start(workflow)
        }
      }
      #expect(error?.diagnostics.map(\.code) == [code])
    }
  }
}

extension Run {
  /// The kinds of its warnings.
  fileprivate var warnings: [RunWarning.Kind] {
    get async { await report.warnings.map(\.kind) }
  }
}

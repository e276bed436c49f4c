import Testing
import WeftDefinition
import WeftDiagnostics

@Suite struct DefaultsTests {
  private static let defaults = StepDefaults(
    timeout: .seconds(60), retry: [RetryPolicy(max: 2)], shell: .bash)

  private func workflow(_ steps: [Step], finally: [Step] = []) -> Workflow {
    var workflow = Workflow(steps: steps)
    workflow.finally = finally
    workflow.defaults = DefaultsTests.defaults
    return workflow
  }

  private func withDefaults(_ step: Step) -> Step {
    var step = step
    step.timeout = .seconds(60)
    return step.retry(2)
  }

  @Test func aWorkflowWithoutDefaultsIsLeftAlone() {
    let workflow = Workflow(steps: [Step(run: "a").retry(0)])
    #expect(workflow.withDefaults() == workflow)
  }

  @Test func everyCommandGetsThem() {
    let command = Step(run: "a")
    let expected = withDefaults(command)
    let result = workflow(
      [command, Step(parallel: [command, Step(race: [command])]), command.cleanup(command)],
      finally: [command, Step(steps: [command]).cleanup(command)]
    ).withDefaults()
    #expect(
      result.body.members == [
        expected, Step(parallel: [expected, Step(race: [expected])]),
        expected.cleanup(expected),
      ])
    #expect(result.finally == [expected, Step(steps: [expected]).cleanup(expected)])
  }

  @Test func explicitValueOverridesTheDefault() {
    var computed = Step(run: "a")
    computed.$timeout.expression = "${{ inputs.t }}"
    let steps = [
      Step(run: "a", timeout: .seconds(5)).retry(0), Step(run: "b").retry(5), computed,
    ]
    let result = workflow(steps).withDefaults().body.members
    #expect(result[0] == steps[0])
    #expect(result[1].control.retry == [RetryPolicy(max: 5)])
    #expect(result[1].timeout == .seconds(60))
    #expect(result[2].timeout == nil)
    #expect(result[2].computed == [.timeout: "${{ inputs.t }}"])
    #expect(result[2].control.retry == [RetryPolicy(max: 2)])
  }

  @Test func stepsWithoutAnActionIgnoreDefaults() {
    let steps = [
      Step(wait: .seconds(1)), Step(approve: "Go?"),
      Step(action: .compute, outputs: [OutputDeclaration("a", value: "1")]),
      Step(workflow: Workflow(name: "other", steps: [Step(run: "a")])), Step(steps: []),
    ]
    #expect(workflow(steps).withDefaults().body.members == steps)
  }

  @Test func servicesIgnoreThem() throws {
    let decoded = try decodedWithoutErrors(
      #"{"defaults": {"timeout": "1s", "retry": 1},"#
        + #" "steps": [{"run": "serve", "service": {"ready": {"log": "up"}}}]}"#)
    #expect(decoded.withDefaults().body.members == decoded.body.members)
  }

  @Test func theShellIsTheWorkflowsUnlessItHasOne() {
    #expect(workflow([Step(run: "a")]).withDefaults().settings.shell == .bash)
    var own = workflow([Step(run: "a")])
    own.settings.shell = .python
    #expect(own.withDefaults().settings.shell == .python)
  }

  @Test func doneTwiceNothingMoreChanges() {
    let once = workflow([Step(run: "a"), Step(steps: [Step(run: "b").retry(0)])]).withDefaults()
    #expect(once.withDefaults() == once)
  }

  @Test func computedDefaultsKeepTheirLocations() throws {
    let decoded = try decodedWithoutErrors(
      """
      { "defaults": { "timeout": "${{ inputs.t }}",
          "retry": { "max": "${{ inputs.n }}", "delay": "${{ inputs.t }}", "when": "self.exitCode == 3" } },
        "steps": ["a", { "run": "b", "retry": 1 }, { "run": "c", "timeout": "1s" }] }
      """)
    let steps = decoded.withDefaults().body.members
    let retrying: [ComputedKey: String] = [
      .retryMax: "${{ inputs.n }}", .retryDelay: "${{ inputs.t }}",
    ]
    #expect(steps[0].computed == retrying.merging([.timeout: "${{ inputs.t }}"]) { $1 })
    let policy = try #require(steps[0].control.retry.first)
    let expressions = [
      steps[0].$timeout.expression, policy.$max.expression, policy.$delay.expression,
      policy.condition,
    ]
    #expect(Set(expressions.map { $0?.place.value?.start }).subtracting([nil]).count == 4)
    #expect(steps[1].computed == [.timeout: "${{ inputs.t }}"])
    #expect(steps[1].$timeout.expression?.place.value == expressions[0]?.place.value)
    #expect(steps[2].computed == retrying)
    #expect(steps[2].control.retry.first?.condition?.text == "self.exitCode == 3")
  }

  @Test func groupsBeyondTheLimitAreLeftToThePlanner() {
    let deep = (0..<1000).reduce(Step(run: "a")) { step, _ in Step(steps: [step]) }
    #expect(workflow([deep]).withDefaults().body.members == [deep])
  }
}

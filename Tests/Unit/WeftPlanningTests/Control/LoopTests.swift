import Testing
import WeftDefinition
import WeftJSON
import WeftPlanning

/// The properties of `forEach` and `matrix` in a plan.
struct LoopTests {
  private static func looped(_ condition: Condition?, _ fanOut: FanOut, _ variable: String) -> Step
  {
    Step(
      id: "s", action: .run(Command(.script("true"))),
      settings: CommandSettings(environment: ["V": variable, "W": "${{ 'w' }}"]),
      control: StepControl(condition: condition, fanOut: fanOut))
  }

  private static let list = FanOut.forEach(ForEach(in: .values([1, 2]), as: "Host"))
  private static let axes = FanOut.matrix(Matrix(axes: [Matrix.Axis("os", .values(["a", "b"]))]))

  @Test(
    "a condition is asked for each element if it reads the element, or a variable made of it",
    arguments: [
      (nil, list, "", false), ("success()", list, "", false), ("item > 1", list, "", true),
      ("index == 0", list, "", true), ("host == 1", list, "", true), ("HOST == 1", list, "", true),
      ("env.V == 'x'", list, "", false), ("env.V == 'x'", list, "${{ item }}", true),
      ("env.V == 'x'", list, "${{ run.id }}", false), ("run.id == 'x'", list, "${{ item }}", false),
      ("matrix.os == 'a'", axes, "", true), ("run.id == 'x'", axes, "", false),
    ] as [(Condition?, FanOut, String, Bool)])
  func isEvaluatedPerElement(
    condition: Condition?, fanOut: FanOut, variable: String, isAsked: Bool
  ) throws {
    let step = Self.looped(condition, fanOut, variable)
    let plan = try planned(Workflow(steps: [step]))
    #expect(plan.isEvaluatedPerElement(step: 0) == isAsked)
    var group = Step("g", steps: [Step("a")])
    (group.control, group.settings) = (step.control, step.settings)
    #expect(try planned(Workflow(steps: [group])).isEvaluatedPerElement(group: 1) == isAsked)
  }

  @Test func theConditionInALoopIsNotOneOfTheLoop() throws {
    let inner = Step(
      id: "a", action: .run(Command(.script("true"))),
      control: StepControl(condition: "item == 1"))
    let plan = try planned(Workflow(steps: [Step("g", steps: [inner]).repeated]))
    #expect(!plan.isEvaluatedPerElement(step: 0) && !plan.isEvaluatedPerElement(group: 1))
  }

  @Test func anInnerLoopOfTheOtherKindDoesNotHideTheOuter() throws {
    var inner = Step("a", run: ["echo", "${{ item }}", "${{ matrix.os }}"])
    inner.control.fanOut = Self.axes
    inner.control.condition = "item == 1"
    let plan = try planned(Workflow(steps: [Step("g", steps: [inner]).repeated]))
    // It reads the outer element, so it is evaluated once for each of those.
    #expect(!plan.isEvaluatedPerElement(step: 0))
  }

  @Test func cleanupIsInTheLoopOfItsStep() throws {
    var step = Step("a").repeated
    step.control.cleanup = [Step(run: ["rm", "${{ item }}", "${{ steps.a.exitCode }}"])]
    var group = Step("g", steps: [Step("b")]).repeated
    group.control.cleanup = [Step(run: ["rm", "${{ index }}", "${{ steps.g.outputs.x || 1 }}"])]
    group.outputs = [OutputDeclaration("x", value: "${{ steps.b.stdout }}")]
    #expect(problems(of: Workflow(steps: [step, group])) == [])
  }

  @Test(
    "only what is read of the elements of a loop is kept",
    arguments: [
      ("steps.a.outcome", .result), ("steps.a.results", .everything),
      ("toJSON(steps.a.results[0])", .everything), ("toJSON(steps.a)", .everything),
      ("steps.a.results[0].stdout", [.elements, .stdout]),
      ("steps.a.results['0'].stderr", [.elements, .stderr]),
      ("steps.a.results.*.json.x", [.elements, .stdout]),
      ("steps.a.results.*.outcome", [.elements, .result]),
      ("steps.a.results[0]['key']", [.elements, .result]),
      ("join(steps.a.results.*.outputs.x)", [.elements, .result]),
      ("steps.a.results[length(steps.a.results.*.stdout)].outcome", [.elements, .result, .stdout]),
      ("steps.a.results[0][format('std{0}', 'out')]", .everything),
    ] as [(String, StepReads)])
  func onlyReadValuesAreKept(expression: String, reads: StepReads) throws {
    var step = Step("a").repeated
    step.outputs = [OutputDeclaration("x", value: "${{ 1 }}")]
    let plan = try planned(
      Workflow(steps: [step, Step("r", run: ["echo", "${{ \(expression) }}"])]))
    #expect(plan.values.reads(ofNode: 0) == reads)
  }

  @Test func shapesOfResultsAreKnown() throws {
    let race = Step(id: "r", action: .group(StepGroup(.race, [Step("x"), Step("y")])))
    let plan = try planned(
      Workflow(steps: [Step("a"), Step("b").repeated, Step("g", steps: []), race]))
    #expect(
      plan.nodes.indices.map { plan.resultShape(ofNode: $0) } == [
        .step, .many, .group, .group, .race, .step, .step, .race,
      ])
  }

  @Test func outputsOfRaceMembersAreKnown() throws {
    let race = Step(
      id: "r", action: .group(StepGroup(.race, [Step("x"), Step("g", steps: [Step("y")])])))
    let plan = try planned(Workflow(steps: [race, Step("a")]))
    #expect(
      plan.nodes.indices.map { plan.values.reads(ofNode: $0) } == [
        [], .result, .result, [], [], [], [],
      ])
  }
}

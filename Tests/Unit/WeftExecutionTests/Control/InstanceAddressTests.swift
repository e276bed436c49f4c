import Testing
import WeftDefinition
import WeftExpressions
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution

@Suite struct InstanceAddressTests {
  private let plan: Plan

  init() throws {
    let workflow = Workflow(steps: [
      Step(
        "deploy",
        steps: [
          Step("push", run: ["push"]),
          Step(run: ["unnamed"]),
          Step("each", run: ["each"]).forEach(["x"]).cleanup(
            Step(run: ["tidy"]), Step("sweep", run: ["sweep"])),
          Step(steps: [Step(run: ["deep"])]),
        ]
      ).forEach(["eu"])
    ])
    plan = try #require(Planner.plan(workflow).plan)
  }

  private func instance(_ key: String, of region: PlanRegion, in outer: Instance) -> Instance {
    let element = Element(
      source: .forEach(name: nil), index: 0, key: key, value: .string(key), isSecret: false)
    return Instance(
      .element(element), of: region, in: outer, firstInstance: 0, firstScope: 0, scope: 0)
  }

  private func group(_ address: String) throws -> Int {
    try #require(plan.groups.firstIndex { $0.address?.text == address })
  }

  @Test(arguments: [
    ("deploy", "deploy[eu]"), ("push", "deploy[eu].push"), ("deploy.2", "deploy[eu].2"),
    ("deploy.4.1", "deploy[eu].4.1"), ("each", "deploy[eu].each"),
    ("each.cleanup.1", "deploy[eu].each.cleanup.1"), ("sweep", "deploy[eu].sweep"),
  ])
  func stepInAnElementHasTheElementsAddress(planned: String, address: String) throws {
    let element = instance(
      "eu", of: PlanRegion(group: try group("deploy"), of: plan), in: .run(of: plan))
    #expect(element.address(of: StepAddress(planned)).text == address)
  }

  @Test func elementsOfElementsHaveBothKeys() throws {
    let outer = instance(
      "eu", of: PlanRegion(group: try group("deploy"), of: plan), in: .run(of: plan))
    let step = try #require(plan.steps.firstIndex { $0.address.text == "each" })
    let inner = instance("x", of: PlanRegion(step: step, of: plan), in: outer)
    #expect(inner.address(of: StepAddress("each")).text == "deploy[eu].each[x]")
    #expect(
      inner.address(of: StepAddress("each.cleanup.1")).text == "deploy[eu].each[x].cleanup.1")
    #expect(inner.address(of: StepAddress("sweep")).text == "deploy[eu].each[x].sweep")
  }

  @Test("X05: what a run calls something is led back to the plan, whatever the keys are")
  func thePlanIsFoundAgain() throws {
    let known = Set(plan.steps.map(\.address) + plan.groups.compactMap(\.address))
    let outerPart = PlanRegion(group: try group("deploy"), of: plan)
    let step = try #require(plan.steps.firstIndex { $0.address.text == "each" })
    var seen: Set<StepAddress> = []
    for key in [
      "eu", "a].push", "a].each[b", "[", "]", "\\", ".", "/", " ", "\u{301}", "é", "e\u{301}",
    ] {
      let outer = instance(key, of: outerPart, in: .run(of: plan))
      for planned in plan.steps.map(\.address) {
        let address = outer.address(of: planned)
        #expect(address.planned(isKnown: known.contains) == planned, "\(address)")
        #expect(address.isInElement(of: StepAddress("deploy")))
        #expect(address.innermostElement?.loop?.text == "deploy")
        #expect(seen.insert(address).inserted, "\(address)")
      }
      for innerKey in ["x", "d].sweep", "d].b[c"] {
        let inner = instance(innerKey, of: PlanRegion(step: step, of: plan), in: outer)
        for planned in ["each", "sweep", "each.cleanup.1"].map({ StepAddress($0) }) {
          let address = inner.address(of: planned)
          #expect(address.planned(isKnown: known.contains) == planned, "\(address)")
          #expect(seen.insert(address).inserted, "\(address)")
        }
      }
    }
  }

  @Test func anAttemptOfAGroupChangesNoAddress() throws {
    let attempt = Instance(
      .attempt(2), of: PlanRegion(group: try group("deploy"), of: plan), in: .run(of: plan),
      firstInstance: 0, firstScope: 0, scope: 0)
    #expect(attempt.address(of: StepAddress("push")).text == "push")
  }
}

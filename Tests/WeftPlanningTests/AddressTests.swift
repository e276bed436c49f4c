import Testing
import WeftDefinition
import WeftPlanning
import WeftTestKit

struct AddressTests {
  @Test func anAddressIsTheIDOrThePositionUnderTheNearestID() throws {
    let plan = try planned(
      Workflow(steps: [
        Step("build", run: "make"),
        Step(
          steps: [
            Step(run: "x"), Step(parallel: [Step(run: "y"), Step("named", run: "z")]),
          ]),
        Step("checks", parallel: [Step(run: "p"), Step(steps: [Step(run: "q")])]),
        Step(run: "last"),
      ]))
    #expect(
      plan.steps.map(\.address.text)
        == ["build", "2.1", "2.2.1", "named", "checks.1", "checks.2.1", "4"])
    #expect(
      plan.groups.map { $0.address?.text ?? "-" } == ["-", "2", "2.2", "checks", "checks.2"])
  }

  @Test func aStepThatCleansUpIsCalledByItsIDToo() throws {
    let plan = try planned(
      Workflow(steps: [
        Step("db", run: "up").cleanup(Step("drop", run: "down")),
        Step("g", steps: [Step(run: "x")]).cleanup(Step("sweep", run: "s"), Step(run: "t")),
      ]))
    #expect(plan.steps.map(\.address.text) == ["db", "drop", "g.1", "sweep", "g.cleanup.2"])
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func noTwoAddressesAreEqual(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let plan = try planned(RandomWorkflow(using: &random).workflow)
    let addresses =
      plan.steps.map(\.address) + plan.groups.compactMap(\.address)
    #expect(Set(addresses).count == addresses.count)
  }

  @Test func groupsKnowTheirNodesMembersAndDepth() throws {
    let plan = try planned(
      Workflow(steps: [
        Step("a"), Step("g", steps: [Step("h", parallel: [Step("b")], maxParallel: 3)]),
      ]))
    let (top, outer, inner) = (plan.groups[0], plan.groups[1], plan.groups[2])
    #expect(plan.nodes.count == 6)
    #expect((top.startNode, top.endNode, top.depth, top.parent) == (-1, 6, 0, nil))
    #expect((outer.startNode, outer.endNode, outer.depth, outer.parent) == (1, 5, 1, 0))
    #expect((inner.startNode, inner.endNode, inner.depth, inner.parent) == (2, 4, 2, 1))
    #expect([top.members, outer.members, inner.members] == [[0, 1], [2], [3]])
    #expect(inner.maxParallel == 3 && plan.steps[1].group == 2 && plan.steps[1].node == 3)
  }
}

import Testing
import WeftDefinition
import WeftPlanning
import WeftTestKit

struct OrderTests {
  @Test func earliestReadyStepComesFirst() throws {
    let plan = try planned(
      Workflow(parallel: [
        Step("a", needs: ["d"]), Step("b"), Step("c", needs: ["b"]), Step("d"), Step("e"),
      ]))
    #expect(plan.topologicalOrder.map { plan.name(of: Int($0)) } == ["b", "c", "d", "a", "e"])
  }

  @Test func stepsBelowCountsTheStepsOfTheLongestPathAndNoGroups() throws {
    let plan = try planned(
      Workflow(steps: [
        Step("a"), Step("g", parallel: [Step("b"), Step("h", steps: [Step("c"), Step("d")])]),
        Step("e"),
      ]))
    let below = plan.nodes.indices.map { "\(plan.name(of: $0))\(plan.stepsBelow[$0])" }
    #expect(
      below == ["a4", "g(3", "b2", "h(3", "c3", "d2", "h)1", "g)1", "e1"])
    #expect(plan.longestPath == 4 && plan.width == 2)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func everyNodeComesAfterWhatItWaitsForAndNoneCouldComeEarlier(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let plan = try planned(RandomWorkflow(using: &random).workflow)
    var waiting = Set(plan.nodes.indices)
    for node in plan.topologicalOrder.map(Int.init) {
      let ready = waiting.filter { node in
        plan.dependencies[node].allSatisfy { !waiting.contains(Int($0)) }
      }
      #expect(node == ready.min())
      waiting.remove(node)
    }
    #expect(waiting.isEmpty)
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func stepsBelowIsWhatTheDefinitionSays(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let plan = try planned(RandomWorkflow(using: &random).workflow)
    for node in plan.nodes.indices {
      let above = plan.nodes.indices.filter { plan.dependencies[$0].contains(Int32(node)) }
      var weight: Int32 = 0
      if case .step = plan.nodes[node] { weight = 1 }
      #expect(plan.stepsBelow[node] == weight + (above.map { plan.stepsBelow[$0] }.max() ?? 0))
    }
  }
}

import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftTestKit

struct ReachabilityTests {
  @Test(arguments: 0..<500 as Range<UInt64>)
  func theGraphOrdersExactlyWhatTheRulesOrder(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let workflow = RandomWorkflow(using: &random, size: 20).workflow
    let plan = try planned(workflow)
    let reference = ReferenceOrder(of: workflow)
    for step in plan.steps {
      #expect(stepsBefore(step, in: plan) == reference.before[step.address.text])
    }
  }

  @Test(arguments: 0..<500 as Range<UInt64>)
  func aWorkflowIsRejectedExactlyWhenTheRulesHaveACycle(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let workflow = RandomWorkflow(using: &random, allowingCycles: true).workflow
    let (plan, diagnostics) = Planner.plan(workflow)
    #expect((plan == nil) == ReferenceOrder(of: workflow).hasCycle)
    #expect(diagnostics.filter(\.isError).allSatisfy { $0.code == "W0206" })
  }

  private func stepsBefore(_ step: PlannedStep, in plan: Plan) -> Set<String> {
    var found: Set<Int> = []
    var left = plan.dependencies[step.node].map(Int.init)
    while let node = left.popLast() {
      if found.insert(node).inserted { left += plan.dependencies[node].map(Int.init) }
    }
    return Set(
      found.compactMap { node in
        guard case .step(let index) = plan.nodes[node] else { return nil }
        return plan.steps[Int(index)].address.text
      })
  }
}

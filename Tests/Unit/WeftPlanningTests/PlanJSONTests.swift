import Testing
import WeftDiagnostics
import WeftJSON
import WeftPlanning

struct PlanJSONTests {
  @Test(arguments: PrintingTests.cases)
  func isStrictJSONThatHoldsTheWholeGraph(name: String) throws {
    let plan = try goldenPlan(name)
    let file = SourceFile(path: "plan.json", bytes: plan.rendered(as: .json))
    let (root, diagnostics) = JSONReader.read(file)
    #expect(diagnostics.map(\.message) == [])
    let value = try #require(root)
    #expect(integers(value.member("order")) == plan.topologicalOrder.map { "\($0)" })
    let nodes = Array(try #require(value.member("nodes")).elements)
    #expect(nodes.count == plan.nodes.count)
    for (index, node) in nodes.enumerated() {
      #expect(integers(node.member("waitsFor")) == plan.dependencies[index].map { "\($0)" })
    }
    let steps = Array(try #require(value.member("steps")).elements)
    #expect(steps.map { $0.member("address")?.stringValue } == plan.steps.map(\.address.text))
    for (index, step) in plan.steps.enumerated() where step.command != nil {
      let arguments = try #require(steps[index].member("arguments"))
      #expect(arguments.elements.map(\.stringValue) == plan.arguments(of: step))
    }
  }

  private func integers(_ node: JSONNode?) -> [String]? { node?.elements.map(\.sourceText) }
}

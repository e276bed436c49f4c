import Testing
import WeftDrawing
import WeftTestKit

struct LayoutTests {
  @Test func thereAreShapesOfManyKinds() { #expect(Shapes.all.count >= 50) }

  @Test(arguments: Shapes.all)
  func boxesDoNotOverlapAndLinesPassThroughNone(shape: Shape) {
    let checks = LayoutChecks(shape.picture.graph)
    #expect(checks.wrongSizes() == [])
    #expect(checks.wrongNesting() == [])
    #expect(checks.coveredTitles() == [])
    #expect(checks.looseEnds() == [])
    #expect(checks.wrongLines() == [])
    #expect(checks.layout == Layout(of: shape.picture.graph), "the same graph has one layout")
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func randomGraphsOfAnySizesAreDrawnWithoutOverlap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let (count, groupCount) = (
      Int.random(in: 1...30, using: &random), Int.random(in: 1...6, using: &random)
    )
    let groups = (0..<groupCount).map { index in
      Graph.Group(
        title: randomSize(&random),
        parent: index > 0 && Bool.random(using: &random)
          ? Int.random(in: 0..<index, using: &random) : nil,
        margin: Int.random(in: 0...9, using: &random))
    }
    let nodes = (0..<count).map { _ in
      Graph.Node(
        size: randomSize(&random),
        group: Bool.random(using: &random) ? Int.random(in: 0..<groupCount, using: &random) : nil)
    }
    func end() -> Graph.End {
      Int.random(in: 0..<5, using: &random) == 0
        ? .group(Int.random(in: 0..<groupCount, using: &random))
        : .node(Int.random(in: 0..<count, using: &random))
    }
    let edges = (0..<count * 3 / 2).map { _ in Graph.Edge(from: end(), to: end()) }
    let checks = LayoutChecks(Graph(nodes: nodes, groups: groups, edges: edges))
    #expect(
      checks.wrongSizes() + checks.wrongNesting() + checks.coveredTitles() + checks.looseEnds()
        + checks.wrongLines() == [])
  }

  private func randomSize(_ random: inout SeededGenerator) -> Size {
    Size(
      width: Int.random(in: 1...200, using: &random), height: Int.random(in: 1...90, using: &random)
    )
  }

  @Test func edgesLeadDownwardsUnlessTheyCloseACycle() {
    for shape in Shapes.all
    where shape.description.contains("random graph") && !shape.description.contains("cycles") {
      let layout = Layout(of: shape.picture.graph)
      for line in layout.lines { #expect(line[0].y < line[line.count - 1].y) }
    }
  }

  @Test func aChainIsStraight() {
    let edges = (1..<9).map { Graph.Edge(from: .node($0 - 1), to: .node($0)) }
    let nodes = (1...9).map { Graph.Node(size: Size(width: 40 * $0, height: 20)) }
    let layout = Layout(of: Graph(nodes: nodes, edges: edges))
    #expect(layout.lines.allSatisfy { $0.count == 2 && $0[0].x == $0[1].x })
  }

  @Test func aStepThatAllWaitForHasOneTrunk() {
    let count = 60
    let edges = (1..<count).flatMap {
      [Graph.Edge(from: .node($0 - 1), to: .node($0)), Graph.Edge(from: .node(0), to: .node($0))]
    }
    let size = Size(width: 100, height: 40)
    let nodes = (0..<count).map { _ in Graph.Node(size: size) }
    #expect(Layout(of: Graph(nodes: nodes, edges: edges)).size.width < 4 * size.width)
  }
}

import TestSupport
import Testing
import WeftDrawing

struct ReductionTests {
  private static func node(_ name: String, in group: Int? = nil) -> Picture.Node {
    Picture.Node(lines: [Picture.Line(name, .name)], group: group)
  }

  private static func nodes(_ count: Int) -> [Picture.Node] {
    (0..<count).map { node("step-\($0)") }
  }

  private static func edges(_ count: Int, from: (Int) -> Int) -> [Picture.Edge] {
    (1..<count).map { Picture.Edge(from: .node(from($0)), to: .node($0)) }
  }

  private static func text(of picture: Picture) -> String {
    picture.nodes.flatMap { $0.lines.map(\.text) }.joined(separator: " ")
  }

  @Test func aPictureThatFitsIsUnchanged() {
    let picture = Picture(
      title: "", nodes: ReductionTests.nodes(2000),
      edges: ReductionTests.edges(2000) { max(0, $0 - 7) })
    #expect(picture.reduced() == picture)
  }

  @Test func singleBoxesBecomeOne() {
    let picture = Picture(title: "", nodes: ReductionTests.nodes(100_000)).reduced()
    #expect(
      picture.nodes.map { $0.lines.map(\.text) } == [
        ["step-0", "…", "step-99999", "100,000 steps"]
      ])
    #expect(picture.nodes[0].traits == [.many])
  }

  @Test func boxesOfARankAreCountedByTheirNames() {
    var picture = Picture(title: "", nodes: [ReductionTests.node("start")])
    for index in 0..<9000 {
      picture.nodes.append(ReductionTests.node((index % 3 == 0 ? "test-" : "build-") + "\(index)"))
      picture.edges.append(Picture.Edge(from: .node(0), to: .node(index + 1)))
    }
    let reduced = picture.reduced()
    #expect(
      reduced.nodes.map { $0.lines[$0.lines.count - 1].text } == [
        "start", "3,000 steps", "6,000 steps",
      ])
    #expect(
      reduced.edges == [
        Picture.Edge(from: .node(0), to: .node(1)), Picture.Edge(from: .node(0), to: .node(2)),
      ])
  }

  @Test func aLongChainBecomesAShortOne() {
    let picture = Picture(
      title: "", nodes: ReductionTests.nodes(largeCount),
      edges: ReductionTests.edges(largeCount) { $0 - 1 }
    ).reduced()
    #expect(picture.nodes.count == 40 && picture.edges.count == 39)
  }

  @Test func edgesThatAreTooLongTogetherAreReduced() {
    let picture = Picture(
      title: "", nodes: ReductionTests.nodes(2000),
      edges: ReductionTests.edges(2000) { $0 - 1 }
        + (1000..<2000).map { Picture.Edge(from: .node($0 - 1000), to: .node($0)) }
    ).reduced()
    #expect(picture.nodes.count == 40)
  }

  @Test func tooManyEdgesAreReduced() {
    let edges = (0..<200).flatMap { from in
      (200..<400).map { Picture.Edge(from: .node(from), to: .node($0)) }
    }
    let picture = Picture(title: "", nodes: ReductionTests.nodes(400), edges: edges).reduced()
    #expect(picture.nodes.count == 2 && picture.edges.count == 1)
  }

  @Test func groupsAreOpenedWhileThereIsRoom() {
    var picture = Picture(title: "")
    for group in 0..<30 {
      let lines = [Picture.Line("group-\(group)", .name)]
      picture.groups.append(Picture.Group(lines: lines))
      for step in 0..<200 {
        picture.nodes.append(ReductionTests.node("step-\(step)", in: group))
        if step > 0 {
          let index = picture.nodes.count
          picture.edges.append(Picture.Edge(from: .node(index - 2), to: .node(index - 1)))
        }
      }
      if group > 0 {
        picture.edges.append(Picture.Edge(from: .group(group - 1), to: .group(group)))
      }
    }
    let reduced = picture.reduced()
    #expect(reduced.groups.count == 12)
    #expect(reduced.nodes.count + reduced.groups.count <= Picture.largest)
    #expect(reduced.nodes.count { $0.traits.contains(.many) } == 18)
    #expect(ReductionTests.text(of: reduced).contains("group-29 200 steps"))
    #expect(reduced.edges.count == 12 * 199 + 29)
  }

  @Test func aLargeGroupIsACountedBox() {
    let picture = Picture(
      title: "",
      nodes: (0..<largeCount).map { ReductionTests.node("step-\($0)", in: $0 % 500) },
      groups: (0..<500).map { Picture.Group(lines: [Picture.Line("group-\($0)", .name)]) }
    ).reduced()
    #expect(picture.nodes.count == 1)
    #expect(picture.nodes[0].lines.map(\.text).last == (isLong ? "100,000 steps" : "10,000 steps"))
  }

  @Test func nothingIsLostThatMatters() {
    var picture = Picture(title: "", nodes: ReductionTests.nodes(5000))
    picture.nodes[4000].traits = [.critical]
    #expect(picture.reduced().nodes.map(\.traits) == [[.many, .critical]])
  }
}

import WeftDrawing
import WeftTestKit

/// A picture with a name for messages.
struct Shape: Sendable, CustomStringConvertible {
  let description: String
  let picture: Picture
}

/// Pictures of many shapes.
enum Shapes {
  static let all: [Shape] = plain + random + nested + labelled

  // MARK: Graphs without groups

  private typealias Pairs = [(Int, Int)]

  private static let plain: [Shape] = sparse + dense

  private static let sparse: [Shape] = [
    shape("nothing", 0) { _ in [] },
    shape("one box", 1) { _ in [] },
    shape("two boxes", 2) { _ in [] },
    shape("single boxes", 60) { _ in [] },
    shape("an arrow", 2) { $0 == 0 ? [] : [(0, 1)] },
    shape("an arrow twice", 2) { _ in [(0, 1)] },
    shape("a loop at a box", 1) { _ in [(0, 0)] },
    shape("a cycle of two", 2) { [($0, 1 - $0)] },
    shape("a cycle", 7) { [($0, ($0 + 1) % 7)] },
    shape("a chain", 30) { $0 == 0 ? [] : [($0 - 1, $0)] },
    shape("a chain backwards", 12) { $0 == 0 ? [] : [($0, $0 - 1)] },
    shape("a chain and single boxes", 30) { $0 == 0 || $0 > 7 ? [] : [($0 - 1, $0)] },
    shape("many parts", 40) { $0 % 4 == 3 ? [] : [($0, $0 + 1)] },
    shape("a fan", 21) { $0 == 0 ? [] : [(0, $0)] },
    shape("a funnel", 21) { $0 == 20 ? [] : [($0, 20)] },
    shape("a binary tree", 31) { $0 == 0 ? [] : [(($0 - 1) / 2, $0)] },
    shape("a tree upwards", 31) { $0 == 0 ? [] : [($0, ($0 - 1) / 2)] },
  ]

  private static let dense: [Shape] = [
    shape("a spindle", 42) { $0 == 0 || $0 == 41 ? [] : [(0, $0), ($0, 41)] },
    shape("a diamond", 4) { $0 == 0 ? [(0, 1), (0, 2)] : $0 == 3 ? [] : [($0, 3)] },
    shape("diamonds in a row", 31) { node in
      if node == 30 { return [] }
      let first = node / 3 * 3
      return node == first ? [(node, node + 1), (node, node + 2)] : [(node, first + 3)]
    },
    shape("a chain that all steps know", 20) { $0 == 0 ? [] : [($0 - 1, $0), (0, $0)] },
    shape("a chain that knows all steps", 20) { $0 == 0 ? [] : [($0 - 1, $0), ($0 - 1, 19)] },
    shape("long edges across a chain", 25) { node in
      let long: Pairs = [(0, 24), (3, 20), (5, 9)]
      return node == 0 ? long : [(node - 1, node)]
    },
    shape("a tournament", 9) { node in (node + 1..<9).map { (node, $0) } },
    shape("a complete pair of layers", 10) { node in
      node < 5 ? (5..<10).map { (node, $0) } : []
    },
    shape("a ladder", 20) { node in
      let rung: Pairs = node < 10 ? [(node, node + 10)] : []
      return node % 10 == 9 ? rung : rung + [(node, node + 1)]
    },
    shape("a grid", 36) { node in
      let right: Pairs = node % 6 < 5 ? [(node, node + 1)] : []
      return node < 30 ? right + [(node, node + 6)] : right
    },
    shape("a butterfly", 32) { node in
      let row = node / 8
      guard row < 3 else { return [] }
      let other = (row + 1) * 8 + ((node % 8) ^ (1 << row))
      return [(node, node + 8), (node, other)]
    },
  ]

  // MARK: Random graphs

  private static let random: [Shape] =
    (1...12).map { seed in
      var numbers = SeededGenerator(seed: UInt64(seed))
      return shape("a random graph \(seed)", 8 + seed * 6) { node in
        guard node > 0 else { return [] }
        return (0..<Int.random(in: 1...2, using: &numbers)).map { _ in
          (max(0, node - Int.random(in: 1...10, using: &numbers)), node)
        }
      }
    }
    + (1...6).map { seed in
      var numbers = SeededGenerator(seed: 100 + UInt64(seed))
      return shape("a random graph with cycles \(seed)", 30) { node in
        (0..<2).map { _ in (node, Int.random(in: 0..<30, using: &numbers)) }
      }
    }

  // MARK: Graphs with groups

  private static let nested: [Shape] =
    [
      Shape(description: "an empty group", picture: picture([], [group(0)], [])),
      Shape(
        description: "a group of one",
        picture: picture([node(0, in: 0)], [group(0)], [])),
      Shape(
        description: "groups in groups",
        picture: picture(
          [node(0, in: 9)], (0..<10).map { group($0, in: $0 == 0 ? nil : $0 - 1) }, [])),
      Shape(
        description: "an edge through ten frames",
        picture: picture(
          [node(0), node(1, in: 9), node(2)],
          (0..<10).map { group($0, in: $0 == 0 ? nil : $0 - 1) },
          [(.node(0), .node(1)), (.node(1), .node(2))])),
      Shape(
        description: "a group of a hundred",
        picture: picture(
          (0..<100).map { node($0, in: 0) } + [node(100), node(101)], [group(0)],
          [(.node(100), .group(0)), (.group(0), .node(101))])),
      Shape(
        description: "groups that wait for each other's members",
        picture: picture(
          (0..<6).map { node($0, in: $0 / 3) }, [group(0), group(1)],
          [(.node(0), .node(3)), (.node(4), .node(1)), (.node(2), .node(5))])),
      Shape(
        description: "an edge between a group and its member",
        picture: picture(
          [node(0, in: 0), node(1, in: 0)], [group(0)],
          [(.group(0), .node(0)), (.node(1), .group(0)), (.node(0), .node(1))])),
      Shape(
        description: "a chain of groups",
        picture: picture(
          (0..<24).map { node($0, in: $0 / 4) }, (0..<6).map { group($0) },
          (1..<6).map { (.group($0 - 1), .group($0)) }
            + (0..<24).filter { $0 % 4 != 3 }.map { (.node($0), .node($0 + 1)) })),
    ]
    + (1...6).map { seed in
      var numbers = SeededGenerator(seed: 1000 + UInt64(seed))
      let groups = (0..<8).map { index in
        group(
          index,
          in: index == 0 || Bool.random(using: &numbers)
            ? nil : Int.random(in: 0..<index, using: &numbers))
      }
      let nodes = (0..<40).map { index in
        node(
          index,
          in: Int.random(in: 0..<4, using: &numbers) == 0
            ? nil : Int.random(in: 0..<8, using: &numbers))
      }
      func end() -> Graph.End {
        Int.random(in: 0..<6, using: &numbers) == 0
          ? .group(Int.random(in: 0..<8, using: &numbers))
          : .node(Int.random(in: 0..<40, using: &numbers))
      }
      let edges = (0..<45).map { _ in (end(), end()) }
      return Shape(
        description: "random groups \(seed)", picture: picture(nodes, groups, edges))
    }

  // MARK: Labels

  private static let labelled: [Shape] = {
    let names = [
      "", "日本語の名前はとても長い", "שלום עולם", "e\u{301}\u{301}\u{301}", "🏁🏁🏁", "a\nb", "</script>]]>&",
      String(repeating: "W", count: 400), String(repeating: "i", count: 400),
    ]
    let nodes = names.map { Picture.Node(lines: [Picture.Line($0, .name)], traits: [.many]) }
    let edges = (1..<names.count).map { Picture.Edge(from: .node($0 - 1), to: .node($0)) }
    let groups = names.map { Picture.Group(lines: [Picture.Line($0, .name)], traits: [.many]) }
    let inner = names.indices.map { index in
      Picture.Node(lines: [Picture.Line(names[index], .name)], group: index)
    }
    return [
      Shape(description: "labels", picture: Picture(title: "", nodes: nodes, edges: edges)),
      Shape(
        description: "titles",
        picture: Picture(title: "", nodes: inner, groups: groups, edges: edges)),
      Shape(
        description: "boxes of many sizes",
        picture: Picture(
          title: String(repeating: "title ", count: 50),
          nodes: (0..<20).map { index in
            Picture.Node(
              lines: (0...index % 5).map {
                Picture.Line("line \($0) of \(index)", .remark, sign: .pool)
              })
          }, edges: (1..<20).map { Picture.Edge(from: .node($0 / 3), to: .node($0)) })),
    ]
  }()

  // MARK: Parts

  private static func shape(
    _ name: String, _ count: Int, _ edges: (_ node: Int) -> Pairs
  ) -> Shape {
    let pairs = (0..<count).flatMap(edges)
    return Shape(
      description: name,
      picture: picture(
        (0..<count).map { node($0) }, [], pairs.map { (.node($0.0), .node($0.1)) }))
  }

  static func picture(
    _ nodes: [Picture.Node], _ groups: [Picture.Group], _ edges: [(Graph.End, Graph.End)]
  ) -> Picture {
    Picture(
      title: "graph", nodes: nodes, groups: groups,
      edges: edges.map { Picture.Edge(from: $0.0, to: $0.1) })
  }

  static func node(_ index: Int, in group: Int? = nil) -> Picture.Node {
    Picture.Node(
      lines: [Picture.Line("step-\(index)", .name), Picture.Line("make \(index)", .command)],
      group: group)
  }

  static func group(_ index: Int, in parent: Int? = nil) -> Picture.Group {
    let frames: [Picture.Group.Frame] = [.sequence, .parallel, .race, .file]
    return Picture.Group(
      lines: [Picture.Line("group-\(index)", .name)], traits: index % 3 == 0 ? [.many] : [],
      frame: frames[index % 4], parent: parent)
  }
}

/// A width and a height, in pixels of a drawing.
package struct Size: Sendable, Hashable {
  package var width: Int
  package var height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}

/// A position in a drawing; y grows downwards.
package struct Point: Sendable, Hashable {
  package var x: Int
  package var y: Int

  package init(x: Int, y: Int) {
    self.x = x
    self.y = y
  }

  static func + (left: Point, right: Point) -> Point {
    Point(x: left.x + right.x, y: left.y + right.y)
  }
}

/// A rectangle with edges parallel to the axes.
package struct Box: Sendable, Hashable {
  package var origin: Point
  package var size: Size

  package init(origin: Point, size: Size) {
    self.origin = origin
    self.size = size
  }

  package var left: Int { origin.x }
  package var top: Int { origin.y }
  package var right: Int { origin.x + size.width }
  package var bottom: Int { origin.y + size.height }
  package var centre: Int { origin.x + size.width / 2 }
}

/// A graph to lay out: nodes of known size in nested groups, and edges between any of them.
///
/// The module draws graphs that know nothing of workflows. A ``Picture`` says what is shown; it becomes a `Graph` of
/// sizes, then a ``Layout`` of positions, then SVG. A picture that is too large is first reduced to counted boxes. The
/// same picture always becomes the same bytes.
package struct Graph: Sendable, Hashable {
  package struct Node: Sendable, Hashable {
    package var size: Size
    /// The innermost group that contains it; `nil` outside all groups.
    package var group: Int?

    package init(size: Size, group: Int? = nil) {
      self.size = size
      self.group = group
    }
  }

  package struct Group: Sendable, Hashable {
    /// The area of its title, at the top left inside its frame.
    package var title: Size
    /// The group around it, which has a smaller index; `nil` outside all groups.
    package var parent: Int?
    /// Free space to the right of the frame and below it, which belongs to the group.
    package var margin: Int

    package init(title: Size, parent: Int? = nil, margin: Int = 0) {
      self.title = title
      self.parent = parent
      self.margin = margin
    }
  }

  package enum End: Sendable, Hashable {
    case node(Int)
    /// The frame of a group.
    case group(Int)
  }

  package struct Edge: Sendable, Hashable {
    package var from: End
    package var to: End

    package init(from: End, to: End) {
      self.from = from
      self.to = to
    }
  }

  package var nodes: [Node]
  package var groups: [Group]
  package var edges: [Edge]

  package init(nodes: [Node], groups: [Group] = [], edges: [Edge] = []) {
    self.nodes = nodes
    self.groups = groups
    self.edges = edges
  }
}

/// The distances between what is drawn, in pixels.
enum Spacing {
  /// Between boxes of one rank.
  static let boxes = 24
  /// Between a line and a box or another line of one rank.
  static let lines = 14
  /// Between two ranks: the least, and the most for lines that go far to the side.
  static let ranks = 44...110
  /// Between unconnected parts.
  static let parts = 28
  /// Between a group's frame and its contents.
  static let padding = 18
}

/// The nesting of a graph's boxes: which level contains each.
///
/// Boxes are numbered: nodes first, then groups. Levels are the groups, and then the whole graph.
struct Hierarchy {
  let nodeCount: Int
  /// The level of the whole graph.
  let root: Int
  /// The level that contains each box.
  let level: [Int]
  /// The boxes that each level contains, in order.
  let members: [[Int]]
  private let depth: [Int]

  init(nodes: [Int?], groups: [Int?]) {
    (nodeCount, root) = (nodes.count, groups.count)
    let root = groups.count
    level = nodes.map { $0 ?? root } + groups.map { $0 ?? root }
    var depth = Array(repeating: 0, count: root + 1)
    for (group, parent) in groups.enumerated() {
      precondition(parent.map { $0 < group } ?? true, "group \(group) precedes its parent")
      depth[group] = (parent.map { depth[$0] } ?? 0) + 1
    }
    self.depth = depth
    var members: [[Int]] = Array(repeating: [], count: root + 1)
    for (box, level) in level.enumerated() { members[level].append(box) }
    self.members = members
  }

  func box(_ end: Graph.End) -> Int {
    switch end {
    case .node(let index): index
    case .group(let index): nodeCount + index
    }
  }

  /// The group that a box is; `nil` for a node.
  func group(_ box: Int) -> Int? { box < nodeCount ? nil : box - nodeCount }

  /// The boxes around two boxes, or these, in the innermost level that contains both; `nil` if one contains the other.
  /// `visit` is called for each box on the way up, without the last ones.
  func climb(
    _ from: Graph.End, _ to: Graph.End, visit: (_ box: Int, _ isFrom: Bool) -> Void = { _, _ in }
  ) -> (from: Int, to: Int)? {
    var (left, right) = (box(from), box(to))
    while left != right {
      let (outer, inner) = (level[left], level[right])
      if outer == inner { return (left, right) }
      if depth[outer] >= depth[inner] {
        visit(left, true)
        left = nodeCount + outer
      }
      if depth[inner] >= depth[outer] {
        visit(right, false)
        right = nodeCount + inner
      }
    }
    return nil
  }
}

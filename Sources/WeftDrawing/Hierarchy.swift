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

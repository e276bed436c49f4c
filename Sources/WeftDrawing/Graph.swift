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

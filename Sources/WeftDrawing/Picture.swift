/// Boxes with labels in nested groups, and arrows between them: what a drawing shows, without positions.
package struct Picture: Sendable, Hashable {
  /// A sign before a line, told apart by its shape.
  package enum Sign: String, Sendable, Hashable, CaseIterable {
    case condition, loop, retry, pool, duration, cached, skipped, cleanup
    /// Outcomes.
    case succeeded, failed, tolerated, cancelled, interrupted
    /// The contents of a group run in order, at the same time, or as a race; or come from another file.
    case sequence, parallel, race, file
  }

  /// A line of a label.
  package struct Line: Sendable, Hashable {
    package enum Style: Sendable, Hashable { case name, command, remark }

    package var text: String
    package var style: Style
    package var sign: Sign?

    package init(_ text: String, _ style: Style, sign: Sign? = nil) {
      self.text = text
      self.style = style
      self.sign = sign
    }
  }

  /// Properties of a box that change its shape.
  package struct Traits: OptionSet, Sendable, Hashable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// There are many of it: drawn as a stack.
    package static let many = Traits(rawValue: 1)
    package static let critical = Traits(rawValue: 2)
    package static let skipped = Traits(rawValue: 4)
    package static let cached = Traits(rawValue: 8)
    package static let cleanup = Traits(rawValue: 16)
    // The outcome of what has run; a page gives them colours.
    package static let succeeded = Traits(rawValue: 32)
    package static let failed = Traits(rawValue: 64)
    package static let tolerated = Traits(rawValue: 128)
    package static let cancelled = Traits(rawValue: 256)
    package static let interrupted = Traits(rawValue: 512)

    /// The outcomes, the worst first.
    static let outcomes: [Traits] = [.failed, .interrupted, .tolerated, .cancelled, .succeeded]
  }

  package struct Node: Sendable, Hashable {
    package var lines: [Line]
    /// The text that a viewer shows for the box under the pointer.
    package var description: String
    package var traits: Traits
    package var group: Int?

    package init(
      lines: [Line], description: String = "", traits: Traits = [], group: Int? = nil
    ) {
      self.lines = lines
      self.description = description
      self.traits = traits
      self.group = group
    }
  }

  package struct Group: Sendable, Hashable {
    package enum Frame: String, Sendable, Hashable { case sequence, parallel, race, file }

    package var lines: [Line]
    package var description: String
    package var traits: Traits
    package var frame: Frame
    /// The group around it, which has a smaller index.
    package var parent: Int?

    package init(
      lines: [Line], description: String = "", traits: Traits = [], frame: Frame = .sequence,
      parent: Int? = nil
    ) {
      self.lines = lines
      self.description = description
      self.traits = traits
      self.frame = frame
      self.parent = parent
    }
  }

  package struct Edge: Sendable, Hashable {
    package var from: Graph.End
    package var to: Graph.End
    /// Drawn with dashes.
    package var isWeak: Bool
    package var isCritical: Bool

    package init(
      from: Graph.End, to: Graph.End, isWeak: Bool = false, isCritical: Bool = false
    ) {
      self.from = from
      self.to = to
      self.isWeak = isWeak
      self.isCritical = isCritical
    }
  }

  package var title: String
  /// Lines below the title.
  package var summary: [String]
  package var nodes: [Node]
  package var groups: [Group]
  package var edges: [Edge]

  package init(
    title: String, summary: [String] = [], nodes: [Node] = [], groups: [Group] = [],
    edges: [Edge] = []
  ) {
    self.title = title
    self.summary = summary
    self.nodes = nodes
    self.groups = groups
    self.edges = edges
  }

  /// The graph of its boxes, which are as large as their labels.
  package var graph: Graph {
    Graph(
      nodes: nodes.map { Graph.Node(size: LabelMetrics.size(of: $0), group: $0.group) },
      groups: groups.map { group in
        Graph.Group(
          title: LabelMetrics.titleSize(of: group), parent: group.parent,
          margin: group.traits.contains(.many) ? LabelMetrics.stack : 0)
      },
      edges: edges.map { Graph.Edge(from: $0.from, to: $0.to) })
  }
}

/// The sizes of labels and what is around them, in pixels.
enum LabelMetrics {
  static let horizontal = 12
  static let vertical = 9
  /// The visible part of the boxes below the first of a stack.
  static let stack = 8
  static let sign = 10
  private static let signGap = 5
  private static let narrowest = 72

  static func size(of node: Picture.Node) -> Size {
    var size = area(of: node.lines)
    // Neighbours of similar width look better with the same.
    size.width = max((size.width + 15) / 16 * 16, narrowest)
    if node.traits.contains(.many) {
      size.width += stack
      size.height += stack
    }
    return size
  }

  static func titleSize(of group: Picture.Group) -> Size {
    var size = area(of: group.lines)
    size.height += 5
    return size
  }

  private static func area(of lines: [Picture.Line]) -> Size {
    var size = Size(width: 0, height: 2 * vertical)
    for line in lines {
      size.width = max(size.width, indent(of: line) + width(of: line))
      size.height += height(of: line.style)
    }
    size.width += 2 * horizontal
    return size
  }

  /// The distance of the text from the left of its line.
  static func indent(of line: Picture.Line) -> Int { line.sign == nil ? 0 : sign + signGap }

  static func width(of line: Picture.Line) -> Int {
    TextWidth.pixels(line.text, font(of: line.style), size: size(of: line.style))
  }

  static func height(of style: Picture.Line.Style) -> Int { style == .name ? 18 : 16 }

  static func size(of style: Picture.Line.Style) -> Int { style == .name ? 13 : 11 }

  private static func font(of style: Picture.Line.Style) -> TextWidth.Font {
    switch style {
    case .name: .bold
    case .command: .monospaced
    case .remark: .sans
    }
  }
}

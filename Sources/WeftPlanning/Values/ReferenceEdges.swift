import WeftDefinition
import WeftDiagnostics
import WeftJSON

/// What nodes wait for because an expression of theirs reads it.
struct ReferenceEdges: Sendable {
  struct Edge: Sendable {
    /// The step, or the end of the group, that is read.
    var target: Int32
    var place: TextPart
  }

  private var edges: [Int32: [Edge]] = [:]

  /// In the order in which they were found; a target may be there several times.
  subscript(node: Plan.NodeIndex) -> [Edge] {
    edges.isEmpty ? [] : edges[Int32(node), default: []]
  }

  mutating func insert(_ target: Plan.NodeIndex, of node: Plan.NodeIndex, at place: TextPart) {
    edges[Int32(node), default: []].append(Edge(target: Int32(target), place: place))
  }
}

/// A part of a text of the workflow.
package struct TextPart: Sendable, Hashable {
  /// The whole text as a string of the file, with its quotes; `nil` of a workflow built in Swift.
  var string: SourceRange?
  /// Offsets of UTF-8 in what the text says.
  var part: SourceRange

  /// Where it stands; worked out when it is to be told.
  func range(in file: SourceFile?) -> SourceRange? {
    guard let file, let string else { return nil }
    return file.range(of: part, inStringAt: string)
  }
}

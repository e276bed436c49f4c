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

  private var edges: [Edge] = []
  /// The nodes that have them, until they are sorted.
  private var sources: [Int32] = []
  /// Where the edges of each node begin, and where the last end; empty if there are none.
  private var starts: [Int32] = []

  /// In the order in which they were found; a target may be there several times.
  subscript(node: Plan.NodeIndex) -> ArraySlice<Edge> {
    starts.isEmpty ? [] : edges[Int(starts[node])..<Int(starts[node + 1])]
  }

  mutating func insert(_ target: Plan.NodeIndex, of node: Plan.NodeIndex, at place: TextPart) {
    edges.append(Edge(target: Int32(target), place: place))
    sources.append(Int32(node))
  }

  /// All edges have been inserted: puts those of each node together, by counting.
  mutating func sort(nodeCount: Int) {
    guard !edges.isEmpty else { return }
    starts = Array(repeating: 0, count: nodeCount + 1)
    for node in sources { starts[Int(node) + 1] += 1 }
    for node in 0..<nodeCount { starts[node + 1] += starts[node] }
    var next = starts
    var sorted = edges
    for (edge, node) in zip(edges, sources) {
      sorted[Int(next[Int(node)])] = edge
      next[Int(node)] += 1
    }
    edges = sorted
    sources = []
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

import WeftDefinition
import WeftDiagnostics
import WeftJSON

/// The edges from nodes to what their expressions read.
struct ReferenceEdges: Sendable {
  struct Edge: Sendable {
    /// The step, or the end of the group, that is read.
    var target: Int32
    var place: TextPart
  }

  private var edges: [Edge] = []
  /// The node of each edge, until they are sorted.
  private var sources: [Int32] = []
  /// The start of each node's edges, and the end of the last; empty if there are none.
  private var starts: [Int32] = []

  /// The edges in the order in which they were found; a target may occur several times.
  subscript(node: Plan.NodeIndex) -> ArraySlice<Edge> {
    starts.isEmpty ? [] : edges[Int(starts[node])..<Int(starts[node + 1])]
  }

  mutating func insert(_ target: Plan.NodeIndex, of node: Plan.NodeIndex, at place: TextPart) {
    edges.append(Edge(target: Int32(target), place: place))
    sources.append(Int32(node))
  }

  /// Groups the edges by node, with a counting sort, once all are inserted.
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

/// A part of a text in the workflow.
package struct TextPart: Sendable, Hashable {
  /// The range of the whole string in the file, including its quotes; `nil` for a workflow built in Swift.
  var string: SourceRange?
  /// UTF-8 offsets in the content of the string.
  var part: SourceRange

  /// The range in the file; computed only for messages.
  func range(in file: SourceFile?) -> SourceRange? {
    guard let file, let string else { return nil }
    return file.range(of: part, inStringAt: string)
  }
}

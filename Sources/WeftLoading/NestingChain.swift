import WeftDefinition
import WeftDiagnostics
import WeftPlatform

/// The files that are being read, each because the one before names it: the root first.
///
/// Decides that no file runs itself, and that not too many are inside each other.
struct NestingChain: Sendable {
  struct Hop: Sendable, Hashable {
    /// Where it lies; `nil` for a root that lies nowhere, which none can name.
    let file: ConfinedPath?
    /// What messages call it.
    let name: String
    /// Where the file before names it.
    let naming: Diagnostic.Place?
  }

  private(set) var hops: [Hop]

  init(root: ConfinedPath?, called name: String) {
    hops = [Hop(file: root, name: name, naming: nil)]
  }

  mutating func enter(_ hop: Hop) { hops.append(hop) }

  mutating func leave() { hops.removeLast() }

  /// Whether the innermost file may name another.
  ///
  /// - Parameter below: If that was read before, it and those inside it, where they are deepest.
  func check(_ next: Hop, above below: [String]) throws(NamingFault) {
    let all = hops + [next]
    if hops.contains(where: { $0.file == next.file }) {
      throw .runsItself(FileChain(hops: all))
    }
    let below = below.dropFirst()
    guard hops.count + below.count <= WorkflowLimits.nestedFiles else {
      throw .tooDeep(FileChain(hops: all, below: Array(below)))
    }
  }
}

/// How one file leads to another, for people.
struct FileChain: Sendable, Hashable, CustomStringConvertible {
  var hops: [NestingChain.Hop]
  /// Files that were read before; where each is named was not kept.
  var below: [String] = []

  var description: String { (hops.map(\.name) + below).joined(separator: " → ") }

  /// Each hop but the last, which is where the problem is told.
  var related: [Diagnostic.Related] {
    hops.dropLast().dropFirst().map {
      Diagnostic.Related(message: "\"\($0.name)\" is named here", place: $0.naming)
    }
  }
}

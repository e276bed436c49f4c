import WeftDefinition
import WeftDiagnostics
import WeftPlatform

/// The files that are being read, from the root on, each named by the one before it.
///
/// Rejects files that run themselves and files nested too deeply.
struct NestingChain: Sendable {
  struct Hop: Sendable, Hashable {
    /// The location of the file; `nil` for a root without a path, which no file can name.
    let file: ConfinedPath?
    /// The name shown in messages.
    let name: String
    /// The location at which the file before it names this one.
    let naming: Diagnostic.Place?
  }

  private(set) var hops: [Hop]

  init(root: ConfinedPath?, called name: String) {
    hops = [Hop(file: root, name: name, naming: nil)]
  }

  mutating func enter(_ hop: Hop) { hops.append(hop) }

  mutating func leave() { hops.removeLast() }

  /// Throws unless the innermost file may name this one.
  ///
  /// - Parameter below: The longest chain of files from it on, if it was read before.
  func check(_ next: Hop, above below: [String]) throws(NamingError) {
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

/// The chain of files from one to another, for messages.
struct FileChain: Sendable, Hashable, CustomStringConvertible {
  var hops: [NestingChain.Hop]
  /// Files that were read before; the locations that name them are not kept.
  var below: [String] = []

  var description: String { (hops.map(\.name) + below).joined(separator: " → ") }

  /// Each hop but the last, at which the problem itself is reported.
  var related: [Diagnostic.Related] {
    hops.dropLast().dropFirst().map {
      Diagnostic.Related(message: "\"\($0.name)\" is named here", place: $0.naming)
    }
  }
}

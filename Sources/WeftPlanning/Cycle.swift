import WeftDefinition
import WeftDiagnostics

/// Steps that wait for each other, reported hop by hop.
struct Cycle: Sendable, Hashable {
  /// The reason why one step waits for the next.
  enum Reason: Sendable, Hashable {
    case need
    case log
    /// An expression reads it.
    case reference
    /// It is the next in a `steps` list.
    case order
    /// A member of a group starts after the group starts.
    case membership
    /// A group ends after all its members.
    case groupEnd
  }

  struct Hop: Sendable, Hashable {
    var from: String
    var to: String
    var reason: Reason
    var range: SourceRange?

    var text: String {
      switch reason {
      case .need: "\"\(from)\" needs \"\(to)\""
      case .log: "\"\(from)\" reads the log of \"\(to)\""
      case .reference: "\"\(from)\" reads \"\(to)\" in an expression"
      case .order: "\"\(from)\" comes after \"\(to)\" in this list"
      case .membership: "\"\(from)\" is inside group \"\(to)\""
      case .groupEnd: "\"\(from)\" ends when \"\(to)\" has ended"
      }
    }
  }

  /// The first is a need, or the reading of a log or a value: every cycle has one.
  let hops: [Hop]
  /// The file that contains it.
  let file: Int

  var problem: PlacedProblem { PlacedProblem(.cycle(self), hops.first?.range, in: file) }
}

extension Cycle {
  /// The number of hops shown at each end; the middle of longer cycles is elided.
  private static let shown = (first: 5, last: 4)

  private var isElided: Bool { hops.count > Cycle.shown.first + Cycle.shown.last + 1 }
  private var hiddenCount: Int { hops.count - Cycle.shown.first - Cycle.shown.last }

  /// `a → b → a`.
  var path: String {
    var stations = hops.map(\.from)
    if isElided {
      let middle = Cycle.shown.first + 1..<hops.count - Cycle.shown.last + 1
      stations.replaceSubrange(middle, with: ["… \(middle.count) more …"])
    }
    return (stations + hops.prefix(1).map(\.from)).joined(separator: " → ")
  }

  /// One note for each hop that is shown.
  var notes: [(text: String, range: SourceRange?)] {
    let notes = hops.map { (text: $0.text, range: $0.range) }
    guard isElided else { return notes }
    return notes.prefix(Cycle.shown.first) + [("… and so on, \(hiddenCount) more times …", nil)]
      + notes.suffix(Cycle.shown.last)
  }

  var help: String {
    let reasons = Set(hops.map(\.reason))
    let noun = reasons.contains(.need) || !reasons.contains(.reference) ? "need" : "reference"
    if let hop = hops.first(where: { $0.reason == .order }) {
      return "a member of \"steps\" waits for the one before it: move \"\(hop.from)\", give it "
        + "\"needs\" of its own, or remove one of the \(noun)s"
    }
    if let hop = hops.first(where: { $0.reason == .membership }) {
      return "all in \"\(hop.to)\" waits for what \"\(hop.to)\" waits for: move \"\(hop.from)\" "
        + "out of it, or remove one of the \(noun)s"
    }
    if reasons.contains(.reference) {
      return "a step waits for what its expressions read: remove one of the references"
        + (reasons.contains(.need) ? ", or one of the needs" : "")
    }
    return reasons.contains(.log)
      ? "remove one of the needs, or read the log of another step" : "remove one of the needs"
  }
}

/// A regular expression that a text is to match somewhere, as the keyword `pattern` of JSON Schema has
/// it; `^…$` for the whole text.
///
/// The syntax is that of ECMA-262 with the `u` flag, on Unicode scalars, without looking around and
/// referring back: so no text takes longer than the product of its length and the pattern's.
public struct Pattern: Sendable {
  public let text: String
  private let program: PatternProgram

  /// - Throws: Why the text is no pattern, and where.
  public init(_ text: String) throws(PatternFault) {
    self.text = text
    program = try PatternProgram(PatternParser.parse(text), of: text)
  }

  /// Whether some part of `text` matches.
  public func matches(in text: String) -> Bool {
    PatternMatcher(program).finds(in: text)
  }
}

extension Pattern {
  /// Whether every text that matches as a whole is made of these scalars, with one of `first` at its beginning, and
  /// nothing else matches.
  package func confines(to allowed: Set<Unicode.Scalar>, first: Set<Unicode.Scalar>) -> Bool {
    guard let node = try? PatternParser.parse(text), node.isAnchored else { return false }
    return node.isMade(of: allowed) && node.begins(with: first)
  }
}

extension PatternNode {
  /// Whether it matches whole texts only.
  fileprivate var isAnchored: Bool {
    switch self {
    case .sequence(let nodes):
      nodes.first == .assertion(.start) && nodes.last == .assertion(.end)
        || nodes.count == 1 && nodes[0].isAnchored
    case .alternatives(let nodes): nodes.allSatisfy(\.isAnchored)
    case .scalars, .assertion, .repetition: false
    }
  }

  fileprivate func isMade(of allowed: Set<Unicode.Scalar>) -> Bool {
    switch self {
    case .scalars(let set): set.isMade(of: allowed)
    case .assertion: true
    case .sequence(let nodes), .alternatives(let nodes): nodes.allSatisfy { $0.isMade(of: allowed) }
    case .repetition(let node, _, _): node.isMade(of: allowed)
    }
  }

  /// Whether what it matches begins with one of these, or is empty.
  fileprivate func begins(with allowed: Set<Unicode.Scalar>) -> Bool {
    switch self {
    case .scalars(let set): return set.isMade(of: allowed)
    case .assertion: return true
    case .alternatives(let nodes): return nodes.allSatisfy { $0.begins(with: allowed) }
    case .repetition(let node, _, _): return node.begins(with: allowed)
    case .sequence(let nodes):
      for node in nodes {
        if !node.begins(with: allowed) { return false }
        if !node.mayBeEmpty { return true }
      }
      return true
    }
  }

  private var mayBeEmpty: Bool {
    switch self {
    case .scalars: false
    case .assertion: true
    case .sequence(let nodes): nodes.allSatisfy(\.mayBeEmpty)
    case .alternatives(let nodes): nodes.contains(where: \.mayBeEmpty)
    case .repetition(let node, let least, _): least == 0 || node.mayBeEmpty
    }
  }
}

extension Pattern: Hashable {
  public static func == (left: Pattern, right: Pattern) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}

extension Pattern: ExpressibleByStringLiteral {
  /// - Precondition: The literal is a pattern.
  public init(stringLiteral text: String) {
    do { try self.init(text) } catch {
      preconditionFailure("\(quoted(text)) is not a pattern: \(error.message)")
    }
  }
}

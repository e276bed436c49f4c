import WeftDiagnostics

/// A regular expression that matches any part of a text, like the keyword `pattern` of JSON Schema; `^…$` matches
/// the whole text.
///
/// The syntax is that of ECMA-262 with the `u` flag, on Unicode scalars, without lookaround and backreferences.
/// Matching therefore takes no longer than the product of the lengths of the text and the pattern.
public struct Pattern: Sendable {
  public let text: String
  private let program: PatternProgram

  /// - Throws: The reason why the text is not a pattern, and its location.
  public init(_ text: String) throws(PatternError) {
    self.text = text
    program = try PatternProgram(PatternParser.parse(text), of: text)
  }

  /// Whether some part of `text` matches.
  public func matches(in text: String) -> Bool {
    PatternMatcher(program).finds(in: text)
  }
}

extension Pattern {
  /// Whether it only matches whole texts that consist of `allowed` scalars and begin with one of `first`.
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

  /// Whether its matches begin with one of these scalars, or are empty.
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
  /// - Precondition: The literal is a valid pattern.
  public init(stringLiteral text: String) {
    do { try self.init(text) } catch {
      preconditionFailure("\(quoted(text)) is not a pattern: \(error.message)")
    }
  }
}

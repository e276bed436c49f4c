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

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
  /// Whether every text in which it matches belongs to the language.
  ///
  /// It is decided by a walk through the pairs of an instruction and a state. Word boundaries are taken to hold, so
  /// that a pattern with them may be refused although it is confined.
  package func isConfined(to language: TextLanguage) -> Bool {
    program.isConfined(to: language)
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

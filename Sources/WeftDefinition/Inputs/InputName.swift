/// The name of an input: `[A-Za-z_][A-Za-z0-9_-]{0,254}`.
///
/// Names are case-insensitive, as they are in expressions.
public struct InputName: Sendable {
  /// The original spelling.
  public let text: String

  /// `nil` if `text` is not a valid name.
  public init?(_ text: String) {
    guard StepID.isValid(text.utf8) else { return nil }
    self.text = text
  }

  /// The spelling by which names are compared.
  package var folded: String { InputName.folded(text) }

  /// Folds ASCII letters only, because a name is ASCII.
  package static func folded(_ text: String) -> String {
    String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}

extension InputName: Hashable {
  public static func == (left: InputName, right: InputName) -> Bool { left.folded == right.folded }

  public func hash(into hasher: inout Hasher) { hasher.combine(folded) }
}

extension InputName: ExpressibleByStringLiteral {
  /// - Precondition: The literal is a valid name.
  public init(stringLiteral text: String) {
    guard let name = InputName(text) else {
      preconditionFailure("\"\(text)\" is not the name of an input: [A-Za-z_][A-Za-z0-9_-]{0,254}")
    }
    self = name
  }
}

extension InputName: CustomStringConvertible {
  public var description: String { text }
}

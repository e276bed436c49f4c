/// The name of an input: `[A-Za-z_][A-Za-z0-9_-]{0,254}`.
///
/// Two names that differ only in upper and lower case are the same name, as they are in expressions.
public struct InputName: Sendable {
  /// As it was written.
  public let text: String

  /// `nil` if `text` is no such name.
  public init?(_ text: String) {
    guard StepID.isValid(text.utf8) else { return nil }
    self.text = text
  }

  /// What makes it the same as another.
  package var folded: String { InputName.folded(text) }

  /// A name is ASCII, and what is not is none.
  package static func folded(_ text: String) -> String {
    String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}

extension InputName: Hashable {
  public static func == (left: InputName, right: InputName) -> Bool { left.folded == right.folded }

  public func hash(into hasher: inout Hasher) { hasher.combine(folded) }
}

extension InputName: ExpressibleByStringLiteral {
  /// - Precondition: The literal is such a name.
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

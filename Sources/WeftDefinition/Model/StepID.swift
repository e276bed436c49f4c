/// The name of a step, unique in its file: `[A-Za-z_][A-Za-z0-9_-]{0,99}`.
public struct StepID: Sendable, Hashable {
  public let text: String

  /// `nil` if `text` is not a valid id.
  public init?(_ text: String) {
    guard StepID.isValid(text.utf8) else { return nil }
    self.text = text
  }

  /// The rule on bytes, for a decoder that has not made a string yet.
  package static func isValid(_ bytes: some Collection<UInt8>) -> Bool {
    guard let first = bytes.first, isLetter(first) || first == UInt8(ascii: "_") else {
      return false
    }
    return bytes.count <= longest
      && bytes.allSatisfy {
        isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
      }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}

extension StepID: ExpressibleByStringLiteral {
  /// - Precondition: The literal is a valid id.
  public init(stringLiteral text: String) {
    guard let id = StepID(text) else {
      preconditionFailure("\"\(text)\" is not an id: [A-Za-z_][A-Za-z0-9_-]{0,99}")
    }
    self = id
  }
}

extension StepID: CustomStringConvertible {
  public var description: String { text }
}

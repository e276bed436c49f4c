/// A random number of 128 bits that one engine gives to every program of its run, in their environments, and to
/// nothing else.
///
/// It is kept in the run's record, which only its owner can read. By it `weft resume` and `weft reap` know what an
/// engine has started; a name that anybody can put into an environment proves nothing.
package struct EngineCookie: Hashable, Sendable {
  /// 32 hexadecimal digits.
  package let text: String

  /// Draws a new one.
  package init() {
    text = (0..<2).map { _ in
      let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// - Parameter text: `nil` for anything but 32 lower-case hexadecimal digits.
  package init?(_ text: String) {
    guard text.utf8.count == 32, text.utf8.allSatisfy(\.isHexadecimalDigit) else { return nil }
    self.text = text
  }

  /// A hash of it, for names that everybody can read: 16 hexadecimal digits.
  package var mark: String {
    String(SHA256.text(of: SHA256.digest(of: Array(text.utf8))).prefix(16))
  }
}

/// The form of a run's id: `20261120-233012-4f2a9c`.
package enum RunName {
  /// Whether a text is an id: nothing that could lead out of a directory.
  package static func isWellFormed(_ text: some StringProtocol) -> Bool {
    text.utf8.count == shape.count && isBeginning(text)
  }

  /// Whether a text has the form of an id as far as it goes.
  package static func isBeginning(_ text: some StringProtocol) -> Bool {
    text.utf8.count <= shape.count
      && zip(text.utf8, shape).allSatisfy { byte, wanted in
        switch wanted {
        case UInt8(ascii: "d"): byte.isDecimalDigit
        case UInt8(ascii: "x"): byte.isHexadecimalDigit
        default: byte == wanted
        }
      }
  }

  package static let bytes = shape.count
  private static let shape = Array("dddddddd-dddddd-xxxxxx".utf8)
}

extension UInt8 {
  fileprivate var isDecimalDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
  /// In lower case.
  fileprivate var isHexadecimalDigit: Bool {
    isDecimalDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
  }
}

/// A random number of 128 bits that one engine puts into the environment of every program of its run, and nowhere else.
///
/// It is kept in the run's journal, which only its owner can read. `weft resume` and `weft reap` use it to recognize
/// the processes that an engine has started; a name that any process can put into an environment proves nothing.
package struct EngineCookie: Hashable, Sendable {
  /// 32 hexadecimal digits.
  package let text: String

  /// Creates a new random cookie.
  package init() {
    text = (0..<2).map { _ in
      let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Parses a cookie; `nil` for anything but 32 lower-case hexadecimal digits.
  package init?(_ text: String) {
    guard text.utf8.count == 32, text.utf8.allSatisfy(\.isHexadecimalDigit) else { return nil }
    self.text = text
  }

  /// A hash of the cookie, for names that are readable by everyone: 16 hexadecimal digits.
  package var mark: String {
    String(SHA256.text(of: SHA256.digest(of: Array(text.utf8))).prefix(16))
  }
}

/// The form of a run's id: `20261120-233012-4f2a9c`.
package enum RunName {
  /// Whether a text is an id: it then contains nothing that could lead out of a directory.
  package static func isWellFormed(_ text: some StringProtocol) -> Bool {
    text.utf8.count == shape.count && isBeginning(text)
  }

  /// Whether a text is the beginning of an id.
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
  /// Whether it is a hexadecimal digit in lower case.
  fileprivate var isHexadecimalDigit: Bool {
    isDecimalDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
  }
}

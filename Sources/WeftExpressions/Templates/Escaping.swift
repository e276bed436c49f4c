/// The context for which the values of a template are escaped.
package enum Escaping: Sendable, Hashable, CaseIterable {
  /// No escaping.
  case plain
  /// Part of a URL path: everything but the unreserved characters of RFC 3986 §2.3 is percent-encoded, including the
  /// slash, and no value may make a segment `.` or `..` (§5.2.4).
  case urlPath
  /// Part of a URL query: everything but unreserved characters is percent-encoded.
  case urlQuery
  /// A header value: line ends and NUL are rejected (RFC 9110 §5.5).
  case header
  /// JSON text: within quotes, the value becomes part of the string; elsewhere it is written as JSON, including `null`,
  /// arrays and objects.
  case jsonBody
  /// A file pattern: the value is matched literally.
  case filePattern
}

enum PercentEncoding {
  static func encoded(_ text: String) -> String {
    guard !text.utf8.allSatisfy(isUnreserved) else { return text }
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      if isUnreserved(byte) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Whether the byte is an unreserved character (RFC 3986 §2.3).
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }
}

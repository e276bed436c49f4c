/// For which place the values of a template are written.
package enum Escaping: Sendable, Hashable, CaseIterable {
  /// As they are.
  case plain
  /// A part of the path of a URL: all but the unreserved characters of RFC 3986 §2.3 is
  /// percent-encoded, the slash too, and no segment may become `.` or `..` by a value (§5.2.4).
  case urlPath
  /// A part of the query of a URL: encoded likewise.
  case urlQuery
  /// The value of a header: line ends and NUL are refused (RFC 9110 §5.5).
  case header
  /// A JSON text: inside quotes the value becomes a part of the string, elsewhere it is written as
  /// JSON, also `null`, arrays and objects.
  case jsonBody
  /// A pattern of files: nothing of the value means anything but itself.
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

  /// RFC 3986 §2.3.
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

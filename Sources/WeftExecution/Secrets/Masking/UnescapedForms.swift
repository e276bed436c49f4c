/// A value with its backslash escapes replaced, as `echo` of many shells, `printf %b` and JSON readers do. Text
/// such as `-----BEGIN KEY-----\nMIIE…` then has several lines.
enum UnescapedForms {
  static func all(of value: [UInt8]) -> [[UInt8]] {
    guard value.contains(backslash) else { return [] }
    let forms = [done(value, byShell), done(value, byJSON)]
    return forms[0] == forms[1] ? [forms[0]] : forms
  }

  private static let backslash = UInt8(ascii: "\\")

  /// POSIX `echo`, XSI; without octal numbers.
  private static let byShell: [UInt8: UInt8] = [
    UInt8(ascii: "a"): 0x07, UInt8(ascii: "b"): 0x08, UInt8(ascii: "t"): 0x09,
    UInt8(ascii: "n"): 0x0A, UInt8(ascii: "v"): 0x0B, UInt8(ascii: "f"): 0x0C,
    UInt8(ascii: "r"): 0x0D, backslash: backslash,
  ]

  /// RFC 8259 §7; without code points.
  private static let byJSON: [UInt8: UInt8] = [
    UInt8(ascii: "b"): 0x08, UInt8(ascii: "t"): 0x09, UInt8(ascii: "n"): 0x0A,
    UInt8(ascii: "f"): 0x0C, UInt8(ascii: "r"): 0x0D, backslash: backslash,
    UInt8(ascii: "/"): UInt8(ascii: "/"), UInt8(ascii: "\""): UInt8(ascii: "\""),
  ]

  /// Leaves invalid escapes unchanged.
  private static func done(_ value: [UInt8], _ meanings: [UInt8: UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = value[...]
    while let byte = rest.popFirst() {
      if byte == backslash, let next = rest.first, let meaning = meanings[next] {
        result.append(meaning)
        rest.removeFirst()
      } else {
        result.append(byte)
      }
    }
    return result
  }
}

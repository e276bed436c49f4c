/// Percent-encoding, such as `%20` (RFC 3986 §2.1).
public enum PercentEncoding {
  /// Encodes a value as one path segment. Slashes are encoded too, and so are `.` and `..`, which would otherwise act
  /// as dot segments.
  public static func segment(_ value: String) -> String {
    if value == "." { return "%2E" }
    if value == ".." { return "%2E%2E" }
    return encoded(value, keeping: isUnreserved)
  }

  /// Encodes a name or value of a query.
  public static func queryValue(_ value: String) -> String {
    encoded(value, keeping: isUnreserved)
  }

  /// Encodes fields as `name=value&name=value`.
  public static func query(_ fields: [FormField]) -> String {
    fields.map { queryValue($0.name) + "=" + queryValue($0.value) }.joined(separator: "&")
  }

  /// Encodes a form body as browsers do: a space becomes `+`.
  static func form(_ fields: [FormField]) -> String {
    let encode = { (text: String) in
      encoded(text, keeping: { isUnreserved($0) || $0 == UInt8(ascii: " ") })
        .split(separator: " ", omittingEmptySubsequences: false).joined(separator: "+")
    }
    return fields.map { encode($0.name) + "=" + encode($0.value) }.joined(separator: "&")
  }

  static func isUnreserved(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || "-._~".utf8.contains(byte)
  }

  static func inPath(_ byte: UInt8) -> Bool {
    isUnreserved(byte) || "/!$&'()*+,;=:@".utf8.contains(byte)
  }

  static func inQuery(_ byte: UInt8) -> Bool { inPath(byte) || byte == UInt8(ascii: "?") }

  /// Encodes characters that are not allowed here. Existing escapes stay as they are.
  static func completed(
    _ text: some StringProtocol, keeping isKept: (UInt8) -> Bool
  ) -> String {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      let isEscape =
        byte == UInt8(ascii: "%") && index + 2 < bytes.count
        && ASCII.hexValue(bytes[index + 1]) != nil && ASCII.hexValue(bytes[index + 2]) != nil
      if isEscape || isKept(byte) { result.append(byte) } else { append(byte, to: &result) }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Returns the decoded text. A `%` that starts no escape stays as it is; if the result is not UTF-8, the text is
  /// returned unchanged.
  static func decoded(_ text: some StringProtocol) -> String {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let high = ASCII.hexValue(bytes[index + 1]), let low = ASCII.hexValue(bytes[index + 2])
      {
        result.append(high << 4 | low)
        index += 3
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return String(validating: result, as: UTF8.self) ?? String(text)
  }

  private static func encoded(_ text: String, keeping isKept: (UInt8) -> Bool) -> String {
    var result: [UInt8] = []
    for byte in text.utf8 {
      if isKept(byte) { result.append(byte) } else { append(byte, to: &result) }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func append(_ byte: UInt8, to result: inout [UInt8]) {
    let digits = Array("0123456789ABCDEF".utf8)
    result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }
}

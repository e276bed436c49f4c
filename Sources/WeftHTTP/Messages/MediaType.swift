/// `type/subtype; parameter=value` (RFC 9110 §8.3.1), in lower case except for the values.
public struct MediaType: Sendable, Hashable {
  /// The part before the slash.
  public let type: String
  /// The part after the slash.
  public let subtype: String
  /// The values by name; the first of several equal names counts.
  public let parameters: [String: String]

  /// `nil` if the text is not a media type. Malformed parameters are ignored.
  public init?(_ text: String) {
    var parts = ParameterText.split(text)
    let names = parts.removeFirst().split(separator: "/", omittingEmptySubsequences: false)
    guard names.count == 2, names.allSatisfy({ ASCII.isToken($0) }) else { return nil }
    type = ASCII.lowercased(names[0])
    subtype = ASCII.lowercased(names[1])
    parameters = ParameterText.parameters(of: parts)
  }

  /// Whether it is JSON or a JSON-based format.
  public var isJSON: Bool {
    subtype == "json" && (type == "application" || type == "text") || subtype.hasSuffix("+json")
  }
}

/// `; name=value; name="quoted value"`, the syntax of several headers.
enum ParameterText {
  /// Splits at separators outside quotes, and trims each piece. The result is never empty.
  static func split(_ text: some StringProtocol, at separator: UInt8 = UInt8(ascii: ";"))
    -> [String]
  {
    var pieces: [[UInt8]] = [[]]
    var isQuoted = false
    var isEscaped = false
    for byte in text.utf8 {
      if byte == separator, !isQuoted {
        pieces.append([])
        continue
      }
      pieces[pieces.count - 1].append(byte)
      if !isEscaped, byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
    }
    return pieces.map { ASCII.trimmed(String(decoding: $0, as: UTF8.self)) }
  }

  static func parameters(of pieces: [String]) -> [String: String] {
    var found: [String: String] = [:]
    for piece in pieces {
      let halves = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard halves.count == 2 else { continue }
      let name = ASCII.lowercased(ASCII.trimmed(halves[0]))
      guard ASCII.isToken(name), found[name] == nil else { continue }
      found[name] = unquoted(ASCII.trimmed(halves[1]))
    }
    return found
  }

  /// Returns the content of a quoted string; other text as it is.
  static func unquoted(_ text: String) -> String {
    guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
    var bytes: [UInt8] = []
    var isEscaped = false
    for byte in text.utf8.dropFirst().dropLast() {
      isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      if !isEscaped { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The reason why bytes cannot be decoded as text.
public enum BodyTextError: Error, Sendable, Hashable {
  /// `offset` counts from 0 and includes a byte order mark.
  case invalid(charset: String, offset: Int)
  case unknownCharset(String)

  /// The error as a sentence without a full stop.
  public var message: String {
    switch self {
    case .invalid(let charset, let offset):
      "the body is not \(charset): invalid byte at offset \(offset)"
    case .unknownCharset(let name): "the body has the charset \"\(name)\", which is not supported"
    }
  }

  /// The suggested remedy, if there is one.
  public var help: String? {
    switch self {
    case .invalid: nil
    case .unknownCharset: "supported charsets: \(BodyText.knownCharsets)"
    }
  }
}

/// Decodes bytes to text.
package enum BodyText {
  static let knownCharsets =
    "utf-8, utf-16, utf-16le, utf-16be, iso-8859-1, windows-1252 and us-ascii"

  /// Returns the text without a byte order mark. Invalid bytes are an error; none are replaced.
  package static func decode(_ bytes: [UInt8], charset: String?) throws(BodyTextError) -> String {
    switch ASCII.lowercased(charset ?? "utf-8") {
    case "utf-8", "utf8": return try utf8(bytes)
    case "us-ascii", "ascii": return try ascii(bytes)
    case "iso-8859-1", "latin1", "iso_8859-1": return latin1(bytes)
    case "windows-1252", "cp1252": return try windows1252(bytes)
    case "utf-16": return try utf16(bytes, order: byteOrder(of: bytes) ?? .big)
    case "utf-16le": return try utf16(bytes, order: .little)
    case "utf-16be": return try utf16(bytes, order: .big)
    default: throw .unknownCharset(charset ?? "")
    }
  }

  package static func latin1(_ bytes: some Sequence<UInt8>) -> String {
    var text = String.UnicodeScalarView()
    for byte in bytes { text.append(Unicode.Scalar(byte)) }
    return String(text)
  }

  private static func utf8(_ bytes: [UInt8]) throws(BodyTextError) -> String {
    let marked = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    if let text = String(validating: bytes.dropFirst(marked ? 3 : 0), as: UTF8.self) { return text }
    throw .invalid(charset: "UTF-8", offset: firstInvalid(bytes))
  }

  /// Returns the offset of the first decoding error.
  private static func firstInvalid(_ bytes: [UInt8]) -> Int {
    var decoder = Unicode.UTF8.ForwardParser()
    var source = bytes.makeIterator()
    var offset = 0
    while case .valid(let scalar) = decoder.parseScalar(from: &source) { offset += scalar.count }
    return offset
  }

  private static func ascii(_ bytes: [UInt8]) throws(BodyTextError) -> String {
    if let offset = bytes.firstIndex(where: { $0 >= 0x80 }) {
      throw .invalid(charset: "ASCII", offset: offset)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private enum ByteOrder { case big, little }

  private static func byteOrder(of bytes: [UInt8]) -> ByteOrder? {
    if bytes.starts(with: [0xFE, 0xFF]) { return .big }
    return bytes.starts(with: [0xFF, 0xFE]) ? .little : nil
  }

  private static func utf16(_ bytes: [UInt8], order: ByteOrder) throws(BodyTextError) -> String {
    guard bytes.count.isMultiple(of: 2) else {
      throw .invalid(charset: "UTF-16", offset: bytes.count - 1)
    }
    var units = stride(from: 0, to: bytes.count, by: 2).map { at in
      let (high, low) =
        order == .big ? (bytes[at], bytes[at + 1]) : (bytes[at + 1], bytes[at])
      return UInt16(high) << 8 | UInt16(low)
    }
    if units.first == 0xFEFF { units.removeFirst() }
    if let text = String(validating: units, as: UTF16.self) { return text }
    let skipped = bytes.count / 2 - units.count
    throw .invalid(charset: "UTF-16", offset: 2 * (skipped + firstLoneSurrogate(units)))
  }

  private static func firstLoneSurrogate(_ units: [UInt16]) -> Int {
    var index = 0
    while index < units.count {
      guard UTF16.isSurrogate(units[index]) else {
        index += 1
        continue
      }
      guard UTF16.isLeadSurrogate(units[index]), index + 1 < units.count,
        UTF16.isTrailSurrogate(units[index + 1])
      else { return index }
      index += 2
    }
    return index
  }

  /// 0x80 to 0x9F of the WHATWG index for windows-1252, which has no gaps.
  private static let windowsScalars: [UInt16] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0x8D, 0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
  ]

  private static func windows1252(_ bytes: [UInt8]) throws(BodyTextError) -> String {
    let units = bytes.map { byte in
      (0x80...0x9F).contains(byte) ? windowsScalars[Int(byte) - 0x80] : UInt16(byte)
    }
    return String(decoding: units, as: UTF16.self)
  }
}

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

/// One header line of a message.
public struct HTTPHeader: Sendable, Hashable {
  /// The name as written; compared case-insensitively.
  public let name: String
  /// In responses, without surrounding spaces.
  public let value: String
  /// Whether the value must not be shown, nor sent to another origin after a redirect.
  public let isSecret: Bool

  /// Creates a header. It is validated when a request is built from it.
  public init(_ name: String, _ value: String, isSecret: Bool = false) {
    self.name = name
    self.value = value
    self.isSecret = isSecret
  }
}

/// Header lines in message order. Names are compared case-insensitively (ASCII).
public struct HTTPHeaders: Sendable, Hashable {
  /// All lines, in order.
  public private(set) var fields: [HTTPHeader]

  /// Creates a collection of the given lines.
  public init(_ fields: [HTTPHeader] = []) { self.fields = fields }

  /// The first value of the header.
  public subscript(name: String) -> String? {
    fields.first { ASCII.isSame($0.name, name) }?.value
  }

  /// The values of all lines of the header.
  public func values(of name: String) -> [String] {
    fields.lazy.filter { ASCII.isSame($0.name, name) }.map(\.value)
  }

  /// Whether the header is present.
  public func contains(_ name: String) -> Bool {
    fields.contains { ASCII.isSame($0.name, name) }
  }

  /// Returns the elements of a list header, over all its lines (RFC 9110 §5.6.1). Not for headers whose elements may
  /// contain commas in quotes.
  public func list(of name: String) -> [String] {
    values(of: name).flatMap { ASCII.list($0) }
  }

  /// Adds a line at the end.
  public mutating func add(_ header: HTTPHeader) { fields.append(header) }

  /// Adds a line at the end, unless the header is present.
  public mutating func addIfMissing(_ header: HTTPHeader) {
    if !contains(header.name) { fields.append(header) }
  }

  /// Removes all lines for which `condition` holds.
  public mutating func removeAll(where condition: (HTTPHeader) -> Bool) {
    fields.removeAll(where: condition)
  }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  /// Creates lines in the order of the literal; names may repeat.
  public init(dictionaryLiteral fields: (String, String)...) {
    self.init(fields.map { HTTPHeader($0, $1) })
  }
}

/// Locale-independent operations on protocol text, which is ASCII.
package enum ASCII {
  package static func isSame(_ one: String, _ other: String) -> Bool {
    isSame(one.utf8, other.utf8)
  }

  package static func isSame(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool
  {
    guard one.count == other.count else { return false }
    var others = other.makeIterator()
    for byte in one {
      guard let its = others.next(), lowercased(byte) == lowercased(its) else { return false }
    }
    return true
  }

  package static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  package static func lowercased(_ text: some StringProtocol) -> String {
    String(decoding: text.utf8.map(lowercased), as: UTF8.self)
  }

  /// Returns the text without spaces and tabs at both ends.
  package static func trimmed(_ text: some StringProtocol) -> String {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    var rest = Substring(text).utf8
    while let first = rest.first, isSpace(first) { rest.removeFirst() }
    while let last = rest.last, isSpace(last) { rest.removeLast() }
    return String(Substring(rest))
  }

  static func list(_ text: String) -> [String] {
    text.split(separator: ",").map(trimmed).filter { !$0.isEmpty }
  }

  static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercased(byte))
  }

  /// Parses a number of digits only; `nil` also if it exceeds `Int`.
  package static func number(_ text: some StringProtocol) -> Int? { number(text.utf8) }

  package static func number(_ digits: some Collection<UInt8>) -> Int? {
    if digits.isEmpty { return nil }
    var number = 0
    for digit in digits {
      let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, overflows) = tens.addingReportingOverflow(Int(digit) - 0x30)
      guard isDigit(digit), !isTooLarge, !overflows else { return nil }
      number = sum
    }
    return number
  }

  /// The value of a hexadecimal digit.
  static func hexValue(_ byte: UInt8) -> UInt8? {
    switch lowercased(byte) {
    case let byte where isDigit(byte): byte - UInt8(ascii: "0")
    case let byte where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte):
      byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  /// Whether the text is a token (RFC 9110 §5.6.2), as methods and header names must be.
  static func isToken(_ text: some StringProtocol) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        isDigit($0) || isLetter($0) || "!#$%&'*+-.^_`|~".utf8.contains($0)
      }
  }
}

/// Properties of request headers that follow from their names.
extension HTTPHeader {
  /// Whether it identifies the client, marked secret or not. The only list of such names.
  package var isCredential: Bool { Self.credentials.contains(ASCII.lowercased(name)) }

  /// Whether only the original origin may receive it: credentials, and headers that are only meaningful there.
  var belongsToOrigin: Bool {
    isCredential || ["host", "idempotency-key"].contains(ASCII.lowercased(name))
  }

  /// Whether responses do not depend on it as they do on credentials: content negotiation, which `Vary` covers,
  /// conditions, cache directives, and headers for tracing.
  var isIndependentOfClient: Bool {
    let name = ASCII.lowercased(name)
    return name.hasPrefix("accept") || name.hasPrefix("if-") || name.hasPrefix("x-b3-")
      || Self.independent.contains(name)
  }

  private static let credentials: Set<String> = [
    "authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "apikey",
    "x-auth-token", "x-access-token", "private-token", "x-amz-security-token", "x-goog-api-key",
    "x-vault-token",
  ]

  private static let independent: Set<String> = [
    "user-agent", "range", "cache-control", "pragma", "traceparent", "tracestate", "b3",
    "x-request-id", "x-correlation-id",
  ]
}

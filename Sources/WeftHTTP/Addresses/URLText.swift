/// A URL or relative reference, split into its components (RFC 3986, appendix B) but not yet validated.
struct URLText {
  /// Longer than any URL that servers accept.
  static let limit = 64 * 1024

  private var scheme: Substring.UTF8View?
  private var authority: Substring.UTF8View?
  private var path: Substring.UTF8View
  private var query: Substring.UTF8View?

  init(_ text: String) throws(HTTPURLError) {
    if text.utf8.count > Self.limit { throw .tooLong(limit: Self.limit) }
    if let bad = text.utf8.enumerated().first(where: { $0.element < 0x20 || $0.element == 0x7F }) {
      throw .controlCharacter(offset: bad.offset)
    }
    var rest = Substring(text).utf8
    rest = rest.prefix { $0 != UInt8(ascii: "#") }
    if let colon = rest.firstIndex(where: { ":/?".utf8.contains($0) }),
      rest[colon] == UInt8(ascii: ":"), Self.isScheme(rest[..<colon])
    {
      scheme = rest[..<colon]
      rest = rest[rest.index(after: colon)...]
    }
    if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
      query = rest[rest.index(after: mark)...]
      rest = rest[..<mark]
    }
    if rest.starts(with: "//".utf8) {
      let behind = rest.dropFirst(2)
      let end = behind.firstIndex(of: UInt8(ascii: "/")) ?? behind.endIndex
      authority = behind[..<end]
      rest = behind[end...]
    }
    path = rest
  }

  private static func isScheme(_ text: Substring.UTF8View) -> Bool {
    guard let first = text.first, ASCII.isLetter(first) else { return false }
    return text.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "+-.".utf8.contains($0) }
  }

  func absolute() throws(HTTPURLError) -> HTTPURL {
    guard let scheme else { throw .noScheme }
    guard let known = HTTPURL.Scheme(rawValue: ASCII.lowercased(Substring(scheme))) else {
      throw .otherScheme(String(Substring(scheme)))
    }
    guard let authority, !authority.isEmpty else { throw .noHost }
    return try url(scheme: known, authority: Substring(authority), path: absolutePath)
  }

  /// Resolves the reference (RFC 3986 §5.2.2).
  func resolved(against base: HTTPURL) throws(HTTPURLError) -> HTTPURL {
    if scheme != nil { return try absolute() }
    if let authority {
      return try url(scheme: base.scheme, authority: Substring(authority), path: absolutePath)
    }
    let ownPath = String(Substring(path))
    let merged: String
    if ownPath.isEmpty {
      merged = base.path
    } else if ownPath.hasPrefix("/") {
      merged = ownPath
    } else {
      merged = base.path.prefix(through: base.path.lastIndex(of: "/")!) + ownPath
    }
    let kept = ownPath.isEmpty && query == nil ? base.query : encodedQuery
    return HTTPURL(
      scheme: base.scheme, host: base.host, port: base.port, path: Self.normalised(merged),
      query: kept)
  }

  private var absolutePath: String { path.isEmpty ? "/" : String(Substring(path)) }

  private var encodedQuery: String? {
    query.map { PercentEncoding.completed(Substring($0), keeping: PercentEncoding.inQuery) }
  }

  private func url(
    scheme: HTTPURL.Scheme, authority: Substring, path: String
  ) throws(HTTPURLError) -> HTTPURL {
    let parts = try Authority(authority, port: scheme.port)
    return HTTPURL(
      scheme: scheme, host: parts.host, port: parts.port, path: Self.normalised(path),
      query: encodedQuery, credentials: parts.credentials)
  }

  private static func normalised(_ path: String) -> String {
    withoutDots(PercentEncoding.completed(path, keeping: PercentEncoding.inPath))
  }

  /// Removes dot segments (RFC 3986 §5.2.4).
  private static func withoutDots(_ path: String) -> String {
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    var kept: [Substring] = []
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      switch segment {
      case ".", "..":
        if segment == "..", !kept.isEmpty { kept.removeLast() }
        if isLast { kept.append("") }
      default: kept.append(segment)
      }
    }
    return "/" + kept.joined(separator: "/")
  }
}

extension HTTPURL {
  /// Resolves `reference`, such as a `Location`, against this URL. The result has no credentials.
  public func resolving(_ reference: String) throws(HTTPURLError) -> HTTPURL {
    try URLText(ASCII.trimmed(reference)).resolved(against: self).withoutCredentials
  }
}

/// Percent-encoding, such as `%20` (RFC 3986 §2.1).
public enum PercentEncoding {
  /// Encodes a value as one path segment. Slashes are encoded too, and so are `.` and `..`. Servers may treat an encoded
  /// `..` as a dot segment nevertheless, also between encoded slashes, so check values from elsewhere for it.
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
  package static func decoded(_ text: some StringProtocol) -> String {
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

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

/// The parsed parts of `user:password@host:port`.
struct Authority {
  let host: String
  let port: Int
  let credentials: URLCredentials?

  /// - Parameter port: The port if `text` has none.
  init(_ text: Substring, port usual: Int) throws(HTTPURLError) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    // Programs disagree about more than one "@", and about "\" before it.
    guard parts.count <= 2, let place = parts.last, parts.count == 1 || Self.isUserInfo(parts[0])
    else { throw .badCredentials }
    credentials = parts.count == 2 ? Self.credentials(parts[0]) : nil
    let (name, number) = try Self.split(place)
    guard !name.isEmpty else { throw .noHost }
    let host = ASCII.lowercased(name)
    guard host.hasPrefix("[") ? Self.isBracketedAddress(host) : Self.isName(host) else {
      throw .badHost(String(name))
    }
    self.host = host
    port = try number.map(Self.port) ?? usual
  }

  private static func split(
    _ place: Substring
  ) throws(HTTPURLError) -> (host: Substring, port: Substring?) {
    let bracket = place.lastIndex(of: "]")
    let colon = place[(bracket ?? place.startIndex)...].firstIndex(of: ":")
    guard let colon else { return (place, nil) }
    let port = place[place.index(after: colon)...]
    // "host:" is "host" (RFC 3986 §3.2.3).
    return (place[..<colon], port.isEmpty ? nil : port)
  }

  private static func port(_ text: Substring) throws(HTTPURLError) -> Int {
    guard let port = ASCII.number(text), (1...65535).contains(port) else {
      throw .badPort(String(text))
    }
    return port
  }

  private static func credentials(_ text: Substring) -> URLCredentials? {
    let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard !text.isEmpty else { return nil }
    return URLCredentials(
      user: PercentEncoding.decoded(halves[0]),
      password: halves.count == 2 ? PercentEncoding.decoded(halves[1]) : "")
  }

  /// Whether the text is valid userinfo (RFC 3986 §3.2.1).
  private static func isUserInfo(_ text: Substring) -> Bool {
    text.utf8.allSatisfy { PercentEncoding.isUnreserved($0) || "%!$&'()*+,;=:".utf8.contains($0) }
  }

  private static func isName(_ host: String) -> Bool {
    host.utf8.count <= 253
      && host.utf8.allSatisfy {
        ASCII.isLetter($0) || ASCII.isDigit($0) || "-._".utf8.contains($0)
      }
      && host.split(separator: ".", omittingEmptySubsequences: false).dropLast()
        .allSatisfy { (1...63).contains($0.utf8.count) }
  }

  private static func isBracketedAddress(_ host: String) -> Bool {
    let inside = host.dropFirst().dropLast()
    return host.hasSuffix("]") && inside.utf8.count <= 45 && inside.contains(":")
      && inside.utf8.allSatisfy { ASCII.hexValue($0) != nil || ":.".utf8.contains($0) }
  }
}

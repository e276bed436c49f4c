import WeftPlatform

/// What an answer may answer: the same resource for the same asker. Neither can be read out of it.
struct CacheKey: Sendable, Hashable {
  /// 64 hexadecimal digits for a URL.
  let resource: String
  /// 64 for the credentials, and for what else tells askers apart.
  let asker: String
}

/// Makes keys that mean nothing to anybody without the secret: neither URLs nor credentials can be found
/// out by trying.
struct CacheSecret: Sendable {
  static let length = 32
  private let hash: HMAC

  init(_ bytes: [UInt8]) { hash = HMAC(key: bytes) }

  func key(of request: WireRequest) -> CacheKey {
    CacheKey(resource: resource(request.url), asker: asker(request))
  }

  func resource(_ url: HTTPURL) -> String { code(["url", url.description]) }

  /// Requests that differ in a secret, a certificate, the servers they trust, or any header that may say who asks
  /// are of different askers: of most headers nobody knows whether it is a key.
  private func asker(_ request: WireRequest) -> String {
    let credentials = request.headers.filter { $0.isSecret || !$0.isIndependentOfAsker }
      .map { ASCII.lowercased($0.name) + ":" + $0.value }
    let files = [request.tls.authorities, request.tls.certificate, request.tls.key]
    return code(
      ["asker", request.wantsCompression ? "unpacked" : "as sent"] + files.map { $0 ?? "" }
        + credentials.sorted())
  }

  /// What a request has of the headers that an answer depends on (RFC 9111 §4.1).
  func selection(_ request: WireRequest, by names: [String]) -> String {
    let headers = HTTPHeaders(request.headers)
    return code(["selection"] + names.map { $0 + ":" + VaryingField.normalised($0, of: headers) })
  }

  /// No two lists have the same code, for each text comes with its length.
  private func code(_ texts: [String]) -> String {
    let bytes = texts.flatMap { Array("\($0.utf8.count):\($0)".utf8) }
    return SHA256.text(of: hash.digest(of: bytes))
  }
}

/// The headers that an answer depends on.
enum VaryingField {
  /// The names of a `Vary`, each once, in small letters and in order.
  static func names(in head: HTTPResponseHead) -> [String] {
    Set(head.headers.list(of: "vary").map { ASCII.lowercased($0) }).sorted()
  }

  /// One text for all spellings of the same: lines joined, no spaces around commas, and small letters where
  /// case means nothing. The order of elements stays, for there are servers that go by it.
  static func normalised(_ name: String, of headers: HTTPHeaders) -> String {
    guard headers.contains(name) else { return "absent" }
    let pieces = headers.values(of: name).flatMap {
      ParameterText.split($0, at: UInt8(ascii: ","))
    }
    let text = "=" + pieces.joined(separator: ",")
    return withoutCase.contains(name) ? ASCII.lowercased(text) : text
  }

  /// RFC 9110 §12.5.
  private static let withoutCase: Set<String> = [
    "accept-charset", "accept-encoding", "accept-language",
  ]
}

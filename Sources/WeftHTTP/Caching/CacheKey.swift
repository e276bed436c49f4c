import WeftPlatform

/// Identifies the resource and the credentials that a response is valid for. Neither can be recovered from it.
struct ResponseKey: Sendable, Hashable {
  /// 64 hexadecimal digits for the URL.
  let resource: String
  /// 64 hexadecimal digits for the credentials and everything else that distinguishes clients.
  let asker: String
}

/// Derives keys that are meaningless without the secret: URLs and credentials cannot be found by guessing.
struct CacheSecret: Sendable {
  static let length = 32
  private let hash: HMAC

  init(_ bytes: [UInt8]) { hash = HMAC(key: bytes) }

  func key(of request: WireRequest) -> ResponseKey {
    ResponseKey(resource: resource(request.url), asker: asker(request))
  }

  func resource(_ url: HTTPURL) -> String { code(["url", url.description]) }

  /// Requests with different secrets, certificates, trusted authorities or identifying headers have different keys.
  /// Most headers are included, because any of them may be a credential.
  private func asker(_ request: WireRequest) -> String {
    let credentials = request.headers.filter { $0.isSecret || !$0.isIndependentOfAsker }
      .map { ASCII.lowercased($0.name) + ":" + $0.value }
    let files = [request.tls.authorities, request.tls.certificate, request.tls.key]
    return code(
      ["asker", request.wantsCompression ? "unpacked" : "as sent"] + files.map { $0 ?? "" }
        + credentials.sorted())
  }

  /// Returns the code of the request's values for the headers that the response depends on (RFC 9111 §4.1).
  func selection(_ request: WireRequest, by names: [String]) -> String {
    let headers = HTTPHeaders(request.headers)
    return code(["selection"] + names.map { $0 + ":" + VaryingField.normalised($0, of: headers) })
  }

  /// Each text is prefixed with its length, so different lists never have the same code.
  private func code(_ texts: [String]) -> String {
    let bytes = texts.flatMap { Array("\($0.utf8.count):\($0)".utf8) }
    return SHA256.text(of: hash.digest(of: bytes))
  }
}

/// The headers that a response depends on.
enum VaryingField {
  /// Returns the names in `Vary`, without duplicates, in lower case and sorted.
  static func names(in head: HTTPResponseHead) -> [String] {
    Set(head.headers.list(of: "vary").map { ASCII.lowercased($0) }).sorted()
  }

  /// Returns one text for all equivalent spellings: lines joined, no spaces around commas, lower case where case has
  /// no meaning. The order of elements is kept because some servers depend on it.
  static func normalised(_ name: String, of headers: HTTPHeaders) -> String {
    guard headers.contains(name) else { return "absent" }
    let pieces = headers.values(of: name).flatMap {
      ParameterText.split($0, at: UInt8(ascii: ","))
    }
    let text = "=" + pieces.joined(separator: ",")
    return withoutCase.contains(name) ? ASCII.lowercased(text) : text
  }

  /// The headers with case-insensitive values (RFC 9110 §12.5).
  private static let withoutCase: Set<String> = [
    "accept-charset", "accept-encoding", "accept-language",
  ]
}

import WeftEncoding
import WeftPlatform

/// A complete response as a cache stores it.
struct StoredResponse: Sendable, Hashable {
  let key: ResponseKey
  /// The names in its `Vary`, in lower case and sorted.
  let vary: [String]
  /// The code of the request's values for those headers.
  let selection: String
  /// The head without connection-specific headers.
  private(set) var head: HTTPResponseHead
  /// The body as received, decompressed if the request asked for that.
  let body: [UInt8]
  private(set) var requestTime: Int64
  private(set) var responseTime: Int64

  init(
    key: ResponseKey, vary: [String], selection: String, head: HTTPResponseHead, body: [UInt8],
    requestTime: Int64, responseTime: Int64
  ) {
    self.key = key
    self.vary = vary
    self.selection = selection
    self.head = HTTPResponseHead(status: head.status, headers: head.headers.withoutConnection)
    self.body = body
    self.requestTime = requestTime
    self.responseTime = responseTime
  }

  var freshness: Freshness {
    Freshness(of: head, requestTime: requestTime, responseTime: responseTime)
  }

  /// The headers that ask the server to validate it (RFC 9111 §4.3.1); empty if it has no validators. Values that
  /// cannot be sent are omitted.
  var conditions: [HTTPHeader] {
    let fields: [(String, String?)] = [
      ("If-None-Match", head.headers["etag"]),
      ("If-Modified-Since", head.headers["last-modified"]),
    ]
    return fields.compactMap { name, value in
      value.flatMap { HeaderCheck.isValue($0) ? HTTPHeader(name, $0) : nil }
    }
  }

  /// The head as delivered without contacting the server, with its age (RFC 9111 §4, §5.1).
  func head(at now: Int64) -> HTTPResponseHead {
    var headers = head.headers
    headers.removeAll { ASCII.isSame($0.name, "age") }
    headers.add(HTTPHeader("Age", String(freshness.age(at: now))))
    return HTTPResponseHead(status: head.status, headers: headers)
  }

  /// Whether a 304 or a response to HEAD is about this one (RFC 9111 §4.3.4, §4.3.5): it has no validator that
  /// differs from this one's.
  func agrees(with newer: HTTPResponseHead) -> Bool {
    ["etag", "last-modified"].allSatisfy { name in
      guard let its = newer.headers[name] else { return true }
      guard let mine = head.headers[name] else { return false }
      return name == "etag" ? EntityTag.isSame(mine, its) : mine == its
    }
  }

  /// Returns it updated with the headers of a 304 or of a response to HEAD: RFC 9111 §3.2.
  func freshened(
    by newer: HTTPResponseHead, requestTime: Int64, responseTime: Int64
  ) -> StoredResponse {
    let fields = newer.headers.withoutConnection.fields.filter {
      !Self.ofBody.contains(ASCII.lowercased($0.name))
    }
    let names = Set(fields.map { ASCII.lowercased($0.name) })
    // The newer response determines age and date, even by omitting them.
    let replaced = names.union(["age", "date"])
    var headers = head.headers
    headers.removeAll { replaced.contains(ASCII.lowercased($0.name)) }
    for field in fields { headers.add(field) }
    var copy = self
    copy.head = HTTPResponseHead(status: head.status, headers: headers)
    copy.requestTime = requestTime
    copy.responseTime = responseTime
    return copy
  }

  /// They describe the stored bytes, which do not change.
  private static let ofBody: Set<String> = ["content-length", "content-encoding", "content-range"]
}

/// Entity tags (RFC 9110 §8.8.3).
enum EntityTag {
  /// Returns whether two tags are equal by the weak comparison.
  static func isSame(_ one: String, _ other: String) -> Bool { opaque(one) == opaque(other) }

  private static func opaque(_ tag: String) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
  }
}

/// Identifies the resource and the credentials that a response is valid for. Neither can be recovered from it.
struct ResponseKey: Sendable, Hashable {
  /// 64 hexadecimal digits for the URL.
  let resource: String
  /// 64 hexadecimal digits for the credentials and everything else that distinguishes clients.
  let requester: String
}

/// Derives keys that are meaningless without the secret: URLs and credentials cannot be found by guessing.
struct CacheSecret: Sendable {
  static let length = 32
  private let hash: HMAC

  init(_ bytes: [UInt8]) { hash = HMAC(key: bytes) }

  func key(of request: WireRequest) -> ResponseKey {
    ResponseKey(resource: resource(request.url), requester: requester(request))
  }

  func resource(_ url: HTTPURL) -> String { code(["url", url.description]) }

  /// Requests with different secrets, certificates, trusted authorities or identifying headers have different keys.
  /// Most headers are included, because any of them may be a credential.
  private func requester(_ request: WireRequest) -> String {
    let credentials = request.headers.filter { $0.isSecret || !$0.isIndependentOfClient }
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

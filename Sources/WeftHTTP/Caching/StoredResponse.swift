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

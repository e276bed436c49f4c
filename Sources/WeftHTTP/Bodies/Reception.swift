import Synchronization

/// Decides how the response to one request is received, and remembers where it was saved.
final class Reception: Sendable {
  let redirects: RedirectPolicy
  private let file = Mutex<DownloadFile?>(nil)

  init(_ redirects: RedirectPolicy) { self.redirects = redirects }

  /// The most that is received of the body of a redirect or of a response with an unexpected status.
  static let startBytes = 64 * 1024

  func plan(for head: HTTPResponseHead) -> BodyPlan {
    if redirects.follows(head) { return .keepStart(limit: Self.startBytes) }
    guard redirects.request.expectedStatus.accepts(head.status) else {
      return .keepStart(limit: min(redirects.request.bodyLimit ?? .max, Self.startBytes))
    }
    guard let target = redirects.request.saveTo else {
      return .keep(limit: redirects.request.bodyLimit)
    }
    switch SavePlan(for: head, of: redirects.request, to: target) {
    case .fresh: return write(DownloadFile(target.path, kept: head.validator), after: 0)
    case .resumed(let partial, let size):
      guard let file = DownloadFile(resuming: partial) else {
        return .refuse(.other("a partial file was resumed twice"))
      }
      return write(file, after: size)
    case .impossible(let why): return .refuse(.malformed(why))
    }
  }

  private func write(_ download: DownloadFile, after size: Int) -> BodyPlan {
    file.withLock { $0 = download }
    return .write(download, limit: redirects.request.bodyLimit.map { max(0, $0 - size) })
  }

  var savedPath: String? { file.withLock { $0?.path } }

  /// Returns the failure with the partial file attached.
  func complete(_ failure: HTTPFailure) -> HTTPFailure {
    var failure = failure
    failure.partial = file.withLock { $0?.takePartial() } ?? failure.partial
    return failure
  }
}

/// Whether a response is the file, the rest of it, or neither.
enum SavePlan {
  case fresh
  /// The partial file and its size.
  case resumed(PartialFile, Int)
  case impossible(String)

  init(for head: HTTPResponseHead, of request: HTTPRequest, to target: SaveTarget) {
    guard head.status == 206 else {
      self = .fresh
      return
    }
    if let partial = target.resuming {
      let range = head.headers["content-range"].flatMap(ContentRange.init)
      self =
        range?.first == partial.size
        ? .resumed(partial, partial.size)
        : .impossible("the part that was sent is not the one that was asked for")
    } else if request.headers.contains("range") {
      self = .fresh
    } else {
      self = .impossible("a part was sent, and the whole was asked for")
    }
  }
}

/// `bytes 0-499/1234` (RFC 9110 §14.4).
struct ContentRange: Hashable {
  let first: Int
  let last: Int
  /// `nil` if the server does not know it.
  let whole: Int?

  init?(_ text: String) {
    let words = ASCII.trimmed(text).split(separator: " ")
    guard words.count == 2, ASCII.isSame(String(words[0]), "bytes") else { return nil }
    let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = ASCII.number(ends[0]), let last = ASCII.number(ends[1]),
      first <= last
    else { return nil }
    whole = ASCII.number(halves[1])
    guard halves[1] == "*" || whole.map({ last < $0 }) == true else { return nil }
    self.first = first
    self.last = last
  }
}

extension HTTPResponseHead {
  /// The validator of this version of the file, if the server also supports range requests for it (RFC 9110 §13.1.5:
  /// a weak tag is not enough).
  var validator: String? {
    guard status == 200, !headers.list(of: "accept-ranges").contains("none"),
      !headers.contains("content-encoding")
    else { return nil }
    if let tag = headers["etag"].map({ ASCII.trimmed($0) }) {
      return tag.hasPrefix("\"") ? tag : nil
    }
    return headers["last-modified"].map { ASCII.trimmed($0) }
  }
}

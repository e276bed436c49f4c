import Synchronization

/// Decides what is to become of the answer to one request, and remembers where it was saved.
final class Reception: Sendable {
  let course: RedirectCourse
  private let file = Mutex<DownloadFile?>(nil)

  init(_ course: RedirectCourse) { self.course = course }

  /// Of the body of a redirect, and of an answer that was not expected, at most so much is received.
  static let startBytes = 64 * 1024

  func plan(for head: HTTPResponseHead) -> BodyPlan {
    if course.follows(head) { return .keepStart(limit: Self.startBytes) }
    guard course.request.expectedStatus.accepts(head.status) else {
      return .keepStart(limit: min(course.request.bodyLimit ?? .max, Self.startBytes))
    }
    guard let target = course.request.saveTo else {
      return .keep(limit: course.request.bodyLimit)
    }
    switch SavePlan(for: head, of: course.request, to: target) {
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
    return .write(download, limit: course.request.bodyLimit.map { max(0, $0 - size) })
  }

  var savedPath: String? { file.withLock { $0?.path } }

  /// The failure with what had been saved.
  func complete(_ failure: HTTPFailure) -> HTTPFailure {
    var failure = failure
    failure.partial = file.withLock { $0?.takePartial() } ?? failure.partial
    return failure
  }
}

/// Whether an answer is the file, the rest of the file, or neither.
enum SavePlan {
  case fresh
  /// The partial file and how much it has.
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
  /// `nil`: the server does not know.
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
  /// What tells this version of the file from others, if the server would also send a part of it
  /// (RFC 9110 §13.1.5: a weak tag does not do).
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

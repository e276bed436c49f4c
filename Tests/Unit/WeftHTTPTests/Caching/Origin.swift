import Synchronization
import WeftFutures

@testable import WeftHTTP

/// A server in memory: it answers as a test says, and records the requests.
final class Origin: Transport {
  enum Answer: Sendable {
    case head(HTTPResponseHead, String)
    case failure(HTTPFailure)

    static func ok(_ headers: HTTPHeaders = [:], _ body: String = "body") -> Answer {
      .head(HTTPResponseHead(status: 200, headers: headers), body)
    }

    static func status(_ status: Int, _ headers: HTTPHeaders = [:], _ body: String = "") -> Answer {
      .head(HTTPResponseHead(status: status, headers: headers), body)
    }
  }

  private let answer: @Sendable (WireRequest) -> Answer
  private let seen = Mutex<[WireRequest]>([])

  init(_ answer: @escaping @Sendable (WireRequest) -> Answer) { self.answer = answer }

  /// Gives one answer after the other, and then repeats the last one.
  convenience init(_ answers: Answer...) {
    let left = Mutex(answers)
    self.init { _ in left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
  }

  var requests: [WireRequest] { seen.withLock { $0 } }

  func exchange(
    _ request: WireRequest, answering plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
  ) -> Future<HTTPExchange, HTTPFailure> {
    seen.withLock { $0.append(request) }
    switch answer(request) {
    case .failure(let failure): return Future(failure: failure)
    case .head(let head, let text):
      let inquiry = CacheInquiry(
        request: request, key: ResponseKey(resource: "", requester: ""), plan: plan)
      let hasBody = request.method != .head && ![204, 304].contains(head.status)
      return CacheDelivery.deliver(
        head, hasBody ? Array(text.utf8) : [], to: inquiry, as: .bypass,
        figures: ExchangeFigures())
    }
  }
}

/// A clock in seconds since 1970 that the test moves.
final class Clock: Sendable {
  private let time: Mutex<Int64>

  init(_ start: Int64 = 1_800_000_000) { time = Mutex(start) }

  var now: Int64 { time.withLock { $0 } }

  func advance(by seconds: Int64) { time.withLock { $0 += seconds } }
}

/// A client with a cache in memory in front of an origin.
struct CachedWorld: Sendable {
  let origin: Origin
  let clock = Clock()
  let client: HTTPClient

  init(_ origin: Origin, cache: HTTPCache = .inMemory()) {
    self.origin = origin
    let clock = clock
    client = HTTPClient(transport: CachingTransport(origin, cache: cache) { clock.now })
  }

  init(_ answers: Origin.Answer, _ more: Origin.Answer...) {
    let left = Mutex([answers] + more)
    self.init(Origin { _ in left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } })
  }

  /// The outcome; with a cache in memory, the future settles at once.
  func ask(
    _ url: String = "https://a.test/x", _ method: HTTPMethod = .get, _ headers: HTTPHeaders = [:],
    _ change: (inout HTTPRequest) -> Void = { _ in }
  ) async throws -> Result<HTTPResponse, HTTPFailure> {
    var request = HTTPRequest(try HTTPURL(url), method: method, headers: headers)
    change(&request)
    return await client.send(request).result
  }
}

extension Result where Success == HTTPResponse, Failure == HTTPFailure {
  /// "hit", "miss" …; "failed" if there is no response.
  var cacheStatus: String { response?.cacheStatus.name ?? "failed" }
}

/// 2027-01-15T08:00:00Z, when a ``Clock`` starts, in the usual spelling; and times around it.
enum Moment {
  static let start: Int64 = 1_800_000_000

  static func text(_ seconds: Int64 = 0) -> String {
    let time = start + seconds
    let (days, rest) = (time / 86_400, time % 86_400)
    // The start is a Friday; dates stay within its month.
    let name = ["Fri", "Sat", "Sun", "Mon", "Tue", "Wed", "Thu"][
      Int(((days - start / 86_400) % 7 + 7) % 7)]
    let day = 15 + days - start / 86_400
    precondition((1...31).contains(day), "only days of the month of the start")
    return
      "\(name), \(two(day)) Jan 2027 \(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60)) GMT"
  }

  private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

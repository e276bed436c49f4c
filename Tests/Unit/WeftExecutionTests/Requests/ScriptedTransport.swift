import Synchronization
import WeftFutures
import WeftHTTP

/// A server without a network: answers successive requests, and records them.
final class ScriptedTransport: Transport {
  enum Response: Sendable {
    case head(Int, HTTPHeaders, String)
    case failure(HTTPFailure)
    /// No answer, until it is cancelled.
    case silence
    /// No answer, cancelled or not, until ``answerDeaf()``.
    case deafness
  }

  private struct State {
    var requests: [WireRequest] = []
    var answers: [Response]
  }

  private let state: Mutex<State>
  private let silent = Mutex<[Promise<HTTPExchange, HTTPFailure>]>([])

  /// The last answer repeats for ever.
  init(_ answers: [Response]) { state = Mutex(State(answers: answers)) }

  convenience init(json: [String]) {
    self.init(json.map { .head(200, ["Content-Type": "application/json"], $0) })
  }

  var requests: [WireRequest] { state.withLock { $0.requests } }

  /// Answers the requests that ignored their cancellation.
  func answerDeaf() {
    let promises = silent.withLock { $0 }
    for promise in promises {
      promise.succeed(HTTPExchange(head: HTTPResponseHead(status: 200, headers: [:])))
    }
  }

  func exchange(
    _ request: WireRequest, answering plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
  ) -> Future<HTTPExchange, HTTPFailure> {
    let answer = state.withLock { state in
      state.requests.append(request)
      return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
    }
    switch answer {
    case .failure(let failure): return Future(failure: failure)
    case .silence:
      let promise = Promise<HTTPExchange, HTTPFailure>()
      promise.onCancel { promise.fail(HTTPFailure(.cancelled, isInDoubt: !request.isRepeatable)) }
      silent.withLock { $0.append(promise) }
      return promise.future
    case .deafness:
      let promise = Promise<HTTPExchange, HTTPFailure>()
      silent.withLock { $0.append(promise) }
      return promise.future
    case .head(let status, let headers, let body):
      let head = HTTPResponseHead(status: status, headers: headers)
      var figures = ExchangeFigures()
      figures.bodyBytesReceived = body.utf8.count
      let bytes = Array(body.utf8)
      switch plan(head) {
      case .keep, .write: break
      case .keepStart(let limit):
        return Future(
          value: HTTPExchange(
            head: head, body: Array(bytes.prefix(limit)), isBodyCut: bytes.count > limit,
            figures: figures))
      case .refuse(let kind): return Future(failure: HTTPFailure(kind))
      }
      return Future(value: HTTPExchange(head: head, body: bytes, figures: figures))
    }
  }
}

extension WireRequest {
  /// The value of a header; several values are joined by commas.
  func value(of name: String) -> String? {
    let values = headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  var bodyText: String {
    (body?.segments ?? []).map { segment in
      switch segment {
      case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
      case .file(let path): "<\(path)>"
      }
    }.joined()
  }
}

import Synchronization
import WeftDefinition
package import WeftExecution
public import WeftFutures
public import WeftHTTP
public import WeftJSON

/// A transport that asks a closure instead of a server, and remembers the requests.
///
/// ```swift
/// let transport = StubTransport { request in
///   request.url.hasSuffix("/login") ? .json(["token": "t1"]) : .status(404)
/// }
/// let engine = Engine(transport: transport)
/// ```
///
/// Redirects, retries, pages and polls lead to further requests, as with a server. A body that the workflow saves to a
/// file is saved.
public final class StubTransport: Transport {
  /// A request as it would have been sent.
  public struct Request: Sendable, Hashable {
    /// In upper case.
    public let method: String
    /// Without user and password.
    public let url: String
    /// All headers that do not depend on the connection.
    public let headers: HTTPHeaders
    /// The contents of files are not included.
    public let body: [UInt8]

    /// The body as text; malformed UTF-8 is repaired.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON; `nil` if it is not JSON.
    public var json: JSONValue? { try? JSONValue(text: text) }
  }

  /// A response, or the failure to get one.
  public struct Response: Sendable {
    let result: Result<(head: HTTPResponseHead, body: [UInt8]), HTTPFailure>

    /// A response with a status and, possibly, headers and a body.
    public static func status(
      _ status: Int, headers: HTTPHeaders = [:], body: String = ""
    ) -> Response {
      Response(
        result: .success((HTTPResponseHead(status: status, headers: headers), Array(body.utf8))))
    }

    /// A response with a JSON body, of type `application/json`.
    public static func json(
      _ value: JSONValue, status: Int = 200, headers: HTTPHeaders = [:]
    ) -> Response {
      var headers = headers
      headers.addIfMissing(HTTPHeader("Content-Type", "application/json"))
      return .status(status, headers: headers, body: value.description)
    }

    /// No response.
    public static func failure(_ kind: HTTPFailure.Kind) -> Response {
      Response(result: .failure(HTTPFailure(kind)))
    }
  }

  private let respond: @Sendable (Request) -> Response
  private let sent = Mutex<[Request]>([])

  /// - Parameter respond: Called for each request, possibly from several threads at once.
  public init(_ respond: @escaping @Sendable (Request) -> Response) { self.respond = respond }

  /// The requests so far, in the order in which they were sent.
  public var requests: [Request] { sent.withLock { $0 } }

  /// Responds before it returns.
  public func exchange(
    _ request: WireRequest, answering plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
  ) -> Future<HTTPExchange, HTTPFailure> {
    let seen = Request(request)
    sent.withLock { $0.append(seen) }
    switch respond(seen).result {
    case .failure(let failure): return Future(failure: failure)
    case .success(let response):
      return Future(
        result: StubTransport.receive(response.head, response.body, by: plan(response.head)))
    }
  }

  /// The exchange for a response that has arrived as a whole.
  static func receive(
    _ head: HTTPResponseHead, _ body: [UInt8], by plan: BodyPlan
  ) -> Result<HTTPExchange, HTTPFailure> {
    switch plan {
    case .keep(let limit):
      if let limit, body.count > limit { return .failure(HTTPFailure(.limit(.body, limit))) }
      return .success(HTTPExchange(head: head, body: body))
    case .keepStart(let limit):
      return .success(
        HTTPExchange(head: head, body: Array(body.prefix(limit)), isBodyCut: body.count > limit))
    case .write(let writer, let limit):
      do throws(HTTPFailure.Kind) {
        if let limit, body.count > limit {
          try writer.end(.broken(.limit(.body, limit)))
          return .failure(HTTPFailure(.limit(.body, limit)))
        }
        try body.withUnsafeBufferPointer { bytes throws(HTTPFailure.Kind) in
          try writer.write(UnsafeRawBufferPointer(bytes))
        }
        try writer.end(.complete)
        return .success(HTTPExchange(head: head))
      } catch {
        return .failure(HTTPFailure(error))
      }
    case .refuse(let kind): return .failure(HTTPFailure(kind))
    }
  }
}

extension StubTransport.Request {
  init(_ request: WireRequest) {
    var body: [UInt8] = []
    for segment in request.body?.segments ?? [] {
      if case .bytes(let bytes) = segment { body += bytes }
    }
    self.init(
      method: request.method.name, url: request.url.description,
      headers: HTTPHeaders(request.headers), body: body)
  }
}

extension StubTransport: AttemptTransport {
  package func serving(_ attempt: Attempt) -> any Transport { self }
}

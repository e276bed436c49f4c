import WeftDiagnostics
public import WeftFutures
public import WeftHTTP
public import WeftJSON

extension HTTPClient {
  /// Sends a request and fails unless the response has one of its ``HTTPRequest/expectedStatus``.
  public func call(_ request: HTTPRequest) -> Future<HTTPResponse, CallFailure> {
    send(request).mapResult { outcome in
      outcome.mapError(CallFailure.noAnswer).flatMap { response in
        request.expectedStatus.accepts(response.status)
          ? .success(response) : .failure(.unexpectedStatus(response))
      }
    }
  }

  /// Sends a request like ``call(_:)`` and decodes the body as a type of the caller's.
  public func call<Value: Decodable & Sendable>(
    _ request: HTTPRequest, for type: Value.Type = Value.self
  ) -> Future<Value, CallFailure> {
    call(request).mapResult { outcome in
      outcome.flatMap { response in
        Result { () throws(BodyError) in try response.decoded(as: type) }
          .mapError { .body($0, of: response) }
      }
    }
  }
}

extension HTTPResponse {
  /// The body as JSON, whatever its content type. If members have the same key, the last one counts.
  public func json() throws(BodyError) -> JSONValue {
    // RFC 8259 §8.1: JSON between programs is UTF-8; a body in another charset declares it.
    let text: String
    do { text = try self.text() } catch { throw .notText(error) }
    let file = SourceFile(path: url.description, bytes: Array(text.utf8))
    let (root, diagnostics) = JSONReader.read(file, beside: nil)
    if let root, !diagnostics.contains(where: \.isError) { return JSONValue(root) }
    let first = diagnostics.first(where: \.isError)
    let place = file.position(of: first?.place.map { Int($0.range.start) } ?? 0)
    throw .notJSON(line: place.line, column: place.column, why: first?.message ?? "unreadable")
  }

  /// The body, decoded as a type of the caller's.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self
  ) throws(BodyError) -> Value {
    let value = try json()
    do { return try value.decoded(as: type) } catch { throw .notOfType(error) }
  }
}

/// The reason why a call has no result.
public enum CallFailure: Error, Sendable {
  /// There is no response.
  case noAnswer(HTTPFailure)
  /// The response has an unexpected status. Only the start of its body was received.
  case unexpectedStatus(HTTPResponse)
  /// The body of the response is not of the expected kind.
  case body(BodyError, of: HTTPResponse)

  /// Whether the same call may succeed later.
  public var isTransient: Bool {
    switch self {
    case .noAnswer(let failure): failure.isTransient
    case .unexpectedStatus(let response): response.head.isTransient
    case .body: false
    }
  }

  /// The failure, as a sentence without a full stop.
  public var message: String {
    switch self {
    case .noAnswer(let failure): failure.message
    case .unexpectedStatus(let response): "\(response.url) returned status \(response.status)"
    case .body(let fault, let response): "\(response.url) responded, but \(fault.message)"
    }
  }

  /// The remedy; `nil` if there is none to name.
  public var help: String? {
    if case .noAnswer(let failure) = self { failure.help } else { nil }
  }
}

extension CallFailure: DropRepresentable {
  /// The failure of a call whose promise was dropped.
  public static func promiseDropped(_ dropped: PromiseDroppedError) -> CallFailure {
    .noAnswer(.promiseDropped(dropped))
  }
}

/// The reason why a body is not the expected value.
public enum BodyError: Error, Sendable {
  /// The body is not text in its charset.
  case notText(BodyTextError)
  /// The body is not JSON. Line and column count from 1.
  case notJSON(line: Int, column: Int, why: String)
  /// The body is JSON, but not of the expected type.
  case notOfType(DecodingError)

  /// The problem, as a sentence without a full stop.
  public var message: String {
    switch self {
    case .notText(let fault): fault.message
    case .notJSON(let line, let column, let why):
      "the body is not JSON: line \(line), column \(column): \(why)"
    case .notOfType(let error): "the body is not of the expected type: \(error.sentence)"
    }
  }
}

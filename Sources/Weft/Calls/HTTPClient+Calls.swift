public import WeftFutures
public import WeftHTTP

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

import Weft

// The code of the article Requests.md; a test compares the two.

struct Release: Decodable, Sendable, Equatable {
  var version: String
  var files: [String]
}

struct Releases: Sendable {
  let client: HTTPClient
  let base: HTTPURL

  func latest(of tool: String) -> Future<Release, CallFailure> {
    client.call(HTTPRequest(base.appending(segments: [tool, "latest"])))
  }
}

/// Returns false if there was nothing to remove.
func remove(_ url: HTTPURL, by client: HTTPClient) -> Future<Bool, CallFailure> {
  var request = HTTPRequest(url, method: .delete)
  request.expectedStatus = StatusExpectation([.code(204), .code(404)])
  return client.call(request).map { $0.status == 204 }
}

enum ReleaseProblem: Error, Equatable {
  case unknownTool
  case tryLater(String)
  case broken(String)

  init(_ failure: CallFailure) {
    switch failure {
    case .unexpectedStatus(let response) where response.status == 404: self = .unknownTool
    case _ where failure.isTransient: self = .tryLater(failure.message)
    default: self = .broken(failure.message)
    }
  }
}

extension Releases {
  func newest(of tool: String) -> Future<Release, ReleaseProblem> {
    latest(of: tool).mapError(ReleaseProblem.init)
  }
}

struct CannedTransport: Transport {
  var answers: [String: (status: Int, body: String)]

  func exchange(
    _ request: WireRequest, answering plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
  ) -> Future<HTTPExchange, HTTPFailure> {
    guard let answer = answers[request.url.path] else {
      return Future(failure: HTTPFailure(.connect(to: request.url.host, why: "nobody there")))
    }
    return Future(
      value: HTTPExchange(
        head: HTTPResponseHead(status: answer.status), body: Array(answer.body.utf8)))
  }
}

extension Releases {
  /// One after the other: the second request needs the first one's response.
  func latestNotes(of tool: String) -> Future<HTTPResponse, CallFailure> {
    latest(of: tool).flatMap { release in
      client.call(HTTPRequest(base.appending(segments: [tool, release.version, "notes"])))
    }
  }

  /// At the same time: all of them, or the first failure, which cancels the others.
  func latest(of first: String, and second: String) -> Future<(Release, Release), CallFailure> {
    Future.zip(latest(of: first), latest(of: second))
  }

  /// At the same time, any number of them: nothing fails, and every outcome is available.
  func available(of tools: [String]) -> Future<[Release], Never> {
    Future.settleAll(tools.map(latest(of:))).map { outcomes in
      outcomes.compactMap { try? $0.get() }
    }
  }
}

/// The first mirror that answers; the other requests are cancelled.
func fetch(_ urls: [HTTPURL], by client: HTTPClient) -> Future<
  HTTPResponse, AllFailed<CallFailure>
> {
  Future.firstSuccess(urls.map { client.call(HTTPRequest($0)) })
}

func settings(
  at url: HTTPURL, by client: HTTPClient, warn: (String) -> Void
) async throws -> JSONValue {
  var request = HTTPRequest(url)
  request.caching.staleOnError = .upTo(.seconds(7 * 86_400))
  let response = try await client.call(request).value
  if let reason = response.staleReason {
    warn("these settings are from the cache: \(reason.message)")
  }
  return try response.json()
}

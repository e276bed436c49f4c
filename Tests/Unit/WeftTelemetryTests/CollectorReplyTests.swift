import Testing
import WeftHTTP

@testable import WeftTelemetry

@Suite struct CollectorReplyTests {
  private func reply(
    _ status: Int, _ body: [UInt8] = [], headers: HTTPHeaders = [:]
  ) throws -> CollectorReply {
    let response = HTTPResponse(
      head: HTTPResponseHead(status: status, headers: headers), body: body,
      url: try HTTPURL("http://localhost:4318/v1/traces"))
    return CollectorReply(.success(response), now: 0)
  }

  private static func message(_ write: (inout ProtobufWriter) -> Void) -> [UInt8] {
    var writer = ProtobufWriter()
    write(&writer)
    return writer.bytes
  }

  @Test func successIsEmptyOrEmptyInside() throws {
    #expect(try reply(200) == .accepted(rejected: 0, remark: nil))
    #expect(
      try reply(200, Self.message { $0.message(1) { _ in } })
        == .accepted(rejected: 0, remark: nil))
    #expect(try reply(204) == .accepted(rejected: 0, remark: nil))
  }

  @Test func partialSuccessCountsWhatIsRejected() throws {
    let body = Self.message {
      $0.message(1) {
        $0.number(1, 7)
        $0.text(2, "too\nold\u{1b}[31m")
      }
    }
    #expect(try reply(200, body) == .accepted(rejected: 7, remark: "too old [31m"))
    let json = Array(
      #"{"partialSuccess":{"rejectedSpans":"7","errorMessage":"too old"}}"#.utf8)
    #expect(
      try reply(200, json, headers: HTTPHeaders([HTTPHeader("Content-Type", "application/json")]))
        == .accepted(rejected: 7, remark: "too old"))
  }

  @Test(arguments: ["<html>hello</html>", "ok", "\u{0}"])
  func aReplyOfSomethingElseIsRemarkedOn(body: String) throws {
    #expect(
      try reply(200, Array(body.utf8))
        == .accepted(rejected: 0, remark: "its reply is not one of a collector"))
  }

  @Test(arguments: [429, 502, 503, 504])
  func someStatusesAreTriedAgain(status: Int) throws {
    #expect(try reply(status) == .tryLater(after: nil, reason: "it answered \(status)"))
    let headers = HTTPHeaders([HTTPHeader("Retry-After", "3")])
    #expect(
      try reply(status, headers: headers)
        == .tryLater(after: .seconds(3), reason: "it answered \(status)"))
  }

  @Test(arguments: [400, 401, 403, 404, 408, 413, 500, 501, 505])
  func othersAreNot(status: Int) throws {
    let body = Self.message { $0.text(2, "no") }
    #expect(try reply(status, body) == .refused(reason: "it answered \(status): no"))
    #expect(
      try reply(status, Array("go away".utf8)) == .refused(reason: "it answered \(status): go away")
    )
  }

  @Test func redirectsAreNotFollowed() throws {
    let headers = HTTPHeaders([HTTPHeader("Location", "https://user:pass@other.example/x?key=1")])
    #expect(
      try reply(307, headers: headers)
        == .refused(reason: "it redirects to https://other.example, which is not followed"))
    #expect(try reply(301) == .refused(reason: "it answered 301"))
  }

  @Test func failuresOfTheNetworkAreTriedAgain() {
    let refused = HTTPFailure(.connect(to: "localhost:4318", why: "Connection refused"))
    #expect(
      CollectorReply(.failure(refused), now: 0)
        == .tryLater(
          after: nil, reason: "cannot connect to localhost:4318: Connection refused"))
    let forged = HTTPFailure(.tls(.selfSigned, why: ""))
    #expect(
      CollectorReply(.failure(forged), now: 0)
        == .refused(reason: "the server's certificate is self-signed"))
  }
}

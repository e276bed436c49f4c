import Testing

@testable import WeftHTTP

/// Well-behaved servers.
struct ServerTests {
  @Test func anAnswerArrivesWithItsStatusHeadersAndBody() async throws {
    let server = HostileServer { connection in
      _ = connection.readHead()
      connection.answer("201 Created", ["X-One: 1", "x-one: 2"], body: "hello")
    }
    defer { server.close() }
    let outcome = await ask(try request(server.url()))
    let response = try outcome.get()
    #expect(response.status == 201)
    #expect(response.headers.values(of: "X-ONE") == ["1", "2"])
    #expect(try response.text() == "hello")
    #expect(response.figures.remotePort == server.port)
    #expect(response.figures.protocolVersion == "HTTP/1.1")
    #expect(response.figures.bodyBytesReceived == 5)
  }
}

import Glibc
import Synchronization
import Testing
import WeftPlatform

@testable import WeftHTTP

/// Bodies of requests.
struct BodyTests {
  /// A server that responds with the request as received.
  private func echo() -> HostileServer {
    HostileServer { connection in
      while let (head, body) = connection.readRequest() {
        connection.answer(body: head + String(decoding: body, as: UTF8.self))
      }
    }
  }

  private func echoed(
    _ method: HTTPMethod, _ change: (inout HTTPRequest) -> Void
  ) async throws -> String {
    let server = echo()
    defer { server.close() }
    let outcome = await ask(try request(server.url("/x"), method, change))
    return try outcome.get().text()
  }

  @Test func aRequestHasWhatWasAskedForAndLittleElse() async throws {
    let text = try await echoed("PURGE") {
      $0.headers = ["X-Empty": "", "X-Plain": " p ", "Accept": "a/b"]
      $0.wantsCompression = false
    }
    let lines = text.split(separator: "\r\n").map(String.init)
    #expect(lines[0] == "PURGE /x HTTP/1.1")
    let others = Set(lines.dropFirst().filter { !$0.hasPrefix("Host:") })
    #expect(others == ["X-Empty:", "X-Plain: p", "Accept: a/b", "User-Agent: weft"])
  }

  @Test func packedAnswersAreAskedFor() async throws {
    #expect(try await echoed(.get) { _ in }.contains("Accept-Encoding: "))
  }

  @Test(arguments: [HTTPMethod.post, .put, .patch])
  func anEmptyBodyHasItsLength(method: HTTPMethod) async throws {
    let text = try await echoed(method) { _ in }
    #expect(text.hasPrefix("\(method) "))
    #expect(text.contains("Content-Length: 0\r\n"))
    #expect(!text.contains("Content-Type"))
  }

  @Test(arguments: [HTTPMethod.post, .put, .patch, .delete, .get, "QUERY"])
  func aBodyGoesWithAnyMethod(method: HTTPMethod) async throws {
    let text = try await echoed(method) { $0.body = .json("{\"a\":1}") }
    #expect(text.hasPrefix("\(method) "))
    #expect(text.contains("Content-Type: application/json\r\n"))
    #expect(text.contains("Content-Length: 7\r\n"))
    #expect(!text.contains("Expect"))
    #expect(text.hasSuffix("\r\n\r\n{\"a\":1}"))
  }

  @Test func headHasNoBody() async throws {
    let server = HostileServer { connection in
      while let head = connection.readHead() {
        connection.send(
          "HTTP/1.1 \(head.hasPrefix("HEAD") ? 200 : 500) X\r\nContent-Length: 99999999999\r\n\r\n")
      }
    }
    defer { server.close() }
    let response = try await ask(try request(server.url(), .head)).get()
    #expect(response.status == 200)
    #expect(response.head.contentLength == 99_999_999_999)
    #expect(response.body == [])
  }

  @Test func filesAreStreamed() async throws {
    let size = 3_000_001
    let scratch = Scratch()
    defer { scratch.remove() }
    let path = scratch.file("big", Array(repeating: 0x61, count: size))
    let server = HostileServer { connection in
      guard let (head, body) = connection.readRequest() else { return }
      let isWhole = body.count == size && body.allSatisfy { $0 == 0x61 }
      connection.answer(
        body: isWhole && head.contains("Content-Length: \(size)\r\n") ? "whole" : "not")
    }
    defer { server.close() }
    let asked = try request(server.url(), .put) { $0.body = .file(path, contentType: nil) }
    let outcome = await ask(asked)
    #expect(outcome.text == "whole")
    #expect(outcome.response?.figures.bodyBytesSent == size)
  }

  @Test func aMultipartFormHasItsFilesInPlace() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let path = scratch.file("a.txt", Array("inside".utf8))
    let text = try await echoed(.post) {
      $0.body = .multipart([.text("x", "1"), .file("f", path: path, contentType: "text/plain")])
    }
    #expect(text.contains("name=\"x\"\r\n\r\n1\r\n--weft-"))
    #expect(
      text.contains("filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\ninside\r\n--weft-"))
  }

  @Test func unsendableRequestIsReported() async throws {
    let server = echo()
    defer { server.close() }
    let scratch = Scratch()
    defer { scratch.remove() }
    let fifo = scratch.path + "/fifo"
    mkfifo(fifo, 0o600)
    for (path, why) in [
      (scratch.path + "/missing", "no such file"), (scratch.path, "directory"),
      (fifo, "not a regular"),
    ] {
      let outcome = await ask(
        try request(server.url(), .put) { $0.body = .file(path, contentType: nil) })
      guard case .file(path, let reason)? = outcome.kind else {
        Issue.record("\(String(describing: outcome.kind))")
        continue
      }
      #expect(reason.contains(why))
    }
    #expect(server.accepted == 0)
  }

  @Test func aFileThatBecomesShorterIsNotPaddedWithAnything() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let path = scratch.file("big", Array(repeating: 0x61, count: 8_000_000))
    let server = HostileServer { connection in
      _ = connection.readHead()
      truncate(path, 1_000_000)
      connection.waitForClient()
    }
    defer { server.close() }
    let asked = try request(server.url(), .put) { $0.body = .file(path, contentType: nil) }
    guard case .file(path, let why)? = await ask(asked).kind else {
      Issue.record("it was sent")
      return
    }
    #expect(why.contains("shrank"))
  }

  @Test func anAnswerBeforeTheEndOfTheBodyCounts() async throws {
    let server = HostileServer { connection in
      _ = connection.readHead()
      connection.answer("413 Too Large", ["Connection: close"], body: "no")
      connection.waitForClient()
    }
    defer { server.close() }
    let body = RequestBody.bytes([UInt8](repeating: 0, count: 20_000_000), contentType: nil)
    let outcome = await ask(try request(server.url(), .post) { $0.body = body })
    #expect(outcome.response?.status == 413)
  }
}

/// A temporary directory for one test.
struct Scratch: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/weft-http-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("mkdtemp: errno \(errno)") }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  func file(_ name: String, _ bytes: [UInt8]) -> String {
    let file = try! Descriptor.creating(path + "/" + name, .onlyNew)
    try! file.writeAll(bytes)
    return path + "/" + name
  }

  /// The names in it, sorted.
  var names: [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Removes it; directories in it must be empty.
  func remove() {
    for name in names {
      unlink(path + "/" + name)
      rmdir(path + "/" + name)
    }
    rmdir(path)
  }
}

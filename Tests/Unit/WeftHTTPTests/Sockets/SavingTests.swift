import Glibc
import Synchronization
import Testing
import WeftFutures
import WeftPlatform

@testable import WeftCurl
@testable import WeftHTTP

/// Bodies saved to files.
struct SavingTests {
  private func contents(_ path: String) -> String? {
    (try? FileReading.bytes(of: path)).map { String(decoding: $0, as: UTF8.self) }
  }

  private func server(_ answer: String) -> HostileServer {
    HostileServer { connection in
      while connection.readRequest() != nil { connection.send(answer) }
    }
  }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode : 0
  }

  @Test("H34: a file takes its place when it is complete, and nothing else is left")
  func fileAppearsOnlyWhenComplete() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let path = scratch.file("out", Array("old".utf8))
    let server = server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    defer { server.close() }
    let response = try await ask(try request(server.url()) { $0.saveTo = SaveTarget(path) }).get()
    #expect(response.savedTo == path)
    #expect(response.body == [])
    #expect(contents(path) == "hello")
    #expect(scratch.names == ["out"])
    #expect(mode(path) & 0o077 & ~0o055 == 0, "no more than the umask lets a new file have")
  }

  @Test func anEmptyBodyBecomesAnEmptyFile() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let server = server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    defer { server.close() }
    let path = scratch.path + "/out"
    #expect(
      try await ask(try request(server.url()) { $0.saveTo = SaveTarget(path) }).get().status == 200)
    #expect(contents(path) == "")
  }

  @Test("H34: a symbolic link is replaced, and not followed")
  func symbolicLinkIsReplacedNotFollowed() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let precious = scratch.file("precious", Array("keep".utf8))
    let path = scratch.path + "/out"
    symlink(precious, path)
    let server = server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    defer { server.close() }
    _ = try await ask(try request(server.url()) { $0.saveTo = SaveTarget(path) }).get()
    #expect(contents(precious) == "keep")
    #expect(contents(path) == "hello")
    #expect(mode(path) & S_IFMT == S_IFREG)
  }

  @Test("H34: while it grows, nobody else may read it")
  func unfinishedFileIsPrivate() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let modes = Mutex<[mode_t]>([])
    let server = HostileServer { connection in
      _ = connection.readHead()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
      waits { !scratch.names.isEmpty }
      for name in scratch.names {
        var status = stat()
        lstat(scratch.path + "/" + name, &status)
        modes.withLock { $0.append(status.st_mode & 0o7777) }
      }
      connection.send("world")
    }
    defer { server.close() }
    let path = scratch.path + "/out"
    _ = try await ask(try request(server.url()) { $0.saveTo = SaveTarget(path) }).get()
    #expect(modes.withLock { $0 } == [0o600])
    #expect(contents(path) == "helloworld")
  }

  @Test("H34: a place that is none is told, and names what was wanted")
  func noPlace() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    mkdir(scratch.path + "/directory", 0o700)
    let server = server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    defer { server.close() }
    for name in ["missing/out", "directory"] {
      let path = scratch.path + "/" + name
      let failure = await ask(try request(server.url()) { $0.saveTo = SaveTarget(path) }).failure
      #expect(failure?.errorClass == "output")
      #expect(failure?.message.contains(path) == true)
    }
    #expect(scratch.names == ["directory"])
    for path in ["", "a/", "a\0b"] {
      let kind = await ask(try request(server.url()) { $0.saveTo = SaveTarget(path) }).kind
      #expect(kind == .invalid(.saveWithoutName(path)))
    }
  }

  @Test func aSpecialFileIsNotReplaced() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    mkfifo(scratch.path + "/fifo", 0o600)
    symlink("fifo", scratch.path + "/link")
    let server = server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    defer { server.close() }
    for name in ["fifo", "link"] {
      let path = scratch.path + "/" + name
      let kind = await ask(try request(server.url()) { $0.saveTo = SaveTarget(path) }).kind
      #expect(kind == .file(path: path, why: "is a FIFO, which cannot be replaced"))
    }
    #expect(mode(scratch.path + "/fifo") & S_IFMT == S_IFIFO)
    #expect(mode(scratch.path + "/link") & S_IFMT == S_IFLNK)
    #expect(scratch.names.sorted() == ["fifo", "link"])
  }

  @Test func anAnswerThatWasNotExpectedIsNotSaved() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let path = scratch.file("out", Array("old".utf8))
    let server = server("HTTP/1.1 404 No\r\nContent-Length: 5\r\n\r\nsorry")
    defer { server.close() }
    let response = try await ask(try request(server.url()) { $0.saveTo = SaveTarget(path) }).get()
    #expect(response.savedTo == nil)
    #expect(try response.text() == "sorry")
    #expect(contents(path) == "old")
    #expect(scratch.names == ["out"])
  }

  @Test(
    "H19: a file whose end is missing does not take its place",
    arguments: ["Content-Length: 10", "Transfer-Encoding: chunked"])
  func truncatedFileDoesNotReplaceTheOldOne(line: String) async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let path = scratch.file("out", Array("old".utf8))
    let server = HostileServer { connection in
      _ = connection.readHead()
      connection.send("HTTP/1.1 200 OK\r\n\(line)\r\n\r\n5\r\nhe")
    }
    defer { server.close() }
    let failure = await ask(try request(server.url()) { $0.saveTo = SaveTarget(path) }).failure
    guard case .partial? = failure?.kind else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(failure?.partial == nil, "nothing says that the rest would be of the same file")
    #expect(contents(path) == "old")
    #expect(scratch.names == ["out"])
  }

  /// Serves ten bytes with a tag; the first connection breaks after five of them.
  private func breaking(
    _ heads: Log, validator: String = "ETag: \"v1\"",
    then answer: @escaping @Sendable (String) -> String
  ) -> HostileServer {
    HostileServer { connection in
      while let head = connection.readHead() {
        heads.add(head)
        guard heads.all.count == 1 else {
          connection.send(answer(head))
          continue
        }
        connection.send("HTTP/1.1 200 OK\r\n\(validator)\r\nContent-Length: 10\r\n\r\n01234")
        return
      }
    }
  }

  private func begun(_ server: HostileServer, _ path: String) async throws -> PartialFile? {
    await ask(try request(server.url()) { $0.saveTo = SaveTarget(path) }).failure?.partial
  }

  @Test func aBrokenFileIsGoneOnWith() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let (path, heads) = (scratch.path + "/out", Log())
    let server = breaking(heads) { _ in
      "HTTP/1.1 206 Part\r\nETag: \"v1\"\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\n56789"
    }
    defer { server.close() }
    let partial = try #require(try await begun(server, path))
    #expect(partial.size == 5)
    #expect(scratch.names.count == 1)
    let outcome = await ask(
      try request(server.url()) { $0.saveTo = SaveTarget(path, resuming: partial) })
    #expect(outcome.response?.status == 206)
    #expect(contents(path) == "0123456789")
    #expect(scratch.names == ["out"])
    #expect(heads.all[1].contains("Range: bytes=5-\r\n"))
    #expect(heads.all[1].contains("If-Range: \"v1\"\r\n"))
  }

  @Test func aFileThatHasChangedIsReceivedWhole() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let (path, heads) = (scratch.path + "/out", Log())
    let server = breaking(heads) { _ in "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew" }
    defer { server.close() }
    var partial = try await begun(server, path)
    _ = try await ask(
      try request(server.url()) { [partial] in $0.saveTo = SaveTarget(path, resuming: partial) }
    ).get()
    #expect(contents(path) == "new")
    partial = nil
    waits { scratch.names.count <= 1 }
    #expect(scratch.names == ["out"], "what nobody goes on with is removed")
  }

  @Test(
    "a part that was not asked for is refused",
    arguments: ["bytes 4-9/10", "bytes 6-9/10", "bytes 5-9/8", "bytes 5-8/10", "nonsense"])
  func wrongPart(range: String) async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let (path, heads) = (scratch.path + "/out", Log())
    let server = breaking(heads) { _ in
      "HTTP/1.1 206 Part\r\nContent-Range: \(range)\r\nContent-Length: 5\r\n\r\n56789"
    }
    defer { server.close() }
    let partial = try await begun(server, path)
    let outcome = await ask(
      try request(server.url()) { $0.saveTo = SaveTarget(path, resuming: partial) })
    #expect(outcome.failure?.errorClass == "protocol")
    #expect(contents(path) == nil)
  }

  /// Servers that ignore `If-Range`, or do not repeat the validator.
  @Test(
    "the rest of another version is refused",
    arguments: [
      ("\"v1\"", "ETag: \"v1\"", "5-9/10", true), ("\"v1\"", "X: 1", "5-9/10", true),
      ("\"v1\"", "ETag: \"v1\"", "5-9/*", true), ("\"v1\"", "ETag: \"v2\"", "5-9/10", false),
      ("\"v1\"", "ETag: W/\"v1\"", "5-9/10", false), ("\"v1\"", "ETag: \"v1\"", "5-10/11", false),
      ("\"v1\"", "X: 1", "5-10/11", false), ("\"v1\"", "X: 1", "5-10/*", false),
      (nil, "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT", "5-9/10", true),
      (nil, "Last-Modified: Tue, 02 Jan 2024 00:00:00 GMT", "5-9/10", false),
    ])
  func restOfAnotherVersion(
    tag: String?, line: String, range: String, isAccepted: Bool
  ) async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let path = scratch.path + "/out"
    let validator =
      tag.map { "ETag: \($0)" } ?? "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT"
    let server = breaking(Log(), validator: validator) { _ in
      let rest = range.hasPrefix("5-10") ? "56789a" : "56789"
      return "HTTP/1.1 206 Part\r\n\(line)\r\nContent-Range: bytes \(range)\r\n"
        + "Content-Length: \(rest.utf8.count)\r\n\r\n\(rest)"
    }
    defer { server.close() }
    let partial = try #require(try await begun(server, path))
    let outcome = await ask(
      try request(server.url()) { $0.saveTo = SaveTarget(path, resuming: partial) })
    #expect(outcome.failure?.errorClass == (isAccepted ? nil : "protocol"))
    #expect(contents(path) == (isAccepted ? "0123456789" : nil))
  }

  @Test func aRestThatIsShorterThanItsRangeIsIncomplete() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let path = scratch.path + "/out"
    let server = breaking(Log()) { _ in
      "HTTP/1.1 206 Part\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 2\r\n\r\n56"
    }
    defer { server.close() }
    let partial = try await begun(server, path)
    let outcome = await ask(
      try request(server.url()) { $0.saveTo = SaveTarget(path, resuming: partial) })
    #expect(outcome.kind == .partial(received: 7, expected: 10))
    #expect(contents(path) == nil)
  }

  @Test(arguments: ["W/\"weak\"", "none"])
  func aWeakTagDoesNotMakeAFileResumable(tag: String) async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let server = breaking(Log(), validator: "ETag: \(tag)") { _ in "" }
    defer { server.close() }
    #expect(try await begun(server, scratch.path + "/out") == nil)
    #expect(scratch.names == [])
  }

  @Test func abandonedPartialFileIsRemoved() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let server = breaking(Log()) { _ in "" }
    defer { server.close() }
    var partial = try await begun(server, scratch.path + "/out")
    #expect(partial != nil)
    #expect(scratch.names.count == 1)
    partial = nil
    // The thread that reported it releases it a little later.
    waits { scratch.names.isEmpty }
    #expect(scratch.names == [])
  }

  @Test func aCancelledFileIsRemoved() async throws {
    let scratch = Scratch()
    defer { scratch.remove() }
    let server = HostileServer { connection in
      _ = connection.readHead()
      connection.send("HTTP/1.1 200 OK\r\nETag: \"v\"\r\nContent-Length: 10\r\n\r\n01234")
      connection.waitForClient()
    }
    defer { server.close() }
    let future = client.send(
      try request(server.url()) { $0.saveTo = SaveTarget(scratch.path + "/out") })
    waits { !scratch.names.isEmpty }
    future.cancel()
    #expect(await future.result.kind == .cancelled)
    #expect(scratch.names == [])
  }

  /// A writer that takes nothing until it is allowed to, and counts what it got.
  private final class SlowWriter: BodyWriter {
    let gate = Gate()
    let received = Mutex(0)

    func write(_ bytes: UnsafeRawBufferPointer) throws(HTTPFailure.Kind) {
      gate.wait()
      received.withLock { $0 += bytes.count }
    }

    func end(_ end: BodyEnd) throws(HTTPFailure.Kind) {}
  }

  private final class Gate: Sendable {
    private let isOpen = Watched(false)
    func open() { isOpen.change { $0 = true } }
    func wait() { isOpen.wait { $0 } }
  }

  @Test("H10: a server waits for a slow disk, and memory does not grow")
  func serverWaitsForASlowDisk() async throws {
    let sent = Mutex(0)
    let size = 64 * 1024 * 1024
    let server = HostileServer { connection in
      _ = connection.readHead()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
      let piece = [UInt8](repeating: 0x61, count: 65_536)
      while sent.withLock({ $0 }) < size, connection.send(piece) {
        sent.withLock { $0 += piece.count }
      }
      connection.waitForClient()
    }
    defer { server.close() }
    let writer = SlowWriter()
    let wire = try WireRequest(
      try request(server.url()) { $0.deadlines.idle = .milliseconds(300) }, boundary: "",
      total: .seconds(60))
    let future = CurlTransport().exchange(wire) { _ in .write(writer, limit: nil) }
    // The server blocks when the outlet, libcurl and the sockets in between are full.
    var before = -1
    while before != sent.withLock({ $0 }) || before == 0 {
      before = sent.withLock { $0 }
      usleep(500_000)
    }
    #expect(before < 24 * 1024 * 1024, "\(before)")
    #expect(!future.isSettled, "the server is not idle")
    writer.gate.open()
    #expect(try await future.result.get().body == [])
    #expect(writer.received.withLock { $0 } == size)
  }

  private struct FullDisk: BodyWriter {
    func write(_ bytes: UnsafeRawBufferPointer) throws(HTTPFailure.Kind) {
      throw .systemError(.noSpace, at: "out")
    }
    func end(_ end: BodyEnd) throws(HTTPFailure.Kind) {}
  }

  @Test func aFullDiskEndsTheTransfer() async throws {
    let server = HostileServer { connection in
      _ = connection.readHead()
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      while connection.send(String(repeating: "x", count: 65_536)) {}
    }
    defer { server.close() }
    let wire = try WireRequest(try request(server.url()), boundary: "", total: .seconds(20))
    let outcome = await CurlTransport().exchange(wire) { _ in .write(FullDisk(), limit: nil) }
      .result
    guard case .failure(let failure) = outcome, case .file("out", let why) = failure.kind else {
      Issue.record("\(outcome)")
      return
    }
    #expect(why.contains("ENOSPC"))
  }
}

/// The requests that a server received.
final class Log: Sendable {
  private let lines = Mutex<[String]>([])
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}

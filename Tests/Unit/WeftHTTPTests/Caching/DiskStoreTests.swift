import Glibc
import Testing
import WeftPlatform

@testable import WeftHTTP

/// Responses stored in a folder.
struct DiskStoreTests {
  private let scratch = Scratch()
  private let fresh = Origin.Answer.ok(["Cache-Control": "max-age=60", "ETag": "\"1\""], "text")

  private func cache(_ limits: CacheLimits = CacheLimits(), at clock: Clock = Clock()) throws
    -> HTTPCache
  {
    try HTTPCache.onDisk(scratch.path, limits: limits) { clock.now }
  }

  /// The paths of all stored responses.
  private var files: [String] {
    guard let folder = try? PrivateFolder("http-1", in: scratch.path) else { return [] }
    return (0...255).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
      .flatMap { folder.names(in: $0) }.map { scratch.path + "/http-1/" + $0 }
  }

  private func bytes(_ path: String) throws -> [UInt8] { try FileReading.bytes(of: path) }

  private func overwrite(_ path: String, _ change: (inout [UInt8]) -> Void) throws {
    var bytes = try bytes(path)
    change(&bytes)
    try Descriptor.creating(path, .orEmptied).writeAll(bytes)
  }

  @Test("H40: a later process finds what was stored, and asks only whether it is still right")
  func laterProcess() async throws {
    defer { Directory.removeTree(scratch.path) }
    let first = CachedWorld(Origin(fresh), cache: try cache())
    #expect(try await first.ask().cacheStatus == "miss")
    let second = CachedWorld(Origin(.status(304, ["ETag": "\"1\""])), cache: try cache())
    let hit = try await second.ask()
    #expect(hit.cacheStatus == "hit")
    #expect(hit.text == "text")
    second.clock.advance(by: 61)
    let again = try await second.ask()
    #expect(again.cacheStatus == "revalidated")
    #expect(again.text == "text")
    #expect(files.count == 1)
  }

  @Test("H40: nothing on the disk tells a URL, a credential or a header of a request")
  func storedFilesRevealNoRequest() async throws {
    defer { Directory.removeTree(scratch.path) }
    let answer = Origin.Answer.ok(["Cache-Control": "max-age=60", "Vary": "X-Tenant"], "text")
    let world = CachedWorld(Origin(answer), cache: try cache())
    let url = "https://a.test/hidden?token=hidden"
    _ = try await world.ask(url, .get, ["Cookie": "hidden", "X-Tenant": "hidden"]) {
      $0.auth = .bearer("hidden")
      $0.headers.add(HTTPHeader("X-Key", "hidden", isSecret: true))
    }
    let file = try #require(files.first)
    #expect(!file.contains("hidden"))
    #expect(!String(decoding: try bytes(file), as: UTF8.self).contains("hidden"))
    var status = stat()
    #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(stat(scratch.path + "/http-1", &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test("a damaged answer is none, and goes", arguments: [0, 25, 400])
  func damagedResponseIsRemoved(place: Int) async throws {
    defer { Directory.removeTree(scratch.path) }
    let world = CachedWorld(Origin(fresh), cache: try cache())
    _ = try await world.ask()
    let file = try #require(files.first)
    try overwrite(file) { bytes in
      if place < bytes.count { bytes[place] ^= 1 } else { bytes.removeLast() }
    }
    #expect(try await world.ask().cacheStatus == "miss")
    #expect(try await world.ask().cacheStatus == "hit")
    try overwrite(file) { $0 = [] }
    #expect(
      try await world.ask("https://a.test/x", .get, ["Cache-Control": "only-if-cached"])
        .response?.status == 504)
    #expect(files == [])
  }

  @Test func anAnswerUnderAnotherOnesNameIsNotBelieved() async throws {
    defer { Directory.removeTree(scratch.path) }
    let world = CachedWorld(Origin(fresh), cache: try cache())
    _ = try await world.ask("https://a.test/one")
    let one = try #require(files.first)
    _ = try await world.ask("https://a.test/two")
    let two = try #require(files.first { $0 != one })
    let content = try bytes(one)
    try overwrite(two) { $0 = content }
    #expect(try await world.ask("https://a.test/two").cacheStatus == "miss")
  }

  @Test("H40: credentials, variants and invalidation are the same as in memory")
  func sameRules() async throws {
    defer { Directory.removeTree(scratch.path) }
    let world = CachedWorld(
      Origin { request in
        let headers = HTTPHeaders(request.headers)
        return .ok(
          ["Cache-Control": "max-age=60", "Vary": "Accept"],
          (headers["authorization"] ?? "nobody") + " " + (headers["accept"] ?? "anything"))
      }, cache: try cache())
    for expected in ["miss", "hit"] {
      for token in ["one", "two"] {
        for accept in ["a", "b"] {
          let answer = try await world.ask("https://a.test/x", .get, ["Accept": accept]) {
            $0.auth = .bearer(token)
          }
          #expect(answer.cacheStatus == expected)
          #expect(answer.text == "Bearer \(token) \(accept)")
        }
      }
    }
    #expect(files.count == 4)
    _ = try await world.ask("https://a.test/x", .delete)
    #expect(files.count == 0)
  }

  @Test func aFolderThatIsFullLosesWhatWasUsedLeastRecently() async throws {
    defer { Directory.removeTree(scratch.path) }
    let limits = CacheLimits(totalBytes: 400_000, bodyBytes: 100_000)
    let body = String(repeating: "x", count: 20_000)
    let world = CachedWorld(
      Origin(.ok(["Cache-Control": "max-age=60"], body)), cache: try cache(limits))
    for number in 1...40 {
      _ = try await world.ask("https://a.test/\(number)")
      for file in files { age(file) }
      _ = try await world.ask("https://a.test/1")
    }
    let size = try files.reduce(0) { $0 + (try bytes($1).count) }
    #expect(size <= limits.totalBytes)
    #expect(files.count > 10)
    #expect(try await world.ask("https://a.test/1").cacheStatus == "hit")
    #expect(try await world.ask("https://a.test/2").cacheStatus == "miss")
  }

  /// Makes the file a second older.
  private func age(_ path: String) {
    var status = stat()
    stat(path, &status)
    var times = [timespec](repeating: status.st_mtim, count: 2)
    times[0].tv_sec -= 1
    times[1].tv_sec -= 1
    utimensat(AT_FDCWD, path, &times, 0)
  }

  @Test func unwritableResponseIsNotStored() async throws {
    defer { Directory.removeTree(scratch.path) }
    let world = CachedWorld(Origin(fresh), cache: try cache())
    _ = try await world.ask()
    Directory.removeTree(scratch.path)
    #expect(try await world.ask().cacheStatus == "miss")
    #expect(try await world.ask().text == "text")
  }

  @Test func unusableCacheFolderIsReportedImmediately() throws {
    defer { Directory.removeTree(scratch.path) }
    let file = scratch.file("file", [])
    do throws(CacheFolderError) {
      _ = try HTTPCache.onDisk(file)
      Issue.record("a file became a folder")
    } catch {
      #expect(error.path == file)
      #expect(error.message.contains("ENOTDIR") || error.message.contains("EEXIST"))
    }
  }

  @Test func aDamagedSecretLosesWhatWasStoredAndNothingElse() async throws {
    defer { Directory.removeTree(scratch.path) }
    _ = try await CachedWorld(Origin(fresh), cache: try cache()).ask()
    try overwrite(scratch.path + "/http-1/secret") { $0.removeLast() }
    let world = CachedWorld(Origin(fresh), cache: try cache())
    #expect(try await world.ask().cacheStatus == "miss")
    #expect(try await CachedWorld(Origin(fresh), cache: try cache()).ask().cacheStatus == "hit")
  }

  @Test func manyWhoUseOneFolderAtOnceGetWholeAnswers() async throws {
    defer { Directory.removeTree(scratch.path) }
    let caches = try (0..<4).map { _ in try cache(CacheLimits(totalBytes: 300_000)) }
    let origin = Origin { request in
      .ok(["Cache-Control": "max-age=60"], String(repeating: request.url.path, count: 5000))
    }
    await withTaskGroup(of: Bool.self) { group in
      for cache in caches {
        group.addTask {
          let world = CachedWorld(origin, cache: cache)
          for number in 0..<60 {
            let path = "/\(number % 9)"
            let text = (try? await world.ask("https://a.test" + path))?.text
            if text != String(repeating: path, count: 5000) { return false }
          }
          return true
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}

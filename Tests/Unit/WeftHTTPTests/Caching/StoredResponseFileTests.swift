import Testing
import WeftEncoding
import WeftPlatform

@testable import WeftHTTP

/// The format of a stored answer on disk.
struct StoredResponseFileTests {
  private func response(_ headers: HTTPHeaders, body: [UInt8], vary: [String] = ["a", "b"])
    -> StoredResponse
  {
    StoredResponse(
      key: ResponseKey(resource: "0123", requester: "4567"), vary: vary, selection: "89ab",
      head: HTTPResponseHead(status: 203, headers: headers), body: body,
      requestTime: 1_800_000_000, responseTime: 1_800_000_001)
  }

  private func file(_ response: StoredResponse) throws -> [UInt8] {
    try #require(StoredResponseFile.bytes(of: response))
  }

  private static let kept: [(HTTPHeaders, [UInt8], [String])] = [
    (["A": "1", "B": "", "a": "x: y", "C": " z "], Array("body".utf8), ["a"]),
    ([:], [], []), (["É": "ü\u{85}"], [0, 10, 10, 255], ["x", "y"]),
    (["sum": "sum x", "header": "header y"], Array("\n\nsum 0\n\n".utf8), []),
  ]

  @Test(arguments: kept)
  func storedResponseIsReadBack(headers: HTTPHeaders, body: [UInt8], vary: [String]) throws {
    let stored = response(headers, body: body, vary: vary)
    #expect(StoredResponseFile.response(in: try file(stored)) == stored)
  }

  @Test func theFileSaysWhatItIs() throws {
    let bytes = try file(response(["Content-Type": "text/plain"], body: Array("body\n".utf8)))
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(
      text.hasPrefix(
        """
        weft-http-response 1
        resource 0123
        asker 4567
        selection 89ab
        asked 1800000000
        answered 1800000001
        status 203
        vary a
        vary b
        header Content-Type: text/plain
        sum\u{20}
        """))
    #expect(text.hasSuffix("\n\nbody\n"))
  }

  @Test func everyDamageIsSeen() throws {
    let bytes = try file(response(["A": "1"], body: Array("some body".utf8)))
    for length in bytes.indices {
      #expect(StoredResponseFile.response(in: Array(bytes[..<length])) == nil, "cut to \(length)")
    }
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      #expect(StoredResponseFile.response(in: changed) == nil, "byte \(index)")
    }
    #expect(StoredResponseFile.response(in: bytes + [0]) == nil)
    #expect(StoredResponseFile.response(in: []) == nil)
  }

  @Test func anotherVersionIsNotRead() throws {
    let text = "weft-http-response 2\nstatus 200\n"
    let sum = SHA256.text(of: SHA256.digest(of: text.utf8))
    #expect(StoredResponseFile.response(in: Array("\(text)sum \(sum)\n\n".utf8)) == nil)
  }

  @Test func unreadableResponseIsNotWritten() {
    #expect(StoredResponseFile.bytes(of: response(["A": "1\nstatus 200"], body: [])) == nil)
  }
}

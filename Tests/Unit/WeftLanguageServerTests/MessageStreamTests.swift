import Testing
import WeftJSON

@testable import WeftLanguageServer

@Suite struct MessageStreamTests {
  private static let message: JSONValue = ["jsonrpc": "2.0", "method": "é", "params": [1, true]]

  @Test func messagesArriveInAnyPieces() throws {
    let bytes = MessageStream.framed(Self.message) + MessageStream.framed(["id": 1])
    for size in 1...bytes.count {
      var stream = MessageStream()
      var found: [MessageStream.Incoming] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        stream.append(bytes[start..<min(start + size, bytes.count)])
        while let next = try stream.next() { found.append(next) }
      }
      #expect(found == [.message(Self.message), .message(["id": 1])], "pieces of \(size)")
    }
  }

  @Test func otherHeadersAndLettersOfAnySizeAreAccepted() throws {
    var stream = MessageStream()
    stream.append(
      "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:2\r\n\r\n{}".utf8)
    #expect(try stream.next() == .message([:]))
    #expect(try stream.next() == nil)
  }

  @Test(arguments: ["{", "nothing", "\u{0}\u{0}", "{} {}"])
  func contentThatIsNotJSONIsOneMessage(_ content: String) throws {
    var stream = MessageStream()
    stream.append("Content-Length: \(content.utf8.count)\r\n\r\n\(content)".utf8)
    stream.append(MessageStream.framed([:]))
    #expect(try stream.next() == .unreadable)
    #expect(try stream.next() == .message([:]))
  }

  @Test(arguments: [
    "\r\n\r\n", "Content-Length: x\r\n\r\n", "Content-Length: -1\r\n\r\n",
    "Content-Length: 99999999999\r\n\r\n", "Content-Length: 99999999999999999999999\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\n\r\n", String(repeating: "x", count: 5000),
  ])
  func textOfAnotherProtocolIsAFault(_ text: String) {
    var stream = MessageStream()
    stream.append(text.utf8)
    #expect(throws: MessageStream.Fault.self) { try stream.next() }
  }
}

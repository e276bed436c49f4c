import WeftDiagnostics
package import WeftJSON

/// Splits a stream of bytes into messages, and frames those to send, by the base protocol of the Language Server
/// Protocol 3.17: a `Content-Length` header, an empty line, and that many bytes of JSON.
package struct MessageStream {
  /// A defect after which it is unknown where the next message begins.
  package struct Fault: Error, Hashable {
    package let message: String
  }

  package enum Incoming: Hashable {
    case message(JSONValue)
    /// A message whose content is not JSON.
    case unreadable
  }

  /// The maximum length of the headers of a message, and of its content, in bytes.
  static let headerLimit = 4096
  static let contentLimit = 256 << 20

  private var bytes: [UInt8] = []
  /// The number of bytes that are used up.
  private var used = 0

  package init() {}

  package mutating func append(_ more: some Collection<UInt8>) {
    if used > 0 {
      bytes.removeFirst(used)
      used = 0
    }
    bytes += more
  }

  /// The next complete message; `nil` if more bytes are needed.
  package mutating func next() throws(Fault) -> Incoming? {
    guard let (length, start) = try header() else { return nil }
    guard bytes.count - start >= length else { return nil }
    used = start + length
    let file = SourceFile(path: "<message>", bytes: Array(bytes[start..<used]))
    let limits = JSONLimits(bytes: MessageStream.contentLimit)
    let (root, problems) = JSONReader.read(file, limits: limits, beside: nil)
    guard let root, !problems.contains(where: \.isError) else { return .unreadable }
    return .message(JSONValue(root))
  }

  /// The length of the next content, and the offset at which it begins.
  private func header() throws(Fault) -> (length: Int, start: Int)? {
    var length: Int?
    var start = used
    while true {
      guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else {
        if bytes.count - used > MessageStream.headerLimit {
          throw Fault(message: "a message has no header")
        }
        return nil
      }
      let line = String(decoding: bytes[start..<end], as: UTF8.self).filter { !$0.isNewline }
      start = end + 1
      if line.isEmpty || line == "\r" { break }
      if start - used > MessageStream.headerLimit {
        throw Fault(
          message: "the headers of a message have more than \(MessageStream.headerLimit) bytes")
      }
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, parts[0].lowercased() == "content-length" else { continue }
      length = Int(parts[1].filter { !$0.isWhitespace })
    }
    guard let length, 0...MessageStream.contentLimit ~= length else {
      throw Fault(message: "a message has no valid Content-Length")
    }
    return (length, start)
  }

  /// The bytes of a message to send.
  package static func framed(_ message: JSONValue) -> [UInt8] {
    let content = Array(message.description.utf8)
    return Array("Content-Length: \(content.count)\r\n\r\n".utf8) + content
  }
}

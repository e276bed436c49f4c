import WeftHTTP

/// Parses the head of a response from the lines that libcurl delivers one by one.
///
/// Lenient about common harmless mistakes of servers; strict where two parsers could disagree about the end of a
/// message (RFC 9112 §6.3).
struct HeadReader {
  enum Step {
    case more
    case complete(HTTPResponseHead)
    case fault(HTTPFailure.Kind)
  }

  private let limit: Int
  private var count = 0
  private var status: Int?
  private var fields: [HTTPHeader] = []
  /// The number of lines that determine where the body ends.
  private var framingLines = 0
  /// Whether those lines need a closer check.
  private var isFramingSuspicious = false
  private(set) var isComplete = false

  init(limit: Int) { self.limit = limit }

  /// - Parameter line: Includes its line ending. All lines count, also those of `1xx` responses and trailers.
  mutating func take(_ line: UnsafeRawBufferPointer) -> Step {
    count += line.count
    if count > limit { return .fault(.limit(.headers, limit)) }
    // Trailers (RFC 9110 §6.5.1) are ignored.
    if isComplete { return .more }
    let text = Self.trimmed(line)
    if text.isEmpty { return end() }
    let isFolded = line[0] == 0x20 || line[0] == 0x09
    if isFolded { return fold(text) }
    return text.starts(with: "HTTP/".utf8) ? begin(text) : field(text)
  }

  private mutating func begin(_ line: UnsafeRawBufferPointer) -> Step {
    let rest = Self.trimmed(UnsafeRawBufferPointer(rebasing: line.drop { $0 != 0x20 }))
    guard let number = ASCII.number(rest.prefix { $0 != 0x20 }), (100...999).contains(number) else {
      return .fault(.malformed("its first line is \"\(Self.excerpt(Self.text(line)))\""))
    }
    if number == 101 { return .fault(.malformed("it switches protocols unasked")) }
    status = number
    (fields, framingLines, isFramingSuspicious) = ([], 0, false)
    return .more
  }

  private mutating func field(_ line: UnsafeRawBufferPointer) -> Step {
    guard status != nil else { return .fault(.malformed("a header comes before the status line")) }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
      return .fault(.malformed("a header without a colon"))
    }
    let name = Self.trimmed(UnsafeRawBufferPointer(rebasing: line[..<colon]))
    let value = Self.trimmed(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]))
    record(name, value)
    fields.append(HTTPHeader(Self.text(name), Self.text(value)))
    return .more
  }

  private mutating func record(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let isLength = name.count == 14 && ASCII.isSame(name, "content-length".utf8)
    guard isLength || name.count == 17 && ASCII.isSame(name, "transfer-encoding".utf8) else {
      return
    }
    framingLines += 1
    if framingLines > 1 || isLength && ASCII.number(value) == nil { isFramingSuspicious = true }
  }

  /// Appends a continuation line to the previous header (RFC 9112 §5.2).
  private mutating func fold(_ line: UnsafeRawBufferPointer) -> Step {
    guard let last = fields.popLast() else { return .more }
    isFramingSuspicious = true
    let more = Self.text(line)
    let value = last.value.isEmpty ? more : last.value + " " + more
    fields.append(HTTPHeader(last.name, value))
    return .more
  }

  private mutating func end() -> Step {
    guard let status else { return .fault(.malformed("it begins with an empty line")) }
    // 100 Continue, 103 Early Hints: the final response follows.
    if status < 200 {
      self.status = nil
      return .more
    }
    let head = HTTPResponseHead(status: status, headers: HTTPHeaders(fields))
    if isFramingSuspicious, let disagreement = Self.disagreement(in: head.headers) {
      return .fault(.malformed(disagreement))
    }
    isComplete = true
    return .complete(head)
  }

  private static func disagreement(in headers: HTTPHeaders) -> String? {
    let lengths = Set(headers.list(of: "content-length"))
    if lengths.count > 1 {
      return "it has several lengths: \(lengths.sorted().joined(separator: ", "))"
    }
    if let length = lengths.first {
      if ASCII.number(length) == nil { return "its length is \"\(excerpt(length))\"" }
      if headers.contains("transfer-encoding") { return "it has a length and is also chunked" }
    }
    return nil
  }

  /// Returns the bytes without surrounding spaces, tabs and line endings.
  private static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var (start, end) = (0, bytes.count)
    while start < end, isSpace(bytes[start]) { start += 1 }
    while start < end, isSpace(bytes[end - 1]) { end -= 1 }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
  }

  /// Decodes UTF-8, or else Latin-1, which is valid for any bytes.
  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
    return String(validating: bytes, as: UTF8.self) ?? BodyText.latin1(bytes)
  }

  /// Returns as much of a server's text as fits a message.
  private static func excerpt(_ text: String) -> String {
    String(
      text.unicodeScalars.prefix(80).map {
        $0.value < 0x20 || $0.value == 0x7F ? "?" : Character($0)
      })
  }
}

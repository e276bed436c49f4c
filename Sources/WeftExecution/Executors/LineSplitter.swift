/// Cuts a stream of bytes into lines, however the stream is cut into chunks.
///
/// A line longer than the limit is passed on in parts, never cut inside a UTF-8 sequence.
struct LineSplitter {
  /// Lines that are complete, in one piece of memory.
  struct Block {
    /// The lines with their newlines, as they were written.
    let bytes: [UInt8]
    /// Each line without its newline, and what ends it.
    let lines: [(range: Range<Int>, ending: StepOutput.Ending)]
  }

  static let longestLineBytes = 64 << 10

  /// The beginning of a line whose end has not come yet.
  private var rest: [UInt8] = []

  /// Takes a chunk.
  ///
  /// - Returns: All lines that it completes; `nil` if it completes none.
  mutating func take(_ chunk: UnsafeRawBufferPointer) -> Block? {
    let newline = chunk.lastIndex(of: UInt8(ascii: "\n"))
    guard newline != nil || rest.count + chunk.count > LineSplitter.longestLineBytes else {
      rest += chunk
      return nil
    }
    var bytes = rest
    bytes += chunk
    let lines = cut(bytes)
    let end = lines.last.map { $0.range.upperBound + ($0.ending == .newline ? 1 : 0) } ?? 0
    rest = Array(bytes[end...])
    bytes.removeSubrange(end...)
    return lines.isEmpty ? nil : Block(bytes: bytes, lines: lines)
  }

  /// The last line, if the stream did not end with a newline.
  mutating func finish() -> Block? {
    guard !rest.isEmpty else { return nil }
    defer { rest = [] }
    return Block(bytes: rest, lines: [(rest.indices, .endOfStream)])
  }

  private func cut(_ bytes: [UInt8]) -> [(range: Range<Int>, ending: StepOutput.Ending)] {
    var lines: [(range: Range<Int>, ending: StepOutput.Ending)] = []
    var start = 0
    bytes.withUnsafeBytes { buffer in
      while start < buffer.count {
        let newline = buffer[start...].firstIndex(of: UInt8(ascii: "\n"))
        let end = newline ?? buffer.count
        while end - start > LineSplitter.longestLineBytes {
          let part = LineSplitter.boundary(in: buffer, from: start)
          lines.append((start..<part, .partial))
          start = part
        }
        guard let newline else { return }
        lines.append((start..<newline, .newline))
        start = newline + 1
      }
    }
    return lines
  }

  /// Where a part that begins at `start` ends: at the limit, or up to three bytes before it if a UTF-8
  /// sequence would be cut (RFC 3629: continuation bytes are 10xxxxxx, at most three in a row).
  private static func boundary(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    let limit = start + longestLineBytes
    var end = limit
    while limit - end < 3, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return bytes[end] & 0xC0 == 0x80 ? limit : end
  }
}

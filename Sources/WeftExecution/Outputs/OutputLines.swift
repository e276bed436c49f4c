/// The lines of an output file, and the values that span several of them.
struct OutputLines {
  struct Line {
    /// Counts from 1.
    let number: Int
    /// Without its line end; `nil` if it is not text.
    let text: String?
    /// The fault if it is not text.
    let fault: OutputFault.Kind
  }

  enum Delimited {
    case value(String)
    /// The file ended before the delimiter.
    case unclosed
    case unreadable(OutputFault.Kind, line: Int)
  }

  private let bytes: [UInt8]
  /// The offset of the next line.
  private var start: Int
  /// The number of the last line.
  private var number = 0

  /// Skips a byte order mark.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  mutating func next() -> Line? {
    guard let range = nextRange() else { return nil }
    return line(range)
  }

  /// The text up to the line that is `delimiter`, without the line end before it. Everything in between is kept
  /// unchanged, including line ends.
  mutating func value(until delimiter: String) -> Delimited {
    let first = start
    while true {
      let lineStart = start
      guard let range = nextRange() else { return .unclosed }
      let line = line(range)
      guard let text = line.text else { return .unreadable(line.fault, line: number) }
      guard text.utf8.elementsEqual(delimiter.utf8) else { continue }
      let end = withoutLineEnd(first..<lineStart)
      return .value(String(decoding: bytes[end], as: UTF8.self))
    }
  }

  private mutating func nextRange() -> Range<Int>? {
    guard start < bytes.count else { return nil }
    let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
    defer { start = end }
    number += 1
    return start..<end
  }

  private func line(_ range: Range<Int>) -> Line {
    let content = bytes[withoutLineEnd(range)]
    let text = content.contains(0) ? nil : String(validating: content, as: UTF8.self)
    return Line(number: number, text: text, fault: content.contains(0) ? .nul : .notUTF8)
  }

  private func withoutLineEnd(_ range: Range<Int>) -> Range<Int> {
    var end = range.upperBound
    guard end > range.lowerBound, bytes[end - 1] == UInt8(ascii: "\n") else { return range }
    end -= 1
    if end > range.lowerBound, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return range.lowerBound..<end
  }
}

import Synchronization

/// A text that diagnostics point into: its bytes, and the name that messages use for it.
///
/// Each read of a file has its own identity: two reads of one path are two source files.
public final class SourceFile: Sendable {
  /// The name in messages: the path as the user gave it, or a description such as `<stdin>`.
  public let path: String
  /// The whole text, as read.
  public let bytes: [UInt8]

  /// Built when a location is first needed: a file without diagnostics never pays for it.
  private let lines = Mutex<LineTable?>(nil)

  public init(path: String, bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
  }

  /// Whether it may contain comments and trailing commas: its name ends with `.jsonc`.
  package var allowsComments: Bool { path.hasSuffix(".jsonc") }

  /// The number of bytes of its byte order mark, which is no part of the text.
  package var markLength: Int { bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }

  /// The first part of a file that is no text, such as `U+0000`, and its offset; `nil` for a text in UTF-8.
  package var textFault: (found: String, offset: Int)? {
    if let nul = bytes.firstIndex(of: 0) { return ("U+0000", nul) }
    guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
    // Where the repaired text differs.
    let repaired = String(decoding: bytes, as: UTF8.self).utf8
    let offset = zip(bytes, repaired).prefix { $0 == $1 }.reduce(0) { count, _ in count + 1 }
    return ("a byte that is not UTF-8", offset)
  }

  package var lineTable: LineTable {
    lines.withLock { known in
      if let known { return known }
      let table = LineTable(bytes)
      known = table
      return table
    }
  }

  /// The line and column of a byte offset. Offsets past the end count as the end.
  public func position(of offset: Int) -> SourcePosition {
    lineTable.position(of: offset, in: bytes)
  }
}

extension SourceFile: Hashable {
  public static func == (left: SourceFile, right: SourceFile) -> Bool { left === right }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A half-open range of byte offsets in a ``SourceFile``.
///
/// Offsets are 32 bits wide: a workflow file has at most 64 MiB, and there are many ranges.
public struct SourceRange: Sendable, Hashable {
  public var start: UInt32
  public var end: UInt32

  public init(start: Int, end: Int) {
    self.start = UInt32(start)
    self.end = UInt32(end)
  }

  package func moved(by count: Int) -> SourceRange {
    SourceRange(start: Int(start) + count, end: Int(end) + count)
  }
}

/// A position for people: lines and columns from 1, one column for each Unicode scalar.
///
/// A tab is one column, and so is every byte that is not UTF-8. CR LF, LF and a lone CR end a line; a byte order mark
/// at the start of the file is not counted.
public struct SourcePosition: Sendable, Hashable {
  public var line: Int
  public var column: Int

  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}

/// The offsets at which the lines of a text begin, and the number of scalars before each 4 KiB block.
///
/// The second table keeps columns cheap in a file that is a single line of many megabytes.
package struct LineTable: Sendable {
  private static let blockSize = 4096

  /// The offset of the first byte of each line; never empty.
  private let starts: [UInt32]
  /// The number of scalars before byte `4096 * index`.
  private let scalarsBefore: [UInt32]
  private let markLength: Int

  package init(_ bytes: [UInt8]) {
    markLength = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    starts = LineTable.lineStarts(of: bytes)
    scalarsBefore = LineTable.scalarSums(of: bytes)
  }

  package var lineCount: Int { starts.count }

  package func position(of offset: Int, in bytes: [UInt8]) -> SourcePosition {
    let offset = min(max(offset, 0), bytes.count)
    let line = self.line(containing: offset)
    let start = max(Int(starts[line - 1]), line == 1 ? markLength : 0)
    let column = scalars(before: max(offset, start), in: bytes) - scalars(before: start, in: bytes)
    return SourcePosition(line: line, column: column + 1)
  }

  /// The bytes of a line, without its line ending and without a byte order mark.
  package func content(ofLine line: Int, in bytes: [UInt8]) -> Range<Int> {
    let start = Int(starts[line - 1])
    var end = line < starts.count ? Int(starts[line]) : bytes.count
    if line < starts.count {
      end -= 1
      if bytes[end] == UInt8(ascii: "\n"), end > start, bytes[end - 1] == UInt8(ascii: "\r") {
        end -= 1
      }
    }
    return (line == 1 ? min(start + markLength, end) : start)..<end
  }

  /// The last line that begins at or before `offset`, by bisection; lines count from 1.
  private func line(containing offset: Int) -> Int {
    var low = 0
    var high = starts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if Int(starts[middle]) <= offset { low = middle } else { high = middle }
    }
    return low + 1
  }

  private func scalars(before offset: Int, in bytes: [UInt8]) -> Int {
    let block = offset / LineTable.blockSize
    return Int(scalarsBefore[block])
      + LineTable.scalarCount(bytes, from: block * LineTable.blockSize, to: offset)
  }

  private static func lineStarts(of bytes: [UInt8]) -> [UInt32] {
    var starts: [UInt32] = [0]
    bytes.withUnsafeBufferPointer { bytes in
      for index in bytes.indices {
        let byte = bytes[index]
        guard byte <= 0x0D else { continue }
        let next = index + 1
        let isFeed = byte == UInt8(ascii: "\n")
        let isLoneReturn =
          byte == UInt8(ascii: "\r") && !(next < bytes.count && bytes[next] == UInt8(ascii: "\n"))
        if isFeed || isLoneReturn { starts.append(UInt32(next)) }
      }
    }
    return starts
  }

  private static func scalarSums(of bytes: [UInt8]) -> [UInt32] {
    var sums: [UInt32] = [0]
    sums.reserveCapacity(bytes.count / blockSize + 1)
    var sum = 0
    for start in stride(from: 0, to: bytes.count - blockSize + 1, by: blockSize) {
      sum += scalarCount(bytes, from: start, to: start + blockSize)
      sums.append(UInt32(sum))
    }
    return sums
  }

  /// Every byte but a continuation byte begins a scalar.
  private static func scalarCount(_ bytes: [UInt8], from start: Int, to end: Int) -> Int {
    bytes.withUnsafeBufferPointer { bytes in
      var count = 0
      for index in start..<end { count &+= bytes[index] & 0xC0 == 0x80 ? 0 : 1 }
      return count
    }
  }
}

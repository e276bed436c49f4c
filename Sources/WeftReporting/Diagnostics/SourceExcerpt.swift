import WeftDiagnostics

/// One line of a file as a terminal shows it, and the position of the caret in it.
///
/// Tabs are expanded to every fourth column, and control and reordering characters are escaped. A long line is cut to
/// the part around the range, between `…`. Users and passwords in URLs are masked.
struct SourceExcerpt: Sendable, Hashable {
  let text: String
  /// The number of columns before the caret.
  let caretStart: Int
  /// At least 1, also for an empty range.
  let caretLength: Int

  /// - Parameters:
  ///   - range: Begins on the line, or at its end. The part on later lines is not underlined.
  ///   - width: The number of columns the text may fill.
  init(of line: Range<Int>, marking range: SourceRange, in bytes: [UInt8], width: Int) {
    let start = min(max(Int(range.start), line.lowerBound), line.upperBound)
    let end = min(max(Int(range.end), start), line.upperBound)
    let reach = 4 * width
    var part = max(line.lowerBound, start - reach)..<min(line.upperBound, start + reach)
    part = part.alignedToScalars(in: bytes)
    var cells = SourceCell.cells(of: part, in: bytes)
    SourceExcerpt.blankOut(&cells, HiddenCredentials.ranges(in: line.around(part), of: bytes))

    let marked = SourceExcerpt.columns(of: cells, from: start, to: end)
    let total = cells.last?.columns.upperBound ?? 0
    let isCut = (front: part.lowerBound > line.lowerBound, back: part.upperBound < line.upperBound)
    var window = 0..<total
    if total > width || isCut.front || isCut.back {
      window = SourceExcerpt.window(around: marked, of: total, width: max(width - 2, 8))
    }
    let seen = cells.filter {
      $0.columns.lowerBound >= window.lowerBound && $0.columns.upperBound <= window.upperBound
    }
    let first = seen.first?.columns.lowerBound ?? 0
    let last = seen.last?.columns.upperBound ?? 0
    let front = isCut.front || first > 0 ? "…" : ""
    let back = isCut.back || last < total ? "…" : ""
    text = front + seen.map(\.text).joined() + back
    caretStart = front.count + marked.lowerBound - first
    caretLength = max(1, min(marked.upperBound, last) - marked.lowerBound)
  }

  /// Masks credentials without changing columns.
  private static func blankOut(_ cells: inout [SourceCell], _ hidden: [Range<Int>]) {
    guard !hidden.isEmpty else { return }
    for index in cells.indices where hidden.contains(where: { $0.overlaps(cells[index].bytes) }) {
      cells[index].text = String(repeating: "*", count: cells[index].columns.count)
    }
  }

  /// The columns of the cells that the bytes `start..<end` touch.
  private static func columns(of cells: [SourceCell], from start: Int, to end: Int) -> Range<Int> {
    let total = cells.last?.columns.upperBound ?? 0
    guard let first = cells.first(where: { $0.bytes.upperBound > start }) else {
      return total..<total
    }
    let lower = first.columns.lowerBound
    let last = cells.last { $0.bytes.lowerBound < end }
    return lower..<max(lower, last?.columns.upperBound ?? lower)
  }

  /// A window of `width` columns with the marked ones in the middle; if they do not fit, with as many as do.
  private static func window(around marked: Range<Int>, of total: Int, width: Int) -> Range<Int> {
    let shown = min(marked.count, width * 3 / 4)
    let lead = (width - shown) / 2
    let start = max(0, min(marked.lowerBound - lead, total - width))
    return start..<min(total, start + width)
  }
}

extension Range<Int> {
  /// `part` extended by the length that a URL reaching into it may have, within this range.
  fileprivate func around(_ part: Range<Int>) -> Range<Int> {
    Swift.max(lowerBound, part.lowerBound - 8192)..<Swift.min(upperBound, part.upperBound + 8192)
  }

  /// Shrinks the range so that it cuts no UTF-8 sequence.
  fileprivate func alignedToScalars(in bytes: [UInt8]) -> Range<Int> {
    var lower = lowerBound
    var upper = upperBound
    while lower > 0, lower < upper, bytes[lower] & 0xC0 == 0x80 { lower += 1 }
    while upper < bytes.count, upper > lower, bytes[upper] & 0xC0 == 0x80 { upper -= 1 }
    return lower..<upper
  }
}

/// A character of a source line as it is displayed: its bytes, its text and its columns.
struct SourceCell: Sendable, Hashable {
  static let tabStop = 4

  var bytes: Range<Int>
  var text: String
  var columns: Range<Int>

  /// Returns one cell for each character, each escape and each byte that is not UTF-8.
  static func cells(of range: Range<Int>, in bytes: [UInt8]) -> [SourceCell] {
    var cells: [SourceCell] = []
    var offset = range.lowerBound
    while offset < range.upperBound {
      let valid = validPrefix(of: offset..<range.upperBound, in: bytes)
      for character in String(decoding: bytes[valid], as: UTF8.self) {
        append(character, to: &cells, from: &offset)
      }
      guard offset < range.upperBound else { break }
      append(TerminalText.escape(byte: bytes[offset]), length: 1, to: &cells, from: &offset)
    }
    return cells
  }

  private static func append(
    _ character: Character, to cells: inout [SourceCell], from offset: inout Int
  ) {
    let scalars = character.unicodeScalars
    if character == "\t" {
      let column = cells.last?.columns.upperBound ?? 0
      let spaces = String(repeating: " ", count: tabStop - column % tabStop)
      append(spaces, length: 1, to: &cells, from: &offset)
    } else if scalars.contains(where: { TerminalText.escape($0) != nil }) {
      for scalar in scalars {
        let text = TerminalText.escape(scalar) ?? String(scalar)
        append(text, length: UTF8.width(scalar), to: &cells, from: &offset)
      }
    } else {
      let length = character.utf8.count
      append(String(character), length: length, to: &cells, from: &offset)
    }
  }

  private static func append(
    _ text: String, length: Int, to cells: inout [SourceCell], from offset: inout Int
  ) {
    let column = cells.last?.columns.upperBound ?? 0
    let width = text.reduce(0) { $0 + TerminalText.width(of: $1) }
    cells.append(
      SourceCell(
        bytes: offset..<offset + length, text: text, columns: column..<column + width))
    offset += length
  }

  /// The longest prefix that is well-formed UTF-8.
  private static func validPrefix(of range: Range<Int>, in bytes: [UInt8]) -> Range<Int> {
    var decoder = UTF8()
    var iterator = bytes[range].makeIterator()
    var end = range.lowerBound
    while case .scalarValue(let scalar) = decoder.decode(&iterator) {
      end += UTF8.width(scalar)
    }
    return range.lowerBound..<end
  }
}

/// Finds users and passwords in the URLs of a file, so that diagnostics do not show them: more people may read a
/// diagnostic than the file.
///
/// They are between `://` and the `@` before a host; the slashes may be escaped as `\/`. An expression in them names
/// the source of a value and is not a secret itself.
enum HiddenCredentials {
  /// Returns the ranges of credentials in ascending order, none of them empty.
  static func ranges(in part: Range<Int>, of bytes: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var offset = part.lowerBound
    while let colon = bytes[offset..<part.upperBound].firstIndex(of: UInt8(ascii: ":")) {
      offset = colon + 1
      guard let start = afterSlashes(offset..<part.upperBound, bytes) else { continue }
      let pieces = credentials(from: start, to: part.upperBound, bytes)
      found += pieces
      offset = pieces.last?.upperBound ?? start
    }
    return found
  }

  private static func afterSlashes(_ part: Range<Int>, _ bytes: [UInt8]) -> Int? {
    var offset = part.lowerBound
    for _ in 0..<2 {
      if offset < part.upperBound, bytes[offset] == UInt8(ascii: "\\") { offset += 1 }
      guard offset < part.upperBound, bytes[offset] == UInt8(ascii: "/") else { return nil }
      offset += 1
    }
    return offset
  }

  /// The text before the last `@` of the authority, without expressions; empty if there is no `@`.
  private static func credentials(from start: Int, to end: Int, _ bytes: [UInt8]) -> [Range<Int>] {
    var pieces: [Range<Int>] = []
    var hidden = 0
    var offset = start
    var pieceStart = start
    while offset < end, !endsAuthority(bytes[offset]) {
      if let behind = behindExpression(offset..<end, bytes) {
        pieces.append(pieceStart..<offset)
        (offset, pieceStart) = (behind, behind)
        continue
      }
      if bytes[offset] == UInt8(ascii: "@") {
        pieces.append(pieceStart..<offset)
        (hidden, pieceStart) = (pieces.count, offset)
      }
      offset += 1
    }
    return pieces.prefix(hidden).filter { !$0.isEmpty }
  }

  /// Whether a byte ends the authority: a slash, a delimiter after the authority, or the end of a text.
  private static func endsAuthority(_ byte: UInt8) -> Bool {
    byte <= 0x20 || "/?#\"\\<>".utf8.contains(byte)
  }

  private static func behindExpression(_ part: Range<Int>, _ bytes: [UInt8]) -> Int? {
    guard bytes[part].starts(with: "${{".utf8) else { return nil }
    var offset = part.lowerBound
    while offset + 1 < part.upperBound {
      if bytes[offset] == UInt8(ascii: "}"), bytes[offset + 1] == UInt8(ascii: "}") {
        return offset + 2
      }
      offset += 1
    }
    return part.upperBound
  }
}

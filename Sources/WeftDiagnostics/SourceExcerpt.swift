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

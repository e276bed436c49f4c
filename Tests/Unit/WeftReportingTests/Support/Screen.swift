@testable import WeftDiagnostics

/// A terminal: its contents after the bytes that a display wrote, and what scrolled away.
struct Screen {
  let columns: Int
  let rows: Int
  private(set) var scrolledAway: [String] = []
  private var cells: [[Character]]
  private var row = 0
  private var column = 0
  /// Sequences that a display must not send.
  private(set) var surprises: [String] = []

  init(columns: Int = 80, rows: Int = 24) {
    self.columns = columns
    self.rows = rows
    cells = Array(repeating: [], count: rows)
  }

  /// Everything above and on the screen, without blank rows at the end.
  var lines: [String] {
    var lines = scrolledAway + cells.map { String($0.filter { $0 != Screen.second }) }
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  var text: String { lines.map { $0 + "\n" }.joined() }

  /// The position of the cursor, from the top of the screen.
  var cursor: (row: Int, column: Int) { (row, column) }

  /// The right half of a wide character.
  private static let second: Character = "\u{0}"

  mutating func feed(_ bytes: [UInt8]) {
    var rest = String(decoding: bytes, as: UTF8.self)[...]
    while let character = rest.first {
      rest.removeFirst()
      switch character {
      case "\r": column = 0
      case "\r\n":
        column = 0
        lineFeed()
      case "\n": lineFeed()
      case "\u{1B}": obey(&rest)
      default: put(character)
      }
    }
  }

  private mutating func put(_ character: Character) {
    let width = TerminalText.width(of: character)
    if column + width > columns {
      column = 0
      lineFeed()
    }
    while cells[row].count < column { cells[row].append(" ") }
    cells[row].replaceSubrange(
      column..<min(column + width, cells[row].count),
      with: [character] + Array(repeating: Screen.second, count: width - 1))
    column += width
  }

  private mutating func lineFeed() {
    row += 1
    guard row == rows else { return }
    row -= 1
    scrolledAway.append(String(cells.removeFirst().filter { $0 != Screen.second }))
    cells.append([])
  }

  private mutating func obey(_ rest: inout Substring) {
    guard rest.first == "[" else { return surprises.append("ESC \(rest.prefix(1))") }
    let parameters = rest.dropFirst().prefix { $0.isNumber || $0 == ";" || $0 == "?" }
    let final = rest.dropFirst(1 + parameters.count).first
    rest = rest.dropFirst(2 + parameters.count)
    switch (final, parameters) {
    case ("m", _): break
    case ("A", _): row = max(0, row - (Int(parameters) ?? 1))
    case ("K", ""): cells[row].removeSubrange(min(column, cells[row].count)...)
    case ("J", ""):
      cells[row].removeSubrange(min(column, cells[row].count)...)
      for below in (row + 1)..<max(rows, row + 1) { cells[below] = [] }
    default: surprises.append("CSI \(parameters)\(final.map(String.init) ?? "")")
    }
  }
}

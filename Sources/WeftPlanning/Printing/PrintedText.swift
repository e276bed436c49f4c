import WeftDefinition
import WeftDiagnostics

/// Text that is being printed, as bytes: a large plan has ten megabytes of it.
struct PrintedText {
  private(set) var bytes: [UInt8] = []
  /// The mark for omitted text.
  var ellipsis = "…"

  mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

  mutating func append(_ text: StaticString) {
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends text that is known to be safe.
  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { bytes.append(contentsOf: $0) }
  }

  /// Appends ASCII that is known to be safe, padded with spaces to a number of columns.
  mutating func append(_ text: String, filling columns: Int) {
    append(text)
    append(spaces: columns - text.utf8.count)
  }

  mutating func append(_ text: some Collection<UInt8>) { bytes.append(contentsOf: text) }

  mutating func append(_ byte: UInt8) { bytes.append(byte) }

  mutating func append(_ number: Int) { append(String(number)) }

  mutating func append(spaces count: Int) {
    if count > 0 { bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: count)) }
  }

  mutating func endLine() {
    while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Appends text of unknown origin on one line, shortened to a number of columns, with terminal control characters
  /// escaped visibly.
  ///
  /// - Returns: The columns it fills.
  @discardableResult
  mutating func append(_ text: String, atMost columns: Int) -> Int {
    var text = text
    if let width = text.withUTF8({ appendPlain($0, atMost: columns) }) { return width }
    return appendCharacters(of: text, atMost: columns)
  }

  /// `nil` if the visible part has anything but printable ASCII.
  private mutating func appendPlain(_ text: UnsafeBufferPointer<UInt8>, atMost columns: Int) -> Int?
  {
    for byte in text.prefix(columns + 1) where byte < 0x20 || byte > 0x7E { return nil }
    guard text.count > columns else {
      bytes.append(contentsOf: text)
      return text.count
    }
    bytes.append(contentsOf: text[..<max(columns - ellipsis.count, 0)])
    append(ellipsis)
    return columns
  }

  private mutating func appendCharacters(of text: String, atMost columns: Int) -> Int {
    // A character may have any number of combining marks, which fill no column.
    let scalars = text.unicodeScalars.prefix(16 * columns)
    let isCut = scalars.endIndex < text.endIndex
    let visible = TerminalText.harmless(String(Substring(scalars)))
    let width = visible.reduce(0) { $0 + TerminalText.width(of: $1) }
    guard isCut || width > columns else {
      append(visible)
      return width
    }
    var used = 0
    for character in visible {
      let next = used + TerminalText.width(of: character)
      if next > columns - ellipsis.count { break }
      append(String(character))
      used = next
    }
    append(ellipsis)
    return used + ellipsis.count
  }
}

/// The cells of one column of a table, before its width is known.
struct PrintedColumn {
  private var text = PrintedText()
  private var ends: [Int] = [0]
  private var widths: [Int] = []
  /// The width of the widest cell, in columns.
  private(set) var width = 0

  init(ellipsis: String) { text.ellipsis = ellipsis }

  /// Adds a cell; `write` returns the columns it filled.
  mutating func append(_ write: (inout PrintedText) -> Int) {
    let cell = write(&text)
    ends.append(text.bytes.count)
    widths.append(cell)
    width = max(width, cell)
  }

  /// Copies a cell, padded to the width of the column.
  func write(_ cell: Int, to line: inout PrintedText) {
    line.append(text.bytes[ends[cell]..<ends[cell + 1]])
    line.append(spaces: width - widths[cell])
  }
}

/// The action of a step, on one line for the user.
enum CommandText {
  /// Writes a script's first line, or the words of a command line, quoted as a shell would need it; for other steps, a
  /// description of the action.
  ///
  /// - Returns: The columns it fills, at most `columns`.
  @discardableResult
  static func write(_ step: PlannedStep, atMost columns: Int, to text: inout PrintedText) -> Int {
    // A command, as most steps run, is not boxed.
    let line =
      step.command?.summary([], atMost: columns, ellipsis: text.ellipsis)
      ?? step.action.model.summary(step.outputs, atMost: columns, ellipsis: text.ellipsis)
    return text.append(line, atMost: columns)
  }
}

/// The command of a step and its remarks, side by side on one line.
struct RemarkedCommand {
  private static let narrowest = 16

  let style: PlanStyle
  let ellipsis: String

  /// Fills at most `columns` columns; if the line is too long, the command is shortened first.
  func write(
    _ step: PlannedStep, _ remarks: [String], atMost columns: Int, to text: inout PrintedText
  ) {
    let left = max(columns, RemarkedCommand.narrowest)
    let command = command(step, atMost: left)
    let ending = self.remarks(remarks, atMost: max(left - command.width, style.width / 2))
    if command.width + ending.width > columns {
      let shorter = max(columns - ending.width, RemarkedCommand.narrowest)
      text.append(self.command(step, atMost: min(shorter, left)).text.bytes)
    } else {
      text.append(command.text.bytes)
    }
    text.append(ending.text.bytes)
  }

  private func command(
    _ step: PlannedStep, atMost columns: Int
  ) -> (text: PrintedText, width: Int) {
    var text = PrintedText()
    text.ellipsis = ellipsis
    let width = CommandText.write(step, atMost: columns, to: &text)
    return (text, width)
  }

  func remarks(_ remarks: [String], atMost columns: Int) -> (text: PrintedText, width: Int) {
    var text = PrintedText()
    guard !remarks.isEmpty else { return (text, 0) }
    text.ellipsis = ellipsis
    text.append("  # ")
    let width = text.append(remarks.joined(separator: "; "), atMost: columns - 4)
    return (text, width + 4)
  }
}

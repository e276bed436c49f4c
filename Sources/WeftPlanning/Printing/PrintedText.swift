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

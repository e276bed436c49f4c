import WeftDiagnostics
import WeftPlatform

/// Foreign text — what steps write, and names — made fit for one line of a display.
///
/// The only place where it is decided what reaches a terminal: printable text, and SGR where asked
/// for. Everything else that a terminal would obey, or that would reorder the line, is spelled out; "erase to the end of the line" is left out.
struct DisplayText: Sendable, Hashable {
  /// Whether SGR sequences (colours) pass; else they are left out.
  var passesSGR: Bool
  /// Whether text beyond ASCII passes; else it is spelled out.
  var passesUnicode: Bool

  /// More bytes of one line than this are never looked at.
  static let lineLimitBytes = 4096

  /// Stands for what was cut off.
  var ellipsis: String { passesUnicode ? "…" : "..." }

  /// A name or a sentence, on one line.
  func name(_ text: String) -> String {
    cut(text, columns: .max)
  }

  /// The last state of a line of output, at most `columns` wide.
  func line(_ bytes: ArraySlice<UInt8>, columns: Int = .max) -> String {
    let state = DisplayText.lastState(of: bytes).prefix(DisplayText.lineLimitBytes)
    return cut(String(decoding: state, as: UTF8.self), columns: columns)
  }

  /// What remains visible of a line that returned to its start: the text after the last `\r` that
  /// has text after it.
  static func lastState(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard line.index(of: carriageReturn) != nil else { return line }
    var line = line
    while line.last == carriageReturn { line.removeLast() }
    guard let start = line.lastIndex(of: carriageReturn) else { return line }
    return line[(start + 1)...]
  }

  private static let carriageReturn = UInt8(ascii: "\r")

  /// Columns that text fills which this type has made; SGR sequences fill none.
  static func columns(of text: String) -> Int {
    var width = 0
    var rest = text[...]
    while let first = rest.first {
      if let sequence = sgrPrefix(of: rest) {
        rest = rest[sequence.endIndex...]
      } else {
        width += TerminalText.width(of: first)
        rest.removeFirst()
      }
    }
    return width
  }

  /// The text made harmless, at most `columns` wide, cut with an ellipsis.
  func cut(_ text: String, columns: Int) -> String {
    guard columns > 0 else { return "" }
    if text.utf8.count <= columns, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) {
      return text
    }
    var line = Line(limit: columns, ellipsis: ellipsis)
    var rest = text[...]
    while let character = rest.first, !line.isFull {
      if let sequence = DisplayText.sgrPrefix(of: rest) {
        if passesSGR { line.append(sgr: sequence) }
        rest = rest[sequence.endIndex...]
      } else if let erasure = DisplayText.erasures.first(where: rest.hasPrefix) {
        rest = rest.dropFirst(erasure.count)
      } else {
        for piece in pieces(of: character, at: line.width) { line.append(piece) }
        rest.removeFirst()
      }
    }
    return line.finished()
  }

  /// EL, to the end of the line (ECMA-48 §8.3.41): nothing is there. Compilers write it behind each colour.
  private static let erasures = ["\u{1B}[K", "\u{1B}[0K"]

  /// A character as it is, or each of its scalars spelled out where it has to be.
  private func pieces(of character: Character, at column: Int) -> [Piece] {
    if character == "\t" {
      let width = 8 - column % 8
      return [Piece(text: String(repeating: " ", count: width), width: width)]
    }
    let scalars = character.unicodeScalars
    if !scalars.contains(where: { spelling(of: $0) != nil }) {
      return [Piece(text: String(character), width: TerminalText.width(of: character))]
    }
    return scalars.map { scalar in
      let text = spelling(of: scalar) ?? String(scalar)
      return Piece(text: text, width: text.count)
    }
  }

  private func spelling(of scalar: Unicode.Scalar) -> String? {
    if let escaped = TerminalText.escape(scalar) { return escaped }
    guard !passesUnicode, !scalar.isASCII else { return nil }
    return "\\u{" + String(scalar.value, radix: 16) + "}"
  }

  /// `ESC [ parameters m` at the start (ECMA-48 §8.3.117); at most 64 characters.
  private static func sgrPrefix(of text: Substring) -> Substring? {
    guard text.first == "\u{1B}" else { return nil }
    let scalars = text.unicodeScalars
    var index = scalars.index(after: scalars.startIndex)
    guard index < scalars.endIndex, scalars[index] == "[" else { return nil }
    for _ in 0..<62 {
      scalars.formIndex(after: &index)
      guard index < scalars.endIndex else { return nil }
      switch scalars[index] {
      case "0"..."9", ";", ":": continue
      case "m": return text[..<scalars.index(after: index)]
      default: return nil
      }
    }
    return nil
  }

  private struct Piece {
    var text: String
    var width: Int
  }

  /// A line that grows up to a width, and knows where it must be cut if it grows beyond.
  private struct Line {
    let limit: Int
    let ellipsis: String
    private(set) var width = 0
    private(set) var isFull = false
    private var text = ""
    private var hasSGR = false
    /// The part that leaves room for the ellipsis.
    private var fitting = ""
    private var fits = true

    init(limit: Int, ellipsis: String) {
      self.limit = limit
      self.ellipsis = ellipsis
    }

    mutating func append(sgr: Substring) {
      text += sgr
      if fits { fitting += sgr }
      hasSGR = true
    }

    mutating func append(_ piece: Piece) {
      width += piece.width
      isFull = isFull || width > limit
      if limit == .max {
        text += piece.text
        return
      }
      fits = fits && width + ellipsis.count <= limit
      if fits { fitting += piece.text }
      if !isFull { text += piece.text }
    }

    /// Colours do not leak into what follows.
    func finished() -> String {
      let ellipsis = limit < ellipsis.count ? "" : ellipsis
      return (isFull ? fitting + ellipsis : text) + (hasSGR ? "\u{1B}[0m" : "")
    }
  }
}

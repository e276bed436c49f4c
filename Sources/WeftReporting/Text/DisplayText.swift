import WeftDiagnostics
import WeftEvents
package import WeftJSON
import WeftPlatform

/// Sanitizes foreign text (step output and names) for one line of a display.
///
/// The only place that decides what reaches a terminal: printable text, and SGR if enabled. All other characters that
/// would control the terminal or reorder the line are escaped. Whole lines of output go through its ``ScreenFilter``; from
/// lines of limited width, "erase to the end of the line" is removed.
package struct DisplayText: Sendable, Hashable {
  /// Whether SGR sequences (colours) are kept; otherwise they are removed.
  var passesSGR: Bool
  /// Whether text beyond ASCII is kept; otherwise it is escaped.
  var passesUnicode: Bool

  package init(passesSGR: Bool, passesUnicode: Bool) {
    self.passesSGR = passesSGR
    self.passesUnicode = passesUnicode
  }

  /// The maximum number of bytes of a line that are examined.
  static let lineLimitBytes = 4096

  /// The mark for truncated text.
  package var ellipsis: String { passesUnicode ? "…" : "..." }

  /// Returns a name or sentence, on one line.
  package func name(_ text: String) -> String {
    cut(text, columns: .max)
  }

  /// Returns the first characters of a text, on one line, with an ellipsis if there are more.
  package func beginning(
    of text: String, characters limit: Int, ellipsis: String? = nil
  ) -> String {
    let shown = text.prefix(limit)
    return name(String(shown))
      + (shown.endIndex == text.endIndex ? "" : ellipsis ?? self.ellipsis)
  }

  /// Returns the final state of a line of output, at most `columns` wide.
  package func line(_ bytes: ArraySlice<UInt8>, columns: Int = .max) -> String {
    let state = StepOutput.lastState(of: bytes).prefix(DisplayText.lineLimitBytes)
    if columns < .max { return cut(String(decoding: state, as: UTF8.self), columns: columns) }
    var filtered: [UInt8] = []
    filter.append(state, to: &filtered)
    return String(decoding: filtered, as: UTF8.self)
  }

  /// The filter for whole lines of output.
  var filter: ScreenFilter { ScreenFilter(passesSGR: passesSGR, passesUnicode: passesUnicode) }

  /// Returns the number of columns of sanitized text; SGR sequences take none.
  static func columns(of text: String) -> Int {
    if TerminalText.isPlain(text) { return text.utf8.count }
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

  /// Returns the sanitized text, truncated with an ellipsis to at most `columns`.
  func cut(_ text: String, columns: Int) -> String {
    guard columns > 0 else { return "" }
    if text.utf8.count <= columns, TerminalText.isPlain(text) { return text }
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

  /// EL, to the end of the line (ECMA-48 §8.3.41), where there is nothing to erase. Compilers write it after each
  /// colour.
  private static let erasures = ["\u{1B}[K", "\u{1B}[0K"]

  /// Returns a character as it is, or each of its scalars escaped if needed.
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

  /// Returns `ESC [ parameters m` at the start (ECMA-48 §8.3.117); at most 64 characters.
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

  /// A line that grows up to a width, and remembers where to truncate it beyond that.
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

    /// Returns the line; resets colours, so that they do not affect what follows.
    func finished() -> String {
      let ellipsis = limit < ellipsis.count ? "" : ellipsis
      return (isFull ? fitting + ellipsis : text) + (hasSGR ? "\u{1B}[0m" : "")
    }
  }
}

extension JSONValue {
  /// The text of a string, and the JSON of any other value.
  package var shownText: String {
    if case .string(let text) = self { text } else { description }
  }
}

/// Text in Markdown (GitHub Flavored Markdown) that stays text.
package enum MarkdownText {
  /// Returns a code span that the text cannot end.
  package static func code(_ text: String) -> String {
    let longest = text.split(whereSeparator: { $0 != "`" }).map(\.count).max() ?? 0
    let fence = String(repeating: "`", count: longest + 1)
    let space = text.hasPrefix("`") || text.hasSuffix("`") ? " " : ""
    // A table ends a cell at a bar, even within code (GitHub Flavored Markdown, §4.10).
    return fence + space + replaced(text, "|", by: "\\|") + space + fence
  }

  /// Returns text in which nothing is markup (CommonMark §2.4).
  package static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      if "\\`*_{}[]<>()#+-.!|~&@:".contains(character), !isInert(character) { result += "\\" }
      result.append(character)
    }
    return result
  }

  /// Marks that cannot begin anything within a sentence.
  private static func isInert(_ character: Character) -> Bool { ".-+()!:".contains(character) }

  private static func replaced(_ text: String, _ mark: Character, by other: String) -> String {
    text.contains(mark)
      ? text.split(separator: mark, omittingEmptySubsequences: false).joined(separator: other)
      : text
  }
}

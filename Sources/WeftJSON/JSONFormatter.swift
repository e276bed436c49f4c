package import WeftDiagnostics

/// Formats JSON texts: changes white space, and nothing else.
///
/// Indents by two spaces. An array or object is on one line if its first item is on the line of its opening bracket and
/// it fits within ``width`` columns, otherwise it has one item per line; lines of several scalars in an array stay as
/// they are if they fit. At most one blank line stays between items, and comments stay beside what they are beside.
///
/// A trailing comma stays if its bracket is on another line. Line ends are those of the first line. A byte order mark
/// is removed.
package enum JSONFormatter {
  /// The columns that a line should not exceed.
  package static let width = 100

  /// Formats a file.
  ///
  /// - Returns: The formatted text, or `nil` if the file is not valid JSON or its formatted text exceeds a limit, and all
  ///   errors sorted by location. What RFC 8259 allows and a workflow must not contain, such as repeated keys, is valid
  ///   here.
  package static func format(
    _ file: SourceFile, limits: JSONLimits = .workflow
  ) -> (text: [UInt8]?, errors: [Diagnostic]) {
    let (root, diagnostics) = JSONReader.read(file, limits: limits, beside: .warning)
    let errors = diagnostics.filter(\.isError)
    guard root != nil, errors.isEmpty else { return (nil, errors) }
    var printer = JSONPrinter(file.bytes, from: JSONEnvelope(file.bytes, limits: limits).start)
    guard printer.run(limit: limits.bytes) else {
      return (
        nil, [JSONProblem(.tooLargeFormatted(limit: limits.bytes), 0..<0).diagnostic(in: file)]
      )
    }
    return (printer.output, [])
  }
}

/// Prints a valid JSON text in its layout.
private struct JSONPrinter {
  /// A container with one item per line, or the whole text.
  private struct Frame {
    /// The indentation of its items.
    let level: Int
    let keepsLines: Bool
    var isEmpty = true
  }

  private(set) var output: [UInt8] = []
  private let source: [UInt8]
  private var lexer: JSONLexer
  private let lineEnd: [UInt8]
  /// The containers that are still to come.
  private var layouts: ArraySlice<JSONLayout.Container>
  private var frames = [Frame(level: 0, keepsLines: false)]
  /// The comments since the last token.
  private var comments: [JSONToken] = []
  /// The kind of the last printed token or comment, and that of the last token.
  private var previous: JSONToken.Kind?
  private var significant: JSONToken.Kind?
  /// The line breaks before a comma, where an item follows it.
  private var breaksBeforeComma = 0
  private var column = 0
  /// The indentation of the current line.
  private var level = 0

  init(_ source: [UInt8], from start: Int) {
    self.source = source
    lexer = JSONLexer(source, from: start)
    layouts = JSONLayout(of: source, from: start).containers[...]
    let firstEnd = source.firstIndex(where: \.isLineBreak)
    lineEnd = Array((firstEnd.map(source.isCRLF) == true ? "\r\n" : "\n").utf8)
    output.reserveCapacity(source.count + source.count / 4)
  }

  /// Prints the text, and returns whether it has at most `limit` bytes; if not, a part is missing.
  mutating func run(limit: Int) -> Bool {
    while let token = lexer.next() {
      // The white space of a hostile text may have a hundred times its size.
      guard output.count <= limit else { return false }
      switch token.kind {
      case .lineComment, .blockComment:
        comments.append(token)
        continue
      case .comma: printComma(token)
      case .colon: printInside(token)
      case .closeObject, .closeArray: close(token)
      case .openObject, .openArray, .scalar:
        if significant == .colon { printInside(token) } else { printItem(token) }
        if token.kind != .scalar { printContents(of: token) }
      }
      significant = token.kind
    }
    printLastComments()
    endLine()
    return output.count <= limit
  }

  // MARK: Tokens

  /// Prints an element or a key, with the comments before it.
  private mutating func printItem(_ token: JSONToken) {
    let gap = takeGap(before: token)
    let isFirst = frame.isEmpty
    frames[frames.count - 1].isEmpty = false
    if gap.count == 1, !isFirst, fitsOnLine(gap[0]) { return printJoined(token) }
    // Comments on the line of the item stay there.
    let start = gap.lastIndex { $0.breaks > 0 } ?? 0
    for (index, comment) in gap[..<start].enumerated() {
      printBetween(comment, isFirst: isFirst && index == 0)
    }
    beginLine(frame.level, isBlankBefore: gap[start].breaks > 1 && !(isFirst && start == 0))
    for part in gap[start...] { printJoined(part) }
  }

  /// Prints a colon, or a value after it, with the comments before it.
  private mutating func printInside(_ token: JSONToken) {
    for part in takeGap(before: token) {
      if previous == .lineComment { beginLine(frame.level + 1) }
      printJoined(part)
    }
  }

  /// Prints a comma after the comments that share the line of the item before it.
  private mutating func printComma(_ token: JSONToken) {
    let first = comments.firstIndex { $0.breaks > 0 || $0.kind == .lineComment }
    let rest = comments[(first ?? comments.count)...]
    for comment in comments[..<(first ?? comments.count)] { printJoined(comment) }
    comments = Array(rest)
    printJoined(token)
    breaksBeforeComma = token.breaks
  }

  /// Prints a container on one line, or begins one with one item per line.
  private mutating func printContents(of opening: JSONToken) {
    let layout = layouts.removeFirst()
    let width = column - 1 + layout.width + (layout.isFollowedByComma ? 1 : 0)
    if !layout.mustBreak, width <= JSONFormatter.width { return printOnOneLine() }
    frames.append(Frame(level: level + 1, keepsLines: layout.keepsLines))
  }

  private mutating func printOnOneLine() {
    var depth = 1
    while depth > 0, let token = lexer.next() {
      if token.kind == .comma, lexer.following()?.isClosing == true { continue }
      if token.kind.isOpening {
        depth += 1
        layouts.removeFirst()
      }
      if token.kind.isClosing { depth -= 1 }
      printJoined(token)
    }
  }

  private mutating func close(_ token: JSONToken) {
    let level = frame.level - 1
    printLastComments()
    frames.removeLast()
    beginLine(level)
    printJoined(token)
  }

  private mutating func printLastComments() {
    let isEmpty = frame.isEmpty
    for (index, comment) in takeGap(before: nil).enumerated() {
      printBetween(comment, isFirst: isEmpty && index == 0)
    }
  }

  /// Prints a comment between two items: on the line of the one before it if it is there, else on its own.
  private mutating func printBetween(_ comment: JSONToken, isFirst: Bool) {
    if comment.breaks > 0 {
      beginLine(frame.level, isBlankBefore: comment.breaks > 1 && !isFirst)
    } else if previous == .openArray {
      printSpaces(1)
    }
    printJoined(comment)
  }

  /// Whether a scalar follows on the line of the one before it.
  private func fitsOnLine(_ token: JSONToken) -> Bool {
    guard frame.keepsLines, token.breaks == 0 else { return false }
    let width = 1 + source[token.range].columns + (lexer.following() == .comma ? 1 : 0)
    return column + width <= JSONFormatter.width
  }

  private var frame: Frame { frames[frames.count - 1] }

  /// Returns the comments since the last token, and the token. A comma that is now before a line comment no longer hides
  /// that comment's line break, nor its own.
  private mutating func takeGap(before token: JSONToken?) -> [JSONToken] {
    var gap = comments
    if var token {
      if comments.isEmpty { token.breaks = max(token.breaks, breaksBeforeComma) }
      gap.append(token)
    }
    comments.removeAll(keepingCapacity: true)
    breaksBeforeComma = 0
    for index in gap.indices.dropFirst() where gap[index - 1].kind == .lineComment {
      gap[index].breaks = max(gap[index].breaks, 1)
    }
    return gap
  }
}

/// Printing pieces of text.
extension JSONPrinter {
  /// Prints a token or a comment after the previous one on the same line.
  private mutating func printJoined(_ token: JSONToken) {
    if JSONLayout.areApart(previous, token.kind) { printSpaces(1) }
    switch token.kind {
    case .blockComment: printBlockComment(source[token.range])
    case .lineComment: print(source[token.range].trimmed())
    default: print(source[token.range])
    }
    previous = token.kind
  }

  /// Prints a block comment. If all its lines begin with `*`, they are aligned; otherwise they stay as they are.
  private mutating func printBlockComment(_ text: ArraySlice<UInt8>) {
    let lines = text.lines
    let isAligned = lines.dropFirst().allSatisfy { $0.trimmed().first == UInt8(ascii: "*") }
    print(lines[0])
    for line in lines.dropFirst() {
      endLine()
      if isAligned { printSpaces(2 * level + 1) }
      print(isAligned ? line.trimmed() : line)
    }
  }

  private mutating func beginLine(_ level: Int, isBlankBefore: Bool = false) {
    self.level = level
    previous = nil
    guard !output.isEmpty else { return }
    endLine()
    if isBlankBefore { endLine() }
    printSpaces(2 * level)
  }

  private mutating func endLine() {
    output += lineEnd
    column = 0
  }

  private mutating func print(_ text: ArraySlice<UInt8>) {
    output += text
    column += text.columns
  }

  private mutating func printSpaces(_ count: Int) {
    output += repeatElement(UInt8(ascii: " "), count: count)
    column += count
  }
}

extension ArraySlice<UInt8> {
  /// The bytes without spaces and tabs at both ends.
  fileprivate func trimmed() -> ArraySlice<UInt8> {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let start = drop(while: isBlank)
    return start[..<((start.lastIndex { !isBlank($0) } ?? start.startIndex - 1) + 1)]
  }

  /// The lines without their ends.
  fileprivate var lines: [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var start = startIndex
    while let end = self[start...].firstIndex(where: \.isLineBreak) {
      lines.append(self[start..<end])
      start = end + (isCRLF(end) ? 2 : 1)
    }
    return lines + [self[start...]]
  }
}

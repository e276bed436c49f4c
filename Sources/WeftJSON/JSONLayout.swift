/// The properties of a text that decide how its arrays and objects are laid out.
///
/// They are the same in the formatted text, so that formatting it again changes nothing.
struct JSONLayout {
  /// An array or an object.
  struct Container {
    /// The columns that it takes on one line.
    fileprivate(set) var width: Int
    /// Whether it cannot be on one line: its first item begins a line, or a comment in it begins or ends one.
    fileprivate(set) var mustBreak = false
    /// Whether its lines hold several items each, as written: it is an array of scalars whose first begins a line.
    fileprivate(set) var keepsLines: Bool
    fileprivate(set) var isFollowedByComma = false
    fileprivate var isEmpty = true
  }

  /// The containers in the order of their opening brackets.
  private(set) var containers: [Container] = []

  private var open: [Int] = []
  private var lastClosed: Int?
  /// The kind of the last token, and that of the last one that is no comment.
  private var previous: JSONToken.Kind?
  private var significant: JSONToken.Kind?
  /// The columns of everything so far if it were on one line.
  private var width = 0
  /// Whether a line has ended since the last token that is no comment.
  private var isOnNewLine = false

  init(of bytes: [UInt8], from start: Int) {
    var lexer = JSONLexer(bytes, from: start)
    while let token = lexer.next() { take(token, in: bytes) }
  }

  private mutating func take(_ token: JSONToken, in bytes: [UInt8]) {
    isOnNewLine = isOnNewLine || token.breaks > 0
    if let inner = open.last { note(token, in: inner, of: bytes) }
    if JSONLayout.areApart(previous, token.kind) { width += 1 }
    previous = token.kind
    switch token.kind {
    case .openObject, .openArray:
      open.append(containers.count)
      containers.append(Container(width: -width, keepsLines: token.kind == .openArray))
    case .closeObject, .closeArray:
      // On one line, a trailing comma is omitted.
      if significant == .comma { width -= 1 }
      close()
    case .comma:
      if let lastClosed { containers[lastClosed].isFollowedByComma = true }
    case .colon, .scalar, .lineComment, .blockComment: break
    }
    width += bytes[token.range].columns
    if token.kind.isClosing, let lastClosed { containers[lastClosed].width += width }
    guard !token.kind.isComment else { return }
    if !token.kind.isClosing { lastClosed = nil }
    significant = token.kind
    isOnNewLine = false
  }

  /// Records what a token says about the container around it.
  private mutating func note(_ token: JSONToken, in container: Int, of bytes: [UInt8]) {
    if token.kind.isComment || previous?.isComment == true, token.breaks > 0 {
      containers[container].mustBreak = true
    }
    switch token.kind {
    case .lineComment: containers[container].mustBreak = true
    case .blockComment:
      if bytes[token.range].contains(where: \.isLineBreak) {
        containers[container].mustBreak = true
      }
    case .openObject, .openArray, .scalar:
      if containers[container].isEmpty {
        containers[container].isEmpty = false
        if isOnNewLine { containers[container].mustBreak = true }
        if !isOnNewLine { containers[container].keepsLines = false }
      }
      if token.kind != .scalar { containers[container].keepsLines = false }
    case .closeObject, .closeArray, .comma, .colon: break
    }
  }

  private mutating func close() {
    let inner = open.removeLast()
    lastClosed = inner
    if let outer = open.last, containers[inner].mustBreak { containers[outer].mustBreak = true }
  }

  /// Whether there is a space between two tokens on one line.
  static func areApart(_ left: JSONToken.Kind?, _ right: JSONToken.Kind) -> Bool {
    switch (left, right) {
    case (nil, _), (_, .comma), (_, .colon), (_, .closeArray), (.openArray, _): false
    case (.openObject, .closeObject): false
    default: true
    }
  }
}

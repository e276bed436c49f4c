/// Words and the quotes in them (POSIX, §2.2 and §2.3).
extension ScriptReading {
  /// Reads the word here up to its end; empty if there is none.
  mutating func word() throws(UnsupportedSyntaxError) -> ShellWord {
    let start = position
    var text: [UInt8] = []
    var isPlain = true
    while true {
      let byte = self.byte
      switch byte {
      case .less, .greater:
        guard dialect == .bash, nextByte == .openParenthesis else { return end() }
        guard text.isEmpty || !text.allSatisfy(\.isDigit) else { throw unfollowable("<(") }
        position += 1
        isPlain = false
        try commandSubstitution()
        text.append(ShellWord.expansion)
      case _ where byte.endsWord: return end()
      case ScriptText.placeholder:
        isPlain = false
        text.append(byte)
        takeHole(.bare)
      case .singleQuote:
        isPlain = false
        try singleQuoted(into: &text)
      case .doubleQuote:
        isPlain = false
        try doubleQuoted(into: &text)
      case .backslash:
        isPlain = false
        try escaped(into: &text)
      case .dollar:
        isPlain = false
        try dollar(.bare, into: &text)
      case .backquote:
        isPlain = false
        try backquoted()
        text.append(ShellWord.expansion)
      case .openBrace, .closeBrace:
        guard dialect != .zsh else { throw unfollowable(String(UnicodeScalar(byte))) }
        text.append(byte)
        position += 1
      case UInt8(ascii: "~"),
        .equals where text.isEmpty:
        // zsh looks up a folder or a program with the name that follows, quoted or not.
        guard dialect != .zsh else { throw unfollowable(String(UnicodeScalar(byte))) }
        text.append(byte)
        position += 1
      default:
        text.append(byte)
        position += 1
      }
    }

    func end() -> ShellWord {
      let range = start..<position
      return ShellWord(
        range: range, text: text, isPlain: isPlain, placeholders: script.placeholders(in: range),
        assignedName: script.assignedName(in: range))
    }
  }

  private mutating func escaped(into text: inout [UInt8]) throws(UnsupportedSyntaxError) {
    position += 1
    switch byte {
    case .newline:
      try expectNoDocument()
      position += 1
    case ScriptText.placeholder:
      text.append(ScriptText.placeholder)
      rejectHole(.afterBackslash)
    case ScriptText.end: text.append(.backslash)
    default:
      text.append(byte)
      position += 1
    }
  }

  mutating func singleQuoted(into text: inout [UInt8]) throws(UnsupportedSyntaxError) {
    let start = position
    position += 1
    while byte != .singleQuote {
      try quotedByte("'", from: start, .singleQuotes, into: &text)
    }
    position += 1
  }

  mutating func doubleQuoted(into text: inout [UInt8]) throws(UnsupportedSyntaxError) {
    let start = position
    position += 1
    while byte != .doubleQuote {
      switch byte {
      case .backslash: try escapedInQuotes(into: &text)
      case .dollar: try dollar(.doubleQuotes, into: &text)
      case .backquote:
        try backquoted()
        text.append(ShellWord.expansion)
      default: try quotedByte("\"", from: start, .doubleQuotes, into: &text)
      }
    }
    position += 1
  }

  private mutating func escapedInQuotes(into text: inout [UInt8]) throws(UnsupportedSyntaxError) {
    position += 1
    switch byte {
    case .newline:
      try expectNoDocument()
      position += 1
    case ScriptText.placeholder:
      text.append(ScriptText.placeholder)
      rejectHole(.afterBackslash)
    case .doubleQuote, .backslash, .dollar, .backquote:
      text.append(byte)
      position += 1
    default: text.append(.backslash)
    }
  }

  /// Reads `$'…'`. dash does not know it, and reads its content like text in single quotes.
  mutating func dollarQuoted(into text: inout [UInt8]) throws(UnsupportedSyntaxError) {
    let start = position
    position += 2
    while byte != .singleQuote {
      guard byte == .backslash else {
        try quotedByte("$'", from: start, .dollarQuotes, into: &text)
        continue
      }
      guard dialect != .posix else { throw unfollowable("$'…\\…'", at: start) }
      position += 1
      if byte == UInt8(ascii: "c"), nextByte == ScriptText.placeholder { position += 1 }
      if byte == ScriptText.placeholder {
        rejectHole(.afterBackslash)
      } else if byte != ScriptText.end {
        position += 1
      }
      text.append(ShellWord.expansion)
    }
    position += 1
  }

  /// Reads a literal byte between quotes, or an expression there.
  private mutating func quotedByte(
    _ opening: String, from start: Int, _ quoting: ShellQuoting, into text: inout [UInt8]
  ) throws(UnsupportedSyntaxError) {
    switch byte {
    case ScriptText.end: throw unbalanced(opening, at: start)
    case .newline: try expectNoDocument()
    case ScriptText.placeholder:
      text.append(byte)
      takeHole(quoting)
      return
    default: break
    }
    text.append(byte)
    position += 1
  }
}

extension ScriptText {
  /// The length of the name in `name=` or `name+=` at the start of that word.
  func assignedName(in word: Range<Int>) -> Int? {
    guard bytes[word.lowerBound].isNameStart else { return nil }
    var end = word.lowerBound
    while bytes[end].isName { end += 1 }
    let isAppended = bytes[end] == UInt8(ascii: "+") && bytes[end + 1] == .equals
    return bytes[end] == .equals || isAppended ? end - word.lowerBound : nil
  }
}

/// A word of a command, after the removal of quotes.
struct ShellWord {
  /// Its range in the script, quotes included.
  var range: Range<Int>
  /// Its characters without quotes; ``ScriptText/hole`` stands for each expression in it, ``expansion`` for
  /// the result of an expansion.
  var text: [UInt8]
  /// Whether it has no quotes, expansions and expressions.
  var isPlain: Bool
  /// The expressions in it, including those inside its `$(…)`.
  var placeholders: Range<Int>
  /// The length of `NAME` in `NAME=value` and `NAME+=value`, if it has that form.
  var assignedName: Int?

  /// Marks an expansion in ``text``.
  static let expansion: UInt8 = 0x02

  /// The word if it contains neither expansions nor expressions.
  var literal: String? {
    text.contains { $0 < 0x03 } ? nil : String(decoding: text, as: UTF8.self)
  }

  /// Its characters before any expansion or expression.
  var literalStart: ArraySlice<UInt8> { text.prefix { $0 > 0x02 } }

  var hasValue: Bool { !placeholders.isEmpty }

  /// Whether it is the literal name of a variable, without a subscript.
  var isPlainName: Bool { isPlain && text.allSatisfy(\.isName) }

  /// Whether its first character may come from an expression.
  var mayBeginWithValue: Bool {
    text.first { $0 != ShellWord.expansion } == ScriptText.placeholder
  }

  var hasExpansion: Bool { text.contains(ShellWord.expansion) }
}

/// A command that contains no other commands: words, assignments and redirections.
struct SimpleCommand {
  var start: Int
  var assignments: [ShellWord] = []
  var words: [ShellWord] = []
  var redirections: [Redirection] = []
}

/// One redirection, without its here-document's body.
struct Redirection {
  enum Kind { case file, descriptor, hereString, hereDocument }
  var kind: Kind
  var word: ShellWord
  /// The offset of its operator.
  var offset: Int
}

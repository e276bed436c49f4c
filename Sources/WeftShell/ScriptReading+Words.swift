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
        let opening = position
        position += 1
        isPlain = false
        try commandSubstitution()
        // Its standard input is the output of this command, or after `exec` that of all others.
        if byte == .greater {
          flow.inputs.append(
            .init(source: 0..<0, target: opening..<position, origin: ValueFlow.script))
        }
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

  /// Whether its first character may come from an expression or an expansion.
  var mayBeginWithAny: Bool {
    text.first == ScriptText.placeholder || text.first == ShellWord.expansion
  }

  /// Whether it may be an option of the program whose arguments are read.
  func mayBeOption(in reading: inout OptionReading) -> Bool {
    let start = literalStart
    return reading.mayTakeForOption(
      String(decoding: start, as: UTF8.self), isWhole: start.count == text.count)
  }

  var hasExpansion: Bool { text.contains(ShellWord.expansion) }

  /// Whether it consists of values and the signs of ``ValueText/word``, and begins with one of these.
  var isGlued: Bool {
    text.first != ScriptText.placeholder
      && text.allSatisfy {
        $0.isName || ".,:/@+=-".utf8.contains($0) || $0 == ScriptText.placeholder
      }
  }
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

/// Expansions that begin with `$` or a backquote (POSIX, §2.6).
extension ScriptReading {
  /// The context of an expansion, which determines what quotes inside it mean.
  enum Surroundings { case bare, doubleQuotes, hereDocument }

  /// Reads a `$` and the rest of its expansion.
  mutating func dollar(
    _ surroundings: Surroundings, into text: inout [UInt8]
  ) throws(UnsupportedSyntaxError) {
    switch nextByte {
    case ScriptText.placeholder:
      position += 1
      text.append(ScriptText.placeholder)
      rejectHole(.afterDollar)
    case .singleQuote where surroundings == .bare: try dollarQuoted(into: &text)
    case .doubleQuote where surroundings == .bare: try translated(into: &text)
    case .openParenthesis:
      position += 1
      if nextByte == .openParenthesis { try arithmetic() } else { try commandSubstitution() }
      text.append(ShellWord.expansion)
    case .openBrace:
      try parameter(surroundings)
      text.append(ShellWord.expansion)
    case UInt8(ascii: "["):
      // Other shells than bash and zsh take it literally.
      guard dialect != .posix else { throw unfollowable("$[") }
      position += 1
      try oldArithmetic()
      text.append(ShellWord.expansion)
    case .backslash where script.bytes[position + 2] == .newline: throw unfollowable("$\\")
    case let next where next.isNameStart:
      let start = position
      position += 1
      while byte.isName { position += 1 }
      text.append(ShellWord.expansion)
      flow.recordRead(script.text(start + 1..<position), start..<position)
      try expectNothingOfZsh()
    case let next where next.isDigit || Self.specialParameters.contains(next):
      position += 2
      text.append(ShellWord.expansion)
      try expectNothingOfZsh()
    case let next where dialect == .zsh && Self.flagsOfZsh.contains(next): throw unfollowable("$")
    default:
      text.append(.dollar)
      position += 1
    }
  }

  private static let specialParameters = Array("@*#?-$!".utf8)
  private static let flagsOfZsh = Array("=~^+:".utf8)

  /// Stops where zsh takes `[…]` and `:x` after `$name` as part of the expansion.
  private func expectNothingOfZsh() throws(UnsupportedSyntaxError) {
    guard dialect == .zsh else { return }
    let previous = script.bytes[position - 1]
    let isLength = previous == .hash && (byte.isName || byte == .openBrace)
    if byte == UInt8(ascii: "[") || byte == UInt8(ascii: ":") || isLength {
      throw unfollowable("$")
    }
  }

  /// Reads `$"…"`, which bash translates before it expands it.
  private mutating func translated(into text: inout [UInt8]) throws(UnsupportedSyntaxError) {
    let start = position
    position += 1
    try doubleQuoted(into: &text)
    reject(script.placeholders(in: start..<position), .translated)
  }

  /// Reads `(…)` after `$`, `<` or `>`: commands with quotes of their own.
  mutating func commandSubstitution() throws(UnsupportedSyntaxError) {
    let start = position
    position += 1
    if byte == .hash || byte == .backslash || byte == .openParenthesis {
      throw unfollowable("$(" + String(UnicodeScalar(byte)), at: start)
    }
    let (outer, outside) = (awaited, awaitedOutside)
    awaitedOutside += awaited.count
    awaited = []
    try nested { reading throws(UnsupportedSyntaxError) in try reading.list(until: .parenthesis) }
    guard byte == .closeParenthesis, awaited.isEmpty else { throw unbalanced("$(", at: start) }
    position += 1
    (awaited, awaitedOutside) = (outer, outside)
  }

  /// Reads `((…))`: every value in it would be evaluated, including the output of commands in it.
  mutating func arithmetic(allowsSemicolons: Bool = false) throws(UnsupportedSyntaxError) {
    let start = position
    position += 2
    try operands(of: "((", from: start, allowsSemicolons: allowsSemicolons) {
      $0 == .closeParenthesis && $1 == .closeParenthesis
    }
    position += 2
    evaluate(start)
  }

  /// Reads `[…]` after `$`, the old form of `((…))`.
  private mutating func oldArithmetic() throws(UnsupportedSyntaxError) {
    let start = position
    position += 1
    try operands(of: "$[", from: start) { byte, _ in byte == UInt8(ascii: "]") }
    position += 1
    evaluate(start)
  }

  private mutating func evaluate(_ start: Int) {
    reject(script.placeholders(in: start..<position), .arithmetic)
    flow.evaluated.append(start..<position)
  }

  /// Reads an arithmetic expression up to its end, which is outside all parentheses and brackets.
  private mutating func operands(
    of opening: String, from start: Int, allowsSemicolons: Bool = false,
    until isEnd: (_ byte: UInt8, _ next: UInt8) -> Bool
  ) throws(UnsupportedSyntaxError) {
    var open: [UInt8] = []
    while !open.isEmpty || !isEnd(byte, nextByte) {
      switch byte {
      case ScriptText.end: throw unbalanced(opening, at: start)
      case ScriptText.placeholder:
        if isOperand { takeHole(.arithmetic, unless: .arithmetic) } else { rejectHole(.arithmetic) }
      case .openParenthesis, UInt8(ascii: "["):
        open.append(byte == .openParenthesis ? .closeParenthesis : UInt8(ascii: "]"))
        position += 1
      case .closeParenthesis, UInt8(ascii: "]"):
        guard open.popLast() == byte else { throw unfollowable(opening, at: start) }
        position += 1
      case .dollar:
        var ignored: [UInt8] = []
        try nested { reading throws(UnsupportedSyntaxError) in
          try reading.dollar(.doubleQuotes, into: &ignored)
        }
      case .semicolon where allowsSemicolons: position += 1
      case .singleQuote, .doubleQuote, .backquote, .backslash, .openBrace, .closeBrace, .semicolon:
        throw unfollowable(opening, at: start)
      case .newline:
        try expectNoDocument()
        position += 1
      case let next where next.isNameStart:
        let name = position
        while byte.isName { position += 1 }
        // Whether the name is set or read there is not distinguished.
        flow.set([script.text(name..<position)], at: name)
      default: position += 1
      }
    }
  }

  /// Whether the expression here is not joined to a name or a number.
  private var isOperand: Bool {
    let end = script.placeholders[script.placeholder(at: position)].upperBound
    let (before, after) = (script.bytes[position - 1], script.bytes[end])
    return !(before.isName || "#$].".utf8.contains(before) || before == ScriptText.placeholder)
      && !(after.isName || "#([.".utf8.contains(after) || after == ScriptText.placeholder)
  }

  /// Reads `${…}`: shells differ on what may follow the name, and evaluate much of it.
  private mutating func parameter(_ surroundings: Surroundings) throws(UnsupportedSyntaxError) {
    let start = position
    position += 2
    switch byte {
    case ScriptText.placeholder: rejectHole(.expansion(isEvaluated: true))
    case _ where byte.isName || Self.specialParameters.contains(byte): position += 1
    default: throw unfollowable("${" + String(UnicodeScalar(byte == 0 ? 0x20 : byte)), at: start)
    }
    if byte.isName { while byte.isName { position += 1 } }
    let isEvaluated = !isBeforeText
    if byte == ScriptText.placeholder { rejectHole(.expansion(isEvaluated: true)) }
    try nested { reading throws(UnsupportedSyntaxError) in
      while reading.byte != .closeBrace {
        try reading.operand(surroundings, from: start, isEvaluated: isEvaluated)
      }
    }
    position += 1
    reject(script.placeholders(in: start..<position), .expansion(isEvaluated: isEvaluated))
    flow.recordExpansion(start..<position, in: script)
  }

  /// Whether the operator of `${…}` here takes a text or a pattern, which is not evaluated.
  private var isBeforeText: Bool {
    guard dialect != .zsh else { return false }
    return "-=?+#%/^,".utf8.contains(byte == UInt8(ascii: ":") ? nextByte : byte)
  }

  private mutating func operand(
    _ surroundings: Surroundings, from start: Int, isEvaluated: Bool
  ) throws(UnsupportedSyntaxError) {
    var ignored: [UInt8] = []
    switch byte {
    case ScriptText.end: throw unbalanced("${", at: start)
    case ScriptText.placeholder:
      takeHole(.doubleQuotes, unless: .expansion(isEvaluated: isEvaluated))
    case .singleQuote where surroundings == .bare: try singleQuoted(into: &ignored)
    case .doubleQuote where surroundings == .bare: try doubleQuoted(into: &ignored)
    case .singleQuote, .doubleQuote: throw unfollowable("${… quotes …}", at: start)
    case .openBrace: throw unfollowable("${… { …}", at: start)
    case .backquote: try backquoted()
    case .dollar where surroundings != .bare && nextByte == .singleQuote:
      throw unfollowable("${… quotes …}", at: start)
    case .dollar: try dollar(surroundings, into: &ignored)
    case .backslash: try escapedOperand(surroundings, from: start)
    case .newline:
      try expectNoDocument()
      position += 1
    default: position += 1
    }
  }

  private mutating func escapedOperand(
    _ surroundings: Surroundings, from start: Int
  ) throws(UnsupportedSyntaxError) {
    position += 1
    switch byte {
    case ScriptText.placeholder, ScriptText.end: break
    case .singleQuote, .doubleQuote, .newline:
      guard surroundings == .bare, byte != .newline else {
        throw unfollowable("${… quotes …}", at: start)
      }
      position += 1
    default: position += 1
    }
  }

  /// Reads `` `…` `` up to the next backquote without a backslash, whatever it contains.
  ///
  /// Without any backslash, its text is that of a command substitution. It is read as one if it contains expressions.
  mutating func backquoted() throws(UnsupportedSyntaxError) {
    let start = position
    let inside = script.bytes[(start + 1)...].prefix { $0 != .backquote && $0 != ScriptText.end }
    let placeholders = script.placeholders(in: start..<inside.endIndex)
    if !placeholders.isEmpty, script.bytes[inside.endIndex] == .backquote,
      !inside.contains(.backslash), !inside.contains(.newline), readsCommands(upTo: inside.endIndex)
    {
      reject(placeholders, .backquotes)
      flow.evaluated.append(start + 1..<position)
      return
    }
    for placeholder in placeholders { places[placeholder] = .rejected(.backquotes, nil) }
    position = start + 1
    while byte != .backquote {
      switch byte {
      case ScriptText.end: throw unbalanced("`", at: start)
      case ScriptText.placeholder: rejectHole(.backquotes)
      case .backslash where nextByte != ScriptText.placeholder && nextByte != ScriptText.end:
        position += 2
      case .newline:
        try expectNoDocument()
        position += 1
      default: position += 1
      }
    }
    position += 1
    flow.evaluated.append(start + 1..<position)
  }

  /// Reads the commands between backquotes; `false` if they cannot be read, whereupon nothing but the position has
  /// changed.
  private mutating func readsCommands(upTo end: Int) -> Bool {
    var inner = self
    inner.script = script.ending(at: end)
    inner.position += 1
    (inner.awaited, inner.awaitedOutside) = ([], awaitedOutside + awaited.count)
    do throws(UnsupportedSyntaxError) {
      try inner.nested { reading throws(UnsupportedSyntaxError) in
        try reading.list(until: .parenthesis)
      }
    } catch { return false }
    guard inner.byte == ScriptText.end, inner.position == end, inner.awaited.isEmpty else {
      return false
    }
    (inner.script, inner.awaited, inner.awaitedOutside) = (script, awaited, awaitedOutside)
    self = inner
    position = end + 1
    return true
  }
}

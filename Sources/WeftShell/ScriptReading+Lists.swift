/// Lists, pipelines and simple commands (POSIX, §2.9).
extension ScriptReading {
  /// The end of a list of commands; the list does not consume it.
  enum ListEnd {
    /// The newline after a complete command.
    case endOfLine
    case parenthesis
    /// `;;` and its variants, or `esac`.
    case caseItem
    case words([StaticString])
  }

  /// Reads commands up to `end`, or to the end of the text.
  mutating func list(until end: ListEnd) throws(UnsupportedSyntaxError) {
    while true {
      if case .endOfLine = end { try skipBlanks() } else { try skipLines() }
      if isAtEnd(end) { return }
      try andOr()
      try skipBlanks()
      switch byte {
      case .semicolon where nextByte == .semicolon || nextByte == .ampersand || nextByte == .bar:
        guard case .caseItem = end, nextByte != .bar else { throw unfollowable(";;") }
        return
      case .semicolon, .ampersand: position += 1
      case .newline, .closeParenthesis, ScriptText.end: break
      default: throw unfollowable(unexpected)
      }
    }
  }

  private func isAtEnd(_ end: ListEnd) -> Bool {
    if byte == ScriptText.end { return true }
    switch end {
    case .endOfLine: return byte == .newline
    case .parenthesis: return byte == .closeParenthesis
    case .caseItem:
      return (byte == .semicolon && (nextByte == .semicolon || nextByte == .ampersand))
        || isAt("esac")
    case .words(let words): return words.contains { isAt($0) }
    }
  }

  private mutating func andOr() throws(UnsupportedSyntaxError) {
    while true {
      try pipeline()
      try skipBlanks()
      guard byte == .ampersand || byte == .bar, nextByte == byte else { return }
      position += 2
      try skipLines()
    }
  }

  mutating func pipeline() throws(UnsupportedSyntaxError) {
    while isAt("!") {
      position += 1
      try skipBlanks()
    }
    let first = position
    var previous = position
    while true {
      let start = position
      try command()
      if start > first {
        flow.connect(previous..<start, to: start..<position, isSecond: previous == first)
      }
      previous = start
      try skipBlanks()
      guard byte == .bar, nextByte != .bar else { break }
      position += 1
      if byte == .ampersand {
        guard dialect != .posix else { throw unfollowable("|&") }
        position += 1
      }
      try skipLines()
    }
  }

  /// Reads a command that is neither compound nor a function, from its first word on.
  mutating func simpleCommand() throws(UnsupportedSyntaxError) {
    var command = SimpleCommand(start: position)
    while true {
      try skipBlanks()
      if let redirection = try redirection() {
        command.redirections.append(redirection)
        continue
      }
      let word = try word()
      if word.range.isEmpty { break }
      if byte == .openParenthesis, word.assignedName != nil {
        try array(named: word, of: &command)
        continue
      }
      if isDescriptor(word) { continue }
      try expectNoNamedDescriptor(word)
      if command.words.isEmpty, let element = elementAssignment(word) {
        command.assignments.append(element)
      } else if command.words.isEmpty && word.assignedName != nil {
        command.assignments.append(word)
      } else {
        try expectNoSubscript(word, of: command)
        command.words.append(word)
      }
    }
    if byte == .openParenthesis { return try function(command) }
    guard !(command.words.isEmpty && command.assignments.isEmpty && command.redirections.isEmpty)
    else { throw unfollowable(unexpected) }
    try classify(command)
  }

  /// Whether the word is the descriptor of a redirection: digits directly before it.
  private func isDescriptor(_ word: ShellWord) -> Bool {
    (byte == .less || byte == .greater) && word.isPlain && word.text.allSatisfy(\.isDigit)
  }

  /// The assignment to an element in bash, `name[…]=value`, if its subscript consists of names, numbers, variables and
  /// expressions only.
  private mutating func elementAssignment(_ word: ShellWord) -> ShellWord? {
    guard dialect == .bash, script.bytes[word.range.lowerBound].isNameStart else { return nil }
    let name = script.bytes[word.range].prefix { $0.isName }
    let rest = script.bytes[name.endIndex..<word.range.upperBound]
    guard rest.first == UInt8(ascii: "[") else { return nil }
    let inside = rest.dropFirst().prefix {
      $0.isName || $0 == .dollar || $0 == ScriptText.placeholder
    }
    let after = script.bytes[inside.endIndex..<word.range.upperBound]
    guard !inside.isEmpty, after.starts(with: "]=".utf8) || after.starts(with: "]+=".utf8) else {
      return nil
    }
    let index = name.endIndex..<inside.endIndex
    reject(script.placeholders(in: index), .elementIndex)
    flow.evaluated.append(index)
    var element = word
    element.assignedName = name.count
    return element
  }

  /// Stops at `name[…` where a command could begin. It is an assignment to an element, which in bash
  /// extends to the closing `]`, whatever is between.
  private mutating func expectNoSubscript(
    _ word: ShellWord, of command: SimpleCommand
  ) throws(UnsupportedSyntaxError) {
    guard command.words.isEmpty, script.bytes[word.range.lowerBound].isNameStart else { return }
    let name = script.bytes[word.range].prefix { $0.isName }
    guard name.endIndex < word.range.upperBound, script.bytes[name.endIndex] == UInt8(ascii: "[")
    else { return }
    reject(word.placeholders, .elementIndex)
    throw unfollowable("name[…]", at: word.range.lowerBound)
  }

  /// Stops at `{name}>file`: a redirection in bash, a word and a redirection elsewhere.
  private func expectNoNamedDescriptor(_ word: ShellWord) throws(UnsupportedSyntaxError) {
    guard byte == .less || byte == .greater, word.text.first == .openBrace,
      word.text.last == .closeBrace
    else { return }
    throw unfollowable("{…}\(UnicodeScalar(byte))", at: word.range.lowerBound)
  }

  /// Reads a function: a parenthesis after a command's first word makes that its name.
  private mutating func function(_ command: SimpleCommand) throws(UnsupportedSyntaxError) {
    guard command.words.count == 1, command.assignments.isEmpty, command.redirections.isEmpty,
      let name = command.words.first, name.isPlain || name.hasValue
    else { throw unfollowable("(") }
    try functionBody(of: name)
  }
}

extension SimpleCommand {
  /// Whether its output is made from its standard input.
  var passesInput: Bool {
    words.contains { $0.literal.map { Self.filters.contains(ShellDialect.basename($0)) } ?? false }
      || redirections.contains {
        $0.kind == .file && $0.word.literal.flatMap(StandardFile.init) == .input
      }
  }

  private static let filters: Words = """
    cat tac head tail tr sed awk gawk mawk nawk grep egrep fgrep rg cut sort uniq tee rev fold fmt
    paste column nl dd base64 base32 xxd od jq yq xargs iconv gunzip zcat envsubst expand pv
    python python3 perl ruby node
    """
}

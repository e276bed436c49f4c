/// Lists, pipelines and simple commands (POSIX, §2.9).
extension ScriptReading {
  /// What ends a list of commands; the list does not take it.
  enum ListEnd {
    /// The newline after a complete command.
    case endOfLine
    case parenthesis
    /// `;;` and its kin, or `esac`.
    case caseItem
    case words([StaticString])
  }

  /// Commands up to `end`, or to the end of the text.
  mutating func list(until end: ListEnd) throws(Unfollowable) {
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

  private mutating func andOr() throws(Unfollowable) {
    while true {
      try pipeline()
      try skipBlanks()
      guard byte == .ampersand || byte == .bar, nextByte == byte else { return }
      position += 2
      try skipLines()
    }
  }

  mutating func pipeline() throws(Unfollowable) {
    while isAt("!") {
      position += 1
      try skipBlanks()
    }
    let first = position
    // The last part but the first that reads a program: what is written before it is that program.
    var reader: Int?
    var previous = first..<first
    while true {
      let start = position
      let readers = programReaders
      try command()
      if start > first {
        flow.pipe(previous, into: start..<position)
        if programReaders > readers { reader = start }
      }
      previous = start..<position
      try skipBlanks()
      guard byte == .bar, nextByte != .bar else { break }
      position += 1
      if byte == .ampersand {
        guard dialect != .posix else { throw unfollowable("|&") }
        position += 1
      }
      try skipLines()
    }
    if let reader { rejectAsProgram(first..<reader) }
  }

  /// Rejects all values in that part of the text, and in the here-documents whose operators stand there.
  mutating func rejectAsProgram(_ part: Range<Int>) {
    flow.evaluated.append(part)
    reject(script.holes(in: part), .programInput)
    for document in documents.reversed().prefix(while: { $0.offset >= part.lowerBound })
    where part.contains(document.offset) {
      reject(document.holes, .programInput)
    }
    for index in awaited.indices where part.contains(awaited[index].offset) {
      awaited[index].isProgram = true
    }
  }

  /// A command that is neither compound nor a function; `words` begins where the present position is.
  mutating func simpleCommand() throws(Unfollowable) {
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
      if command.words.isEmpty && word.assignedName != nil {
        command.assignments.append(word)
      } else {
        try expectNoSubscript(word, of: command)
        command.words.append(word)
      }
    }
    if byte == .openParenthesis { return try function(command) }
    guard !(command.words.isEmpty && command.assignments.isEmpty && command.redirections.isEmpty)
    else { throw unfollowable(unexpected) }
    try judge(command)
  }

  /// Digits directly before a redirection are its descriptor, not a word.
  private func isDescriptor(_ word: ShellWord) -> Bool {
    (byte == .less || byte == .greater) && word.isPlain && word.text.allSatisfy(\.isDigit)
  }

  /// `name[…` where a command could begin is an assignment to an element, in bash up to the `]` that
  /// closes it whatever stands between.
  private mutating func expectNoSubscript(
    _ word: ShellWord, of command: SimpleCommand
  ) throws(Unfollowable) {
    guard command.words.isEmpty, script.bytes[word.range.lowerBound].isNameStart else { return }
    let name = script.bytes[word.range].prefix { $0.isName }
    guard name.endIndex < word.range.upperBound, script.bytes[name.endIndex] == UInt8(ascii: "[")
    else { return }
    reject(word.holes, .elementIndex)
    throw unfollowable("name[…]", at: word.range.lowerBound)
  }

  /// `{name}>file`, in bash a redirection, elsewhere a word and one.
  private func expectNoNamedDescriptor(_ word: ShellWord) throws(Unfollowable) {
    guard byte == .less || byte == .greater, word.text.first == .openBrace,
      word.text.last == .closeBrace
    else { return }
    throw unfollowable("{…}\(UnicodeScalar(byte))", at: word.range.lowerBound)
  }

  /// A parenthesis behind a command's first word: it is the name of a function.
  private mutating func function(_ command: SimpleCommand) throws(Unfollowable) {
    guard command.words.count == 1, command.assignments.isEmpty, command.redirections.isEmpty,
      let name = command.words.first, name.isPlain || name.hasValue
    else { throw unfollowable("(") }
    try functionBody(of: name)
  }
}

/// Redirections (POSIX, §2.7) and arrays.
extension ScriptReading {
  /// Reads the redirection here, if there is one.
  mutating func redirection() throws(UnsupportedSyntaxError) -> Redirection? {
    let offset = position
    switch byte {
    case .less where nextByte == .openParenthesis && dialect == .bash,
      .greater where nextByte == .openParenthesis && dialect == .bash:
      return nil
    case .less, .greater: break
    case .ampersand where nextByte == .greater:
      guard dialect != .posix else { throw unfollowable("&>") }
      position += 1
    default: return nil
    }
    let kind = try redirectionOperator(offset)
    if kind == .hereDocument {
      let stripsTabs = byte == UInt8(ascii: "-")
      if stripsTabs { position += 1 }
      let word = try hereDocument(offset: offset, stripsTabs: stripsTabs)
      return Redirection(kind: kind, word: word, offset: offset)
    }
    try skipBlanks()
    let word = try word()
    guard !word.range.isEmpty, byte != .openParenthesis else {
      throw unfollowable(unexpected, at: offset)
    }
    if kind == .descriptor { reject(word.placeholders, .descriptor) }
    return Redirection(kind: kind, word: word, offset: offset)
  }

  private mutating func redirectionOperator(
    _ offset: Int
  ) throws(UnsupportedSyntaxError) -> Redirection.Kind {
    let first = byte
    position += 1
    switch (first, byte) {
    case (.less, .less) where nextByte == .less:
      guard dialect != .posix else { throw unfollowable("<<<", at: offset) }
      position += 2
      return .hereString
    case (.less, .less):
      position += 1
      return .hereDocument
    case (_, .ampersand):
      position += 1
      return .descriptor
    case (.less, .greater), (.greater, .greater), (.greater, .bar):
      position += 1
    default: break
    }
    if dialect == .zsh,
      byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "!") || byte == .bar
    {
      throw unfollowable(String(UnicodeScalar(first)), at: offset)
    }
    return .file
  }

  /// Reads `name=(…)`, in which every word is a value.
  mutating func array(
    named name: ShellWord, of command: inout SimpleCommand
  ) throws(UnsupportedSyntaxError) {
    let start = position
    let operation = script.bytes[name.range].drop { $0.isName }
    guard dialect != .posix, operation.elementsEqual("=".utf8) || operation.elementsEqual("+=".utf8)
    else { throw unfollowable("(") }
    position += 1
    while true {
      try skipLines()
      if byte == .closeParenthesis { break }
      let element = try word()
      guard !element.range.isEmpty, byte != .openParenthesis else {
        throw unbalanced("(", at: start)
      }
      let hasSubscript = script.bytes[element.range.lowerBound] == UInt8(ascii: "[")
      if hasSubscript { reject(element.placeholders, .elementIndex) }
      if hasSubscript { flow.evaluated.append(element.range) }
    }
    position += 1
    guard byte.endsWord, byte != .openParenthesis else { throw unfollowable("(…)", at: start) }
    var whole = name
    whole.range = name.range.lowerBound..<position
    whole.placeholders = script.placeholders(in: whole.range)
    whole.text.append(ShellWord.expansion)
    whole.isPlain = false
    if command.words.isEmpty {
      command.assignments.append(whole)
    } else {
      command.words.append(whole)
    }
  }
}

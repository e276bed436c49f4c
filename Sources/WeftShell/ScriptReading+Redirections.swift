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

  /// Notes the text that a redirection gives to the commands in `target`.
  ///
  /// - Parameter isLasting: Whether it holds from then on.
  mutating func connect(
    _ redirection: Redirection, to target: Range<Int>, isLasting: Bool = false
  ) {
    let offset = redirection.offset
    guard script.bytes[offset] == .less else { return }
    let digits = script.bytes[..<offset].reversed().prefix(while: \.isDigit)
    let isNumber = offset == digits.count || script.bytes[offset - digits.count - 1].endsWord
    let isStandard = digits.isEmpty || !isNumber || digits.allSatisfy { $0 == UInt8(ascii: "0") }
    flow.inputs.append(
      .init(
        source: offset..<redirection.word.range.upperBound,
        target: isLasting && isStandard ? 0..<script.bytes.count : target,
        isStandard: isStandard,
        origin: redirection.kind == .descriptor ? ValueFlow.descriptors : nil))
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

/// A here-document whose operator has been read.
struct HereDocument {
  var delimiter: [UInt8]
  /// Whether it begins with `<<-`: tabs at the start of each line are ignored.
  var stripsTabs: Bool
  /// Whether its delimiter is quoted, so that nothing in it is expanded.
  var isQuoted: Bool
  /// The offset of its operator.
  var offset: Int
}

extension ScriptReading {
  /// Reads the delimiter after `<<` or `<<-`.
  mutating func hereDocument(offset: Int, stripsTabs: Bool) throws(UnsupportedSyntaxError)
    -> ShellWord
  {
    while byte == .space || byte == .tab { position += 1 }
    let start = position
    var delimiter: [UInt8] = []
    var isQuoted = false
    while !byte.endsWord {
      switch byte {
      case ScriptText.placeholder:
        rejectHole(.hereDocumentDelimiter)
        throw unfollowable("<<", at: offset)
      case .singleQuote, .doubleQuote:
        isQuoted = true
        try quotedDelimiter(into: &delimiter, offset: offset)
      case .backslash:
        isQuoted = true
        position += 1
        guard byte > .space else { throw unfollowable("<<", at: offset) }
        delimiter.append(byte)
        position += 1
      case .dollar, .backquote, .openBrace, .closeBrace: throw unfollowable("<<", at: offset)
      default:
        delimiter.append(byte)
        position += 1
      }
    }
    guard !delimiter.isEmpty, byte != .openParenthesis else { throw unfollowable("<<", at: offset) }
    awaited.append(
      HereDocument(
        delimiter: delimiter, stripsTabs: stripsTabs, isQuoted: isQuoted, offset: offset))
    return ShellWord(
      range: start..<position, text: delimiter, isPlain: !isQuoted, placeholders: 0..<0)
  }

  private mutating func quotedDelimiter(
    into delimiter: inout [UInt8], offset: Int
  ) throws(UnsupportedSyntaxError) {
    let quote = byte
    position += 1
    while byte != quote {
      switch byte {
      case ScriptText.placeholder:
        rejectHole(.hereDocumentDelimiter)
        throw unfollowable("<<", at: offset)
      case ScriptText.end, .newline, .backslash, .dollar, .backquote:
        throw unfollowable("<<", at: offset)
      default:
        delimiter.append(byte)
        position += 1
      }
    }
    position += 1
  }

  /// Reads a body, from the start of its first line to after the line of the delimiter.
  mutating func body(of document: HereDocument) throws(UnsupportedSyntaxError) {
    let (end, next) = try lines(of: document)
    let start = position
    if document.isQuoted {
      reject(script.placeholders(in: start..<end), .quotedHereDocument)
    } else {
      try expandedBody(upTo: end, of: document)
    }
    flow.documents.append((document.offset, start..<end))
    position = next
  }

  /// The end of the body, and the start of the line after its delimiter.
  private func lines(of document: HereDocument) throws(UnsupportedSyntaxError) -> (
    end: Int, next: Int
  ) {
    var line = position
    var isContinued = false
    while script.bytes[line] != ScriptText.end {
      var start = line
      var end = line
      while script.bytes[end] != .newline && script.bytes[end] != ScriptText.end { end += 1 }
      if document.stripsTabs { while script.bytes[start] == .tab { start += 1 } }
      if script.bytes[start..<end].elementsEqual(document.delimiter) {
        guard !isContinued else { throw unfollowable("<<", at: document.offset) }
        return (line, script.bytes[end] == .newline ? end + 1 : end)
      }
      isContinued = !document.isQuoted && script.endsInEscape(line..<end)
      line = script.bytes[end] == .newline ? end + 1 : end
    }
    throw unbalanced("<<", at: document.offset)
  }

  private mutating func expandedBody(
    upTo end: Int, of document: HereDocument
  ) throws(UnsupportedSyntaxError) {
    var ignored: [UInt8] = []
    while position < end {
      switch byte {
      case ScriptText.placeholder: takeHole(.hereDocument)
      case .backslash where nextByte == ScriptText.placeholder:
        position += 1
        rejectHole(.afterBackslash)
      case .backslash: position += 2
      case .dollar:
        let start = position
        try dollar(.hereDocument, into: &ignored)
        // bash joins continued lines before it reads the body, even inside quoted text in it.
        guard !script.continuesLine(in: start..<position) else {
          throw unfollowable("<<", at: document.offset)
        }
      case .backquote: try backquoted()
      default: position += 1
      }
    }
    guard position == end else { throw unfollowable("<<", at: document.offset) }
  }
}

extension ScriptText {
  fileprivate func continuesLine(in range: Range<Int>) -> Bool {
    range.dropLast().contains { bytes[$0] == .backslash && bytes[$0 + 1] == .newline }
  }

  fileprivate func endsInEscape(_ line: Range<Int>) -> Bool {
    !bytes[line].reversed().prefix { $0 == .backslash }.count.isMultiple(of: 2)
  }
}

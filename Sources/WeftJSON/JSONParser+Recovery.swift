/// Error recovery: reports each problem once and specifically, and continues only if the meaning is certain.
extension JSONParser {
  /// Called when the normal path cannot read the text at `at`.
  ///
  /// - Returns: The offset at which to continue, or ``stop``.
  @inline(never)
  mutating func recover(at: Int) -> Int {
    if let end = afterComment(at) ?? afterStrangeSpace(at) { return limited(end) }
    let next =
      switch awaiting {
      case .value, .firstElement, .element: recoverValue(at)
      case .firstKey, .key: recoverKey(at)
      case .colon: recoverColon(at)
      case .separator: recoverSeparator(at)
      }
    return limited(next)
  }

  /// Checks at the end of the text whether the value is complete.
  mutating func finish() -> Bool {
    if container >= 0 {
      let end = endOfToken(before: bytes.count)
      report(.unclosed(containerIsObject ? .object : .array), end..<end, other: opener)
    } else if awaiting != .separator {
      report(.empty, 0..<0)
    }
    return container < 0 && awaiting == .separator
  }

  // MARK: Reporting

  mutating func report(_ fault: JSONSyntaxError, _ range: Range<Int>, other: Range<Int>? = nil) {
    guard problems.count < limits.problems else { return }
    problems.append(JSONProblem(fault, range, other: other))
    guard problems.count == limits.problems else { return }
    problems.append(JSONProblem(.tooManyProblems(limit: limits.problems), range))
  }

  mutating func fail(_ fault: JSONSyntaxError, _ range: Range<Int>, other: Range<Int>? = nil) -> Int
  {
    report(fault, range, other: other)
    return JSONParser.stop
  }

  func limited(_ next: Int) -> Int {
    problems.count < limits.problems ? next : JSONParser.stop
  }

  private mutating func failUnexpected(_ at: Int, wanted: String) -> Int {
    let sequence = UTF8Sequence(at: at, in: bytes)
    let range = at..<at + sequence.length
    guard sequence.isValid else { return fail(.invalidUTF8(offset: at), range) }
    let scalar = text(range).unicodeScalars.first ?? "\u{FFFD}"
    let isPlain = scalar.properties.generalCategory != .control
    let found = isPlain ? "\"\(scalar)\"" : JSONSyntaxError.name(of: scalar)
    return fail(.unexpected(found, wanted: wanted), range)
  }

  // MARK: In place of a value

  private mutating func recoverValue(_ at: Int) -> Int {
    switch bytes[at] {
    case UInt8(ascii: "["), UInt8(ascii: "{"):
      return fail(.tooDeep(limit: limits.depth), at..<at + 1)
    case UInt8(ascii: "]") where awaiting == .element:
      return closeAfterComma(at)
    case UInt8(ascii: ",") where awaiting != .value:
      return skipExtraComma(at, then: .element)
    case UInt8(ascii: ","), UInt8(ascii: "}"):
      guard containerIsObject else { return recoverBracket(at, wanted: "a value") }
      return skipMissingValue(at)
    case UInt8(ascii: "]"):
      return recoverBracket(at, wanted: "a value")
    case UInt8(ascii: "'"):
      return singleQuoted(at, then: .separator)
    default:
      return isCurlyQuote(at) ? fail(.curlyQuotes, at..<at + 3) : recoverWord(at)
    }
  }

  /// A word in place of a value; its end is certain only if something valid follows.
  private mutating func recoverWord(_ at: Int) -> Int {
    let range = at..<endOfWord(at)
    let word = text(range)
    if JSONNumber(word) != nil {
      // Valid in itself; what follows it is not, and is reported next.
      append(.number, from: range.lowerBound, to: range.upperBound)
      awaiting = .separator
      return range.upperBound
    }
    guard let fault = JSONSyntaxError(word: word) else {
      return failUnexpected(at, wanted: "a value")
    }
    report(fault, range)
    let next = afterBlanks(range.upperBound)
    guard next == bytes.count || [",", "]", "}", "/", "#"].contains(character(next)) else {
      return JSONParser.stop
    }
    append(.unreadable, from: range.lowerBound, to: range.upperBound)
    awaiting = .separator
    return range.upperBound
  }

  private mutating func skipMissingValue(_ at: Int) -> Int {
    let end = endOfToken(before: at)
    report(.missingValue, end..<end)
    append(.unreadable, from: end, to: end)
    awaiting = .separator
    return at
  }

  private mutating func skipExtraComma(_ at: Int, then next: Awaiting) -> Int {
    report(.missingValue, at..<at + 1)
    lastComma = at
    awaiting = next
    return at + 1
  }

  /// Reports a comma before a closing bracket, unless it was already reported as superfluous.
  private mutating func closeAfterComma(_ at: Int) -> Int {
    let comma = lastComma..<lastComma + 1
    if !allowsComments, problems.last?.range != comma {
      report(.trailingComma(before: character(at)), comma)
    }
    return close(at)
  }

  private mutating func recoverBracket(_ at: Int, wanted: String) -> Int {
    let isBracket = bytes[at] == UInt8(ascii: "]") || bytes[at] == UInt8(ascii: "}")
    guard isBracket, container >= 0, containerIsObject != (bytes[at] == UInt8(ascii: "}")) else {
      return failUnexpected(at, wanted: wanted)
    }
    let fault = JSONSyntaxError.wrongBracket(
      found: character(at), wanted: containerIsObject ? "}" : "]")
    return fail(fault, at..<at + 1, other: opener)
  }

  // MARK: In place of a key, a colon, a comma

  private mutating func recoverKey(_ at: Int) -> Int {
    switch bytes[at] {
    case UInt8(ascii: "}"): return closeAfterComma(at)
    case UInt8(ascii: ","): return skipExtraComma(at, then: .key)
    case UInt8(ascii: "'"): return singleQuoted(at, then: .colon)
    case _ where isCurlyQuote(at): return fail(.curlyQuotes, at..<at + 3)
    default: break
    }
    let wanted = "a key in double quotes"
    let end = endOfWord(at)
    let colon = afterBlanks(end)
    guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":"),
      JSONSyntaxError.isWord(text(at..<end))
    else { return recoverBracket(at, wanted: wanted) }
    report(.unquotedKey(text(at..<end)), at..<end)
    append(.string, [.unquoted, .beyondASCII], from: at, to: end)
    awaiting = .colon
    return end
  }

  private mutating func recoverColon(_ at: Int) -> Int {
    switch bytes[at] {
    case UInt8(ascii: "="):
      report(.missingColon(found: "="), at..<at + 1)
      awaiting = .value
      return at + 1
    case UInt8(ascii: ","), UInt8(ascii: "}"):
      return skipMissingValue(at)
    case _ where beginsValue(at):
      let end = endOfToken(before: at)
      report(.missingColon(found: nil), end..<end)
      awaiting = .value
      return at
    default:
      return recoverBracket(at, wanted: "\":\" and a value")
    }
  }

  private mutating func recoverSeparator(_ at: Int) -> Int {
    guard container >= 0 else {
      return fail(.textAfterValue, at..<endOfToken(before: bytes.count))
    }
    let isCertain = containerIsObject ? beginsMember(at) : beginsValue(at)
    guard isCertain else {
      if followsQuote(at) { return fail(.innerQuote, at - 1..<at) }
      return recoverBracket(at, wanted: containerIsObject ? "\",\" or \"}\"" : "\",\" or \"]\"")
    }
    let end = endOfToken(before: at)
    report(.missingComma, end..<end)
    awaiting = containerIsObject ? .key : .element
    return at
  }

  // MARK: Lookaround

  private var opener: Range<Int> {
    let start = Int(tape[container].start)
    return start..<start + 1
  }

  private func character(_ at: Int) -> Character { Character(Unicode.Scalar(bytes[at])) }

  /// The end of the last token before `at`, ignoring white space.
  private func endOfToken(before at: Int) -> Int {
    var end = at
    while end > 0, [" ", "\n", "\r", "\t", "\r\n"].contains(character(end - 1)) { end -= 1 }
    return end
  }

  /// The end of a word or number of any language; `start` if there is none.
  private func endOfWord(_ start: Int) -> Int {
    var end = start
    while end < bytes.count {
      let sequence = UTF8Sequence(at: end, in: bytes)
      guard sequence.isValid, JSONSyntaxError.isWord(text(end..<end + sequence.length)) else {
        break
      }
      end += sequence.length
    }
    return end
  }

  private func beginsValue(_ at: Int) -> Bool {
    switch bytes[at] {
    case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "-"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: ["true", "false", "null"].contains(text(at..<endOfWord(at)))
    }
  }

  /// Whether a word directly follows the closing quote of a string, as in `"echo "hello""`.
  private func followsQuote(_ at: Int) -> Bool {
    at > 0 && bytes[at - 1] == UInt8(ascii: "\"") && endOfWord(at) > at
  }

  /// Whether a string followed by a colon begins here.
  private func beginsMember(_ at: Int) -> Bool {
    guard bytes[at] == UInt8(ascii: "\"") else { return false }
    var end = at + 1
    while end < bytes.count, bytes[end] != UInt8(ascii: "\""), bytes[end] >= 0x20 {
      end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return false }
    let colon = afterBlanks(end + 1)
    return colon < bytes.count && bytes[colon] == UInt8(ascii: ":")
  }
}

/// Handles what other languages allow between and around values, but JSON does not.
extension JSONParser {
  /// The end of a comment that begins here. Reports the comment; parsing continues if its end is certain.
  private mutating func afterComment(_ at: Int) -> Int? {
    let second = at + 1 < bytes.count ? bytes[at + 1] : 0
    switch (bytes[at], second) {
    case (UInt8(ascii: "/"), UInt8(ascii: "/")), (UInt8(ascii: "#"), _):
      var end = at
      while end < bytes.count, bytes[end] != 0x0A, bytes[end] != 0x0D { end += 1 }
      if !allowsComments {
        report(.comment, at..<end)
      } else if bytes[at] == UInt8(ascii: "#") {
        report(.foreignComment, at..<end)
      }
      return end
    case (UInt8(ascii: "/"), UInt8(ascii: "*")):
      var end = at + 2
      while end + 1 < bytes.count {
        if bytes[end] == UInt8(ascii: "*"), bytes[end + 1] == UInt8(ascii: "/") {
          if !allowsComments { report(.comment, at..<end + 2) }
          return end + 2
        }
        end += 1
      }
      return fail(.unclosed(.comment), at..<at + 2)
    default:
      return nil
    }
  }

  /// The end of white space that JSON does not allow.
  private mutating func afterStrangeSpace(_ at: Int) -> Int? {
    let sequence = UTF8Sequence(at: at, in: bytes)
    let range = at..<at + sequence.length
    guard sequence.isValid, let scalar = text(range).unicodeScalars.first,
      scalar.properties.isWhitespace || scalar == "\u{FEFF}" || scalar == "\u{200B}"
    else { return nil }
    report(.strangeSpace(scalar), range)
    return range.upperBound
  }

  /// Reads a string in single quotes as a normal one if it is plain text on one line.
  private mutating func singleQuoted(_ at: Int, then next: Awaiting) -> Int {
    var end = at + 1
    while end < bytes.count, bytes[end] != UInt8(ascii: "'"), bytes[end] >= 0x20,
      bytes[end] != UInt8(ascii: "\\")
    {
      let sequence = UTF8Sequence(at: end, in: bytes)
      guard sequence.isValid else { return fail(.singleQuotes, at..<at + 1) }
      end += sequence.length
    }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "'") else {
      return fail(.singleQuotes, at..<at + 1)
    }
    report(.singleQuotes, at..<end + 1)
    append(.string, .beyondASCII, from: at, to: end + 1)
    awaiting = next
    return end + 1
  }

  private func isCurlyQuote(_ at: Int) -> Bool {
    guard at + 2 < bytes.count else { return false }
    return bytes[at] == 0xE2 && bytes[at + 1] == 0x80
      && [0x98, 0x99, 0x9C, 0x9D].contains(bytes[at + 2])
  }
}

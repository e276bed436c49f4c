/// Blanks, comments and line ends between words.
extension ScriptReading {
  /// Skips blanks, continued lines and a comment.
  mutating func skipBlanks() throws(UnsupportedSyntaxError) {
    while true {
      switch byte {
      case .space, .tab: position += 1
      case .backslash where nextByte == .newline:
        try expectNoDocument()
        position += 2
      case .hash:
        comment()
        return
      default: return
      }
    }
  }

  private mutating func comment() {
    while byte != .newline && byte != ScriptText.end {
      if byte == ScriptText.placeholder { takeHole(.comment) } else { position += 1 }
    }
  }

  /// Skips blanks, comments and line ends.
  mutating func skipLines() throws(UnsupportedSyntaxError) {
    while true {
      try skipBlanks()
      guard byte == .newline else { return }
      try newline()
    }
  }

  /// Skips the end of a line and the here-documents that follow it.
  mutating func newline() throws(UnsupportedSyntaxError) {
    guard awaitedOutside == 0 else { throw unfollowable("<<") }
    position += 1
    let bodies = awaited
    awaited = []
    for document in bodies { try body(of: document) }
  }

  /// Stops at a newline that ends no command while a here-document is awaited: shells differ in where
  /// its body then begins.
  func expectNoDocument() throws(UnsupportedSyntaxError) {
    guard awaited.isEmpty && awaitedOutside == 0 else { throw unfollowable("<<") }
  }

  /// The word here if it has no quoting and so may be reserved; else empty.
  var plainWord: ArraySlice<UInt8> {
    var end = position
    while !script.bytes[end].endsWord {
      switch script.bytes[end] {
      case .singleQuote, .doubleQuote, .backslash, .dollar, .backquote, ScriptText.placeholder:
        return []
      default: end += 1
      }
    }
    return script.bytes[position..<end]
  }

  func isAt(_ word: StaticString) -> Bool {
    let plain = plainWord
    return plain.count == word.utf8CodeUnitCount
      && word.withUTF8Buffer { plain.elementsEqual($0) }
  }

  func isAt(_ word: String) -> Bool { plainWord.elementsEqual(word.utf8) }

  /// Skips a reserved word; everything between `opening` and here belongs to it.
  mutating func expect(_ word: StaticString, after opening: Int) throws(UnsupportedSyntaxError) {
    guard isAt(word) else {
      throw unbalanced(String(decoding: openingWord(opening), as: UTF8.self), at: opening)
    }
    position += word.utf8CodeUnitCount
  }

  private func openingWord(_ offset: Int) -> ArraySlice<UInt8> {
    let word = script.bytes[offset...].prefix { !$0.endsWord }
    return word.isEmpty ? script.bytes[offset...offset] : word
  }
}

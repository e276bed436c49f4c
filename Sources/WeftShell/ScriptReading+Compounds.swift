/// Compound commands and functions (POSIX, §2.9.4 and §2.9.5; bash, "Compound Commands").
extension ScriptReading {
  mutating func command() throws(UnsupportedSyntaxError) {
    let start = position
    guard try nestedCompound() else {
      try simpleCommand()
      return
    }
    try redirections(ofCommandFrom: start)
  }

  /// Reads the redirections after a compound command, which are its last part.
  private mutating func redirections(
    ofCommandFrom start: Int
  ) throws(UnsupportedSyntaxError) {
    let command = start..<position
    try skipBlanks()
    while true {
      if let redirection = try redirection() {
        connect(redirection, to: command)
        try skipBlanks()
      } else if byte.isDigit {
        while byte.isDigit { position += 1 }
        guard byte == .less || byte == .greater else { throw unfollowable(unexpected) }
      } else {
        break
      }
    }
    guard byte.endsWord, byte != .openParenthesis else { throw unfollowable(unexpected) }
  }

  private mutating func nestedCompound() throws(UnsupportedSyntaxError) -> Bool {
    guard byte == .openParenthesis || ReservedWord(plainWord) != nil else { return false }
    var isCompound = false
    try nested { reading throws(UnsupportedSyntaxError) in isCompound = try reading.compound() }
    return isCompound
  }

  /// Reads a compound command if one begins here.
  private mutating func compound() throws(UnsupportedSyntaxError) -> Bool {
    let start = position
    if byte == .openParenthesis {
      if nextByte == .openParenthesis || nextByte == .backslash {
        guard dialect != .posix, nextByte == .openParenthesis else { throw unfollowable("((") }
        try arithmetic()
      } else {
        position += 1
        try list(until: .parenthesis)
        guard byte == .closeParenthesis else { throw unbalanced("(", at: start) }
        position += 1
      }
      return true
    }
    guard let word = ReservedWord(plainWord) else { return false }
    switch word {
    case .if: try ifCommand(start)
    case .while, .until: try loop(start)
    case .for: try forCommand(start)
    case .case: try caseCommand(start)
    case .openBrace:
      position += 1
      try list(until: .words(["}"]))
      try expect("}", after: start)
    case .openBrackets where dialect != .posix: try condition(start)
    case .function where dialect != .posix:
      position += 8
      try skipBlanks()
      let name = try self.word()
      guard !name.range.isEmpty else { throw unfollowable("function", at: start) }
      try skipBlanks()
      try functionBody(of: name)
    case .select where dialect == .bash: try forCommand(start)
    case .time where dialect == .bash:
      position += 4
      try skipBlanks()
      if isAt("-p") { position += 2 }
      try skipBlanks()
      try pipeline()
    case .time where dialect == .posix: return false
    case .repeat, .foreach, .end, .nocorrect, .noglob, .always:
      guard dialect != .zsh else { throw unfollowable(String(decoding: plainWord, as: UTF8.self)) }
      return false
    default: throw unfollowable(String(decoding: plainWord, as: UTF8.self))
    }
    return true
  }

  private mutating func ifCommand(_ start: Int) throws(UnsupportedSyntaxError) {
    position += 2
    try list(until: .words(["then"]))
    try expect("then", after: start)
    while true {
      try list(until: .words(["elif", "else", "fi"]))
      guard isAt("elif") else { break }
      position += 4
      try list(until: .words(["then"]))
      try expect("then", after: start)
    }
    if isAt("else") {
      position += 4
      try list(until: .words(["fi"]))
    }
    try expect("fi", after: start)
  }

  private mutating func loop(_ start: Int) throws(UnsupportedSyntaxError) {
    position += 5
    try list(until: .words(["do"]))
    try body(ofLoop: start)
  }

  private mutating func body(ofLoop start: Int) throws(UnsupportedSyntaxError) {
    try expect("do", after: start)
    try list(until: .words(["done"]))
    try expect("done", after: start)
  }

  /// Reads `for`, or `select`, which has the same form.
  private mutating func forCommand(_ start: Int) throws(UnsupportedSyntaxError) {
    position += plainWord.count
    try skipBlanks()
    if byte == .openParenthesis {
      guard dialect == .bash, nextByte == .openParenthesis else { throw unfollowable("for (") }
      try arithmetic(allowsSemicolons: true)
    } else {
      let name = try word()
      guard name.isPlain && !name.range.isEmpty || name.hasValue else {
        throw unfollowable("for", at: start)
      }
      reject(name.placeholders, .loopName)
      try skipLines()
      if isAt("in") {
        try items(of: name)
      } else {
        flow.loopOverParameters(script.text(name.range), at: start)
      }
    }
    try skipBlanks()
    if byte == .semicolon { position += 1 }
    try skipLines()
    try body(ofLoop: start)
  }

  private mutating func items(of name: ShellWord) throws(UnsupportedSyntaxError) {
    position += 2
    while true {
      try skipBlanks()
      let item = try word()
      if item.range.isEmpty { break }
      guard byte != .openParenthesis else { throw unfollowable("(") }
      flow.assign(script.text(name.range), item.range)
    }
    guard byte == .semicolon || byte == .newline else { throw unfollowable(unexpected) }
  }

  private mutating func caseCommand(_ start: Int) throws(UnsupportedSyntaxError) {
    position += 4
    try skipBlanks()
    let subject = try word()
    guard !subject.range.isEmpty else { throw unfollowable("case", at: start) }
    try skipLines()
    try expect("in", after: start)
    while true {
      try skipLines()
      if isAt("esac") { break }
      try patterns(start)
      try list(until: .caseItem)
      guard byte == .semicolon else { break }
      position += 1
      if byte == .semicolon { position += 1 }
      if byte == .ampersand { position += 1 }
    }
    try expect("esac", after: start)
  }

  private mutating func patterns(_ start: Int) throws(UnsupportedSyntaxError) {
    if byte == .openParenthesis { position += 1 }
    while true {
      try skipBlanks()
      let pattern = try word()
      guard !pattern.range.isEmpty else { throw unbalanced("case", at: start) }
      try skipBlanks()
      if byte == .closeParenthesis { break }
      guard byte == .bar, nextByte != .bar else { throw unfollowable(unexpected) }
      position += 1
    }
    position += 1
  }

  /// Reads a function from the position after its name.
  mutating func functionBody(of name: ShellWord) throws(UnsupportedSyntaxError) {
    reject(name.placeholders, .functionName)
    if byte == .openParenthesis {
      position += 1
      try skipBlanks()
      guard byte == .closeParenthesis else { throw unfollowable("(") }
      position += 1
    }
    try skipLines()
    let start = position
    guard try nestedCompound() else { throw unfollowable(unexpected) }
    try redirections(ofCommandFrom: start)
    if let name = name.literal { flow.functions.append((name, start..<position)) }
  }
}

/// The words that begin or divide compound commands. Those of zsh and bash count in all shells.
enum ReservedWord: String {
  case `if`, then, elif, `else`, fi, `while`, until, `do`, done, `for`, `case`, esac
  case openBrace = "{"
  case closeBrace = "}"
  case openBrackets = "[["
  case not = "!"
  case function, select, time, coproc
  // Only in zsh; elsewhere no usual program has such a name.
  case `repeat`, foreach, end, nocorrect, noglob, always

  init?(_ word: ArraySlice<UInt8>) {
    guard !word.isEmpty, word.count <= 9 else { return nil }
    self.init(rawValue: String(decoding: word, as: UTF8.self))
  }
}

/// `[[ … ]]` in bash and zsh.
extension ScriptReading {
  /// Reads from `[[` to after `]]`.
  mutating func condition(_ start: Int) throws(UnsupportedSyntaxError) {
    position += 2
    var words: [ShellWord] = []
    while true {
      try skipLines()
      switch byte {
      case ScriptText.end: throw unbalanced("[[", at: start)
      case .openParenthesis where !words.isEmpty: throw unfollowable("[[", at: start)
      case .openParenthesis, .closeParenthesis:
        classify(primary: words)
        words = []
        position += 1
      case .ampersand, .bar:
        guard nextByte == byte else { throw unfollowable("[[", at: start) }
        classify(primary: words)
        words = []
        position += 2
      case .less, .greater:
        guard nextByte != .openParenthesis, words.count == 1 else {
          throw unfollowable("[[", at: start)
        }
        words.append(
          ShellWord(
            range: position..<position + 1, text: [byte], isPlain: true, placeholders: 0..<0))
        position += 1
      default:
        if isAt("]]") {
          classify(primary: words)
          position += 2
          return
        }
        if isAt("!"), words.isEmpty {
          position += 1
          continue
        }
        let isExpression = words.count == 2 && words[1].literal == "=~"
        let word = isExpression ? try regularExpression() : try word()
        guard !word.range.isEmpty, byte != .openParenthesis else {
          throw unfollowable("[[", at: start)
        }
        words.append(word)
      }
    }
  }

  /// Reads the right side of `=~`, where parentheses and bars are literal.
  private mutating func regularExpression() throws(UnsupportedSyntaxError) -> ShellWord {
    let start = position
    var text: [UInt8] = []
    var open = 0
    while true {
      let part = try word()
      text += part.text
      switch byte {
      case .openParenthesis: open += 1
      case .closeParenthesis where open > 0: open -= 1
      case .bar where open > 0: break
      case .space, .tab, .newline:
        guard open == 0 else { throw unfollowable("=~", at: start) }
        return ShellWord(
          range: start..<position, text: text, isPlain: false,
          placeholders: script.placeholders(in: start..<position))
      default: throw unfollowable("=~", at: start)
      }
      text.append(byte)
      position += 1
    }
  }

  /// Classifies one test: a word; an operator and a word; or two words with an operator between them.
  private mutating func classify(primary words: [ShellWord]) {
    guard let first = words.first, let last = words.last else { return }
    let range = first.range.lowerBound..<last.range.upperBound
    flow.assign("BASH_REMATCH", range)
    flow.assign("MATCH", range)
    let operation = words.count == 1 ? "-n" : words[words.count - 2].literal
    let isSafe =
      switch words.count {
      case 1: true
      case 2: operation.map(TestOperators.ofOne.contains) ?? false
      case 3:
        operation.map(TestOperators.ofTwo.contains) ?? false
          || (operation == "=~" && dialect == .bash)
      default: false
      }
    if isSafe || words.count == 2 && operation == "-v" && last.isPlainName { return }
    reject(script.placeholders(in: range), .condition(operation))
    flow.evaluated.append(range)
  }
}

/// The tests that only inspect their operands.
enum TestOperators {
  static let ofOne: Set<String> = [
    "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-n", "-p", "-r", "-s", "-u", "-w", "-x",
    "-z", "-G", "-L", "-N", "-O", "-S",
  ]
  static let ofTwo: Set<String> = ["=", "==", "!=", "<", ">", "-nt", "-ot", "-ef"]
  /// Whether it is a binary operator, so that a `!` before it is an operand.
  static func isBinary(_ word: String) -> Bool {
    ofTwo.contains(word) || ofNumbers.contains(word)
  }

  /// Comparisons of numbers, which `[` only parses, but `[[` and zsh evaluate.
  static let ofNumbers: Set<String> = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]
}

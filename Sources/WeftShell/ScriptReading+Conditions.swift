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

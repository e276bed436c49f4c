/// Reads the arguments of an interpreter one by one.
struct InterpreterArguments {
  let interpreter: Interpreter
  let name: String
  /// Whether an option gave program text, or announced it to a shell.
  private(set) var hasCode = false
  private var awaitsCode = false
  /// Whether the text after a shell's `-c` was taken.
  private(set) var hasScript = false
  /// The rejection reason for the next word, if that is the argument of an option.
  private var awaited: ShellQuotingError.Reason?
  private var dataToCome = 0
  private var acceptsOptions = true
  private var operands = 0
  private(set) var isDone = false
  /// Whether the argument of the current option is the program, so that the words after it belong
  /// to that.
  private var endsNext = false
  private var isUncertain = false
  private var hasInputFlag = false

  init(_ interpreter: Interpreter, name: String) {
    self.interpreter = interpreter
    self.name = name
  }

  /// Whether its standard input is its program.
  var readsProgram: Bool {
    interpreter.readsInput && (hasInputFlag || !(hasCode || operands > 0))
  }

  /// The reason why the word is code for the interpreter; `nil` if it is not.
  mutating func take(_ word: ShellWord) -> ShellQuotingError.Reason? {
    if isDone { return nil }
    if isUncertain { return word.hasValue ? .optionOf(name) : nil }
    if dataToCome > 0 {
      dataToCome -= 1
      return nil
    }
    if let reason = awaited {
      awaited = nil
      isDone = endsNext
      return reason
    }
    if acceptsOptions, word.literalStart.first == UInt8(ascii: "-") || isPlus(word) {
      return takeOption(word)
    }
    return takeOperand(word)
  }

  private func isPlus(_ word: ShellWord) -> Bool {
    interpreter.isShell && word.literalStart.first == UInt8(ascii: "+")
  }

  private mutating func takeOption(_ word: ShellWord) -> ShellQuotingError.Reason? {
    let text = String(decoding: word.literalStart, as: UTF8.self)
    if word.literal == "--" || (word.literal == "-" && interpreter.isShell) {
      acceptsOptions = false
      return nil
    }
    if word.literal == "-" { return takeOperand(word) }
    if let count = word.literal.flatMap({ interpreter.data[$0] }) {
      dataToCome = count
      return nil
    }
    if interpreter.operandsAreCode, word.hasValue { return .programText(name) }
    if let option = interpreter.codeWords.first(where: { text == $0 || text.hasPrefix($0 + "=") }) {
      hasCode = true
      if text == option, word.literal != nil { awaited = .programText(name) }
      return .programText(name)
    }
    if text.hasPrefix("--") { return word.literal == nil ? .optionOf(name) : nil }
    return takeLetters(word)
  }

  private mutating func takeLetters(_ word: ShellWord) -> ShellQuotingError.Reason? {
    for (index, byte) in word.text.enumerated().dropFirst() {
      let isLast = index == word.text.count - 1
      guard byte > 0x02 else { return .optionOf(name) }
      let letter = Character(UnicodeScalar(byte))
      if interpreter.isShell, letter == "c" || letter == "s" {
        if letter == "c" {
          awaitsCode = true
          hasCode = true
        } else {
          hasInputFlag = true
        }
      } else if interpreter.isShell, interpreter.letters.contains(letter) {
        awaited = .optionOf(name)
      } else if interpreter.code.contains(letter) {
        hasCode = true
        if isLast { awaited = .programText(name) }
        if interpreter.endsAtCode, !isLast { isDone = true }
        endsNext = interpreter.endsAtCode && isLast
        return .programText(name)
      } else if interpreter.letters.contains(letter) {
        if letter == "m", interpreter.endsAtCode {
          operands += 1
          endsNext = isLast
          isDone = !isLast
        }
        if letter == "f", interpreter.isFirstOperand { hasCode = true }
        if isDataLetter(letter, word, isLast: isLast) { return nil }
        if isLast { awaited = .optionOf(name) }
        return .optionOf(name)
      } else if interpreter.attached.contains(letter) {
        return word.literal == nil ? .optionOf(name) : nil
      }
    }
    return nil
  }

  /// Whether a letter takes data, like `awk -v name=value` and `-F separator`.
  private mutating func isDataLetter(_ letter: Character, _ word: ShellWord, isLast: Bool) -> Bool {
    guard interpreter.isFirstOperand, letter == "v" || letter == "F" else { return false }
    if isLast { dataToCome = 1 }
    return true
  }

  private mutating func takeOperand(_ word: ShellWord) -> ShellQuotingError.Reason? {
    operands += 1
    if awaitsCode {
      isDone = true
      hasScript = true
      return .programText(name)
    }
    if interpreter.operandsAreCode {
      if operands == 1, name == "sqlite3" { return word.mayBeginWithValue ? .optionOf(name) : nil }
      return .programText(name)
    }
    if acceptsOptions, word.hasExpansion, word.literalStart.isEmpty {
      isUncertain = true
      return .optionOf(name)
    }
    if interpreter.isFirstOperand, !hasCode {
      hasCode = true
      isDone = !interpreter.permutes
      return .programText(name)
    }
    let isFile = !hasCode && !hasInputFlag && !interpreter.permutes
    if acceptsOptions, word.mayBeginWithValue {
      return isFile ? .programFile(name) : .optionOf(name)
    }
    if interpreter.permutes { return nil }
    isDone = true
    if hasCode || hasInputFlag { return nil }
    if word.literal == "-" || word.literal == "/dev/stdin" { hasInputFlag = true }
    return .programFile(name)
  }
}

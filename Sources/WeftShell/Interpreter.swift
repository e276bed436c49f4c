import WeftEncoding

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
  private var awaitsAssignment = false
  private var acceptsOptions = true
  private var operands = 0
  private(set) var isDone = false
  /// Whether the argument of the current option is the program, so that the words after it belong
  /// to that.
  private var endsNext = false
  private var isUncertain = false
  private var hasInputFlag = false
  /// Whether its program is behind a descriptor.
  private(set) var readsDescriptor = false

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
    if awaitsAssignment {
      awaitsAssignment = false
      return word.assigns(after: 0) ? nil : .optionOf(name)
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
    if word.literal.map(interpreter.assigningWords.contains) == true {
      awaitsAssignment = true
      return nil
    }
    if let option = interpreter.assigningWords.all.first(where: { text.hasPrefix($0 + "=") }) {
      return word.assigns(after: option.utf8.count + 1) ? nil : .optionOf(name)
    }
    if let option = interpreter.codeWords.all.first(where: {
      text == $0 || text.hasPrefix($0 + "=")
    }) {
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
      } else if interpreter.assigning.contains(letter) {
        awaitsAssignment = isLast
        return isLast || word.assigns(after: index + 1) ? nil : .optionOf(name)
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
    if let file = word.literal.flatMap(StandardFile.init) {
      if file == .input { hasInputFlag = true } else { readsDescriptor = true }
    }
    return .programFile(name)
  }
}

/// A file name by which programs read what they inherit.
enum StandardFile {
  case input, descriptor

  init?(_ name: String) {
    switch name {
    case "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0": self = .input
    case _ where name.hasPrefix("/dev/fd/") || name.hasPrefix("/proc/self/fd/"): self = .descriptor
    default: return nil
    }
  }
}

/// A program that reads another program from its arguments.
struct Interpreter {
  /// One-letter options whose argument is program text.
  var code = ""
  /// Long options whose argument is program text.
  var codeWords: Words = ""
  /// One-letter options with other arguments; for an interpreter these usually name more code.
  var letters = ""
  /// One-letter options that take the rest of their word as an argument, but never the next word.
  var attached = ""
  /// One-letter options that take `NAME=value`, the value of which is data.
  var assigning = ""
  /// Long options that take `NAME=value`.
  var assigningWords: Words = ""
  /// Options that take the next word, or the next two, as data.
  var data: [String: Int] = [:]
  /// Whether the first operand is the program, if no option gave it.
  var isFirstOperand = false
  /// Whether the option for code takes no argument, so that the program is the first operand, as
  /// with `sh -c`.
  var isShell = false
  /// Whether no word after the program is an option of the interpreter.
  var endsAtCode = false
  /// Whether options are also recognised after operands.
  var permutes = false
  /// Whether all operands except the first are program text.
  var operandsAreCode = false
  /// Whether `NAME=value` is a variable, the text of which is data.
  var isMake = false
  /// Whether `s/a/b/` is a command.
  var isSed = false
  /// Whether operands may be commands for the program to read from.
  var opensOperands = false
  /// Whether the standard input is the program if neither a program nor a file is given.
  var readsInput = true

  /// The knowledge about the values in program text that makes them data in it.
  func sufficient(for word: ShellWord) -> ValueText? {
    if isMake { return word.setsMakeVariable ? .word : nil }
    return isSed && word.substitutesValue ? .name : nil
  }

  static func named(_ name: String) -> Interpreter? {
    if let known = table[name] { return known }
    guard let last = name.utf8.last, last.isDigit else { return nil }
    // python3.12, lua5.4, perl5.36.0
    let digits = name.reversed().prefix { $0.isNumber || $0 == "." }
    return table[String(name.dropLast(digits.count))]
  }

  private static let table: [String: Interpreter] = {
    var table: [String: Interpreter] = [
      "perl": Interpreter(
        code: "eE", letters: "I", attached: "0CdDFilmMVx", opensOperands: true),
      "ruby": Interpreter(code: "e", letters: "ICEr", attached: "0FiKTWx"),
      "php": Interpreter(
        code: "rBRE", codeWords: "--run --process-code --process-begin --process-end",
        letters: "cdfFtzS"),
      "Rscript": Interpreter(code: "e", readsInput: false),
      "julia": Interpreter(code: "eE", codeWords: "--eval --print", letters: "LHJCp"),
      "osascript": Interpreter(code: "e", letters: "ls"),
      "sed": Interpreter(
        code: "e", codeWords: "--expression", letters: "fl", attached: "i", isFirstOperand: true,
        permutes: true, isSed: true, readsInput: false),
      "jq": Interpreter(
        letters: "fL",
        data: ["--arg": 2, "--argjson": 2, "--slurpfile": 2, "--rawfile": 2, "--indent": 1],
        isFirstOperand: true, readsInput: false),
      "psql": Interpreter(
        code: "c", codeWords: "--command", letters: "fhpUdoFRTPL", assigning: "v",
        assigningWords: "--set --variable", permutes: true),
      "sqlite3": Interpreter(codeWords: "-cmd", operandsAreCode: true),
      "make": Interpreter(
        data: ["-C": 1, "-j": 1, "-l": 1], operandsAreCode: true, isMake: true,
        readsInput: false),
      "su": Interpreter(code: "c", codeWords: "--command", letters: "gGsw", permutes: true),
      "script": Interpreter(
        code: "c", codeWords: "--command", letters: "EIOBTmo", permutes: true),
      "bc": Interpreter(),
      "dc": Interpreter(code: "e"),
    ]
    func add(_ names: Words, _ interpreter: Interpreter) {
      for name in names.all { table[name] = interpreter }
    }
    add(
      """
      sh bash dash ash zsh ksh mksh yash fish csh tcsh nu xonsh elvish rc es posh sash osh
      ysh ion rbash lksh
      """,
      Interpreter(letters: "oO", isShell: true))
    add(
      "python pypy", Interpreter(code: "c", letters: "mWXQ", endsAtCode: true))
    add(
      "node nodejs bun ts-node tsx",
      Interpreter(code: "ep", codeWords: "--eval --print", letters: "rC"))
    add(
      "lua luajit texlua", Interpreter(code: "e", letters: "l"))
    add(
      "awk gawk mawk nawk",
      Interpreter(
        code: "e", codeWords: "--source", letters: "fEilvF", isFirstOperand: true,
        readsInput: false))
    add(
      "mysql mariadb",
      Interpreter(
        code: "e", codeWords: "--execute --init-command", letters: "uhPDS", permutes: true))
    add(
      "gmake bmake", Interpreter(operandsAreCode: true, isMake: true, readsInput: false))
    table["runuser"] = table["su"]
    return table
  }()
}

/// The arguments of interpreters that read further code.
extension ArraySlice<ShellWord> {
  /// The file of `-f -` and the like, by which interpreters read a program.
  var programFile: StandardFile? {
    var isNext = false
    for literal in lazy.map({ $0.literal ?? "" }) {
      if isNext, let file = StandardFile(literal) { return file }
      if literal.hasPrefix("--") {
        let option = literal.prefix { $0 != "=" }
        isNext = ["--file", "--from-file", "--makefile"].contains(option)
        if isNext, let file = StandardFile(String(literal.dropFirst(option.count + 1))) {
          return file
        }
      } else {
        isNext = literal.hasPrefix("-") && literal.hasSuffix("f")
        if literal.hasPrefix("-f"), let file = StandardFile(String(literal.dropFirst(2))) {
          return file
        }
      }
    }
    return nil
  }

  /// Whether perl reads from the files that its operands name: it runs `command|`.
  var letPerlOpenOperands: Bool {
    contains { word in
      guard let literal = word.literal else { return false }
      if literal.contains("<>") && !literal.contains("<<>>") || literal.contains("<ARGV>") {
        return true
      }
      // Before the first letter that takes the rest of the word.
      return literal.hasPrefix("-")
        && literal.dropFirst().prefix { !"-eEMmIxFdDVCi".contains($0) }.contains {
          "np".contains($0)
        }
    }
  }
}

extension ShellWord {
  /// Whether the rest of it is `NAME=…` with a literal name, or has no value at all.
  fileprivate func assigns(after offset: Int) -> Bool {
    if literal != nil { return true }
    let rest = text.dropFirst(offset)
    let name = rest.prefix { $0.isName }
    return !name.isEmpty && rest.dropFirst(name.count).first == .equals
  }

  /// Whether it is `NAME=…` for `make`, with a name that `make` itself does not use, and values behind the `=` only.
  fileprivate var setsMakeVariable: Bool {
    let name = text.prefix { $0.isName }
    let used: Words = "SHELL MAKE MAKEFLAGS GNUMAKEFLAGS MFLAGS MAKEFILES MAKEOVERRIDES"
    return !name.isEmpty && text.dropFirst(name.count).first == .equals && !hasExpansion
      && !used.contains(String(decoding: name, as: UTF8.self))
  }

  /// Whether it is one `s` command of `sed` with values in its pattern or its replacement, and with a delimiter that is
  /// no letter or digit, nor one of `_ . -`.
  fileprivate var substitutesValue: Bool {
    guard text.first == UInt8(ascii: "s"), text.count > 3, !hasExpansion else { return false }
    let delimiter = text[1]
    guard delimiter > .space, !delimiter.isName, !"\\.-".utf8.contains(delimiter) else {
      return false
    }
    let parts = text.dropFirst(2).split(separator: delimiter, omittingEmptySubsequences: false)
    return parts.count == 3 && !text.contains(.backslash) && !text.contains(.newline)
      && !parts[0].contains(UInt8(ascii: "["))
      && parts[2].allSatisfy { $0.isDigit || "gpIi".utf8.contains($0) }
  }
}

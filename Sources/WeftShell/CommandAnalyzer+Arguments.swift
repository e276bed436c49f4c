import WeftEncoding

/// Shell commands that treat some of their arguments as more than data.
extension CommandAnalyzer {
  /// Classifies `export NAME=value`, without options: `local -i` would evaluate the value.
  mutating func judgeAssigning(_ arguments: ArraySlice<ShellWord>, of name: String) {
    let hasOptions = arguments.contains {
      $0.assignedName == nil && !$0.isPlain
        || $0.literalStart.first == UInt8(ascii: "-") || $0.literalStart.first == UInt8(ascii: "+")
    }
    if hasOptions {
      givesAttributes = givesAttributes || arguments.contains { mayGiveAttribute($0) }
    }
    for word in arguments {
      guard let length = word.assignedName else {
        rejectUnlessLiteral(word, .assignmentName)
        continue
      }
      let variable = String(decoding: word.text.prefix(length), as: UTF8.self)
      note(assignment: word)
      if name == "export" { assignments.append((ValueFlow.environment, word.range)) }
      if SpecialVariables.isSpecial(variable) {
        reject(word, .specialVariable(variable))
      } else if hasOptions {
        reject(word, .evaluatedArgument(name))
      }
    }
  }

  func mayGiveAttribute(_ word: ShellWord) -> Bool {
    guard word.assignedName == nil, !word.isPlain || word.text.first == UInt8(ascii: "-") else {
      return false
    }
    return !(word.literal.map { ["-r", "-x", "-p", "-f", "-g", "-a", "-A"].contains($0) } ?? false)
  }

  /// Classifies `set`: values only after `--`, and none of the options that change how text is read.
  mutating func judgeSet(_ arguments: ArraySlice<ShellWord>) {
    var words = arguments
    while let word = words.first {
      words.removeFirst()
      if word.literal == "--" || word.literal == "-" { return }
      guard let literal = word.literal, let first = literal.first, first == "-" || first == "+"
      else {
        reject(word, .evaluatedArgument("set"))
        reject(words, .evaluatedArgument("set"))
        if word.literal == nil { changesReading = "set" }
        return
      }
      guard literal.dropFirst().allSatisfy({ "abefhmnuvxCETo".contains($0) }) else {
        changesReading = "set \(literal)"
        reject(words, .evaluatedArgument("set"))
        return
      }
      if literal.contains("o"), let option = words.first {
        words.removeFirst()
        if !(option.literal.map(OptionNames.harmless.contains) ?? false) {
          changesReading = "set -o"
          reject(option, .evaluatedArgument("set"))
        }
      }
    }
  }

  mutating func judgeShellOptions(_ arguments: ArraySlice<ShellWord>) {
    let harmless: Words = """
      -s -u -q -p nullglob dotglob globstar failglob nocaseglob inherit_errexit lastpipe
      extglob
      """
    reject(arguments, .evaluatedArgument("shopt"))
    if !arguments.allSatisfy({ $0.literal.map(harmless.contains) ?? false }) {
      changesReading = "shopt"
    }
  }

  /// Classifies `[` and `test`: the number of arguments alone determines which of them is the operator (POSIX, `test`).
  mutating func judgeTest(_ arguments: ArraySlice<ShellWord>, of name: String) {
    var operands = Array(arguments)
    if name == "[", operands.last?.literal == "]" { operands.removeLast() }
    let isBinary = operands.count == 3 && operands[1].literal.map(TestOperators.isBinary) ?? false
    if operands.count > 1, !isBinary, operands[0].literal == "!" { operands.removeFirst() }
    let isSafe: Bool
    var operation: String?
    switch operands.count {
    case 0, 1: isSafe = true
    case 2:
      operation = operands[0].literal
      isSafe = operation.map(TestOperators.ofOne.contains) ?? false
    case 3:
      operation = operands[1].literal
      isSafe =
        operation.map {
          TestOperators.ofTwo.contains($0)
            || (dialect != .zsh && TestOperators.ofNumbers.contains($0))
        } ?? false
    default: isSafe = false
    }
    if isSafe { return }
    let reason: ShellQuotingError.Reason =
      operands.count > 3 ? .longTest : .condition(operation)
    // Whole tests are rarely built from variables alone: only known dangers are followed further.
    let isKnown = operation == "-v" || operation == "-R" || dialect == .zsh
    for word in operands where word.hasValue || isKnown && !word.isPlainName {
      reject(word, reason)
    }
  }

  /// Classifies `printf`: the format must be literal, so that it is not `-v` and evaluates no values.
  mutating func judgePrintf(_ arguments: ArraySlice<ShellWord>) {
    var words = arguments
    if words.first?.literal == "--" {
      words.removeFirst()
    } else if let option = words.first,
      option.literalStart.first == UInt8(ascii: "-")
    {
      reject(words, .evaluatedArgument("printf -v"))
      return
    }
    guard let format = words.first else { return }
    if format.hasValue || format.hasExpansion { reject(format, .format) }
    // zsh evaluates what it prints as a number.
    if dialect == .zsh, !isOfTexts(format) {
      reject(words.dropFirst(), .evaluatedArgument("printf"))
    }
  }

  /// Whether every conversion is `%s`, `%b`, `%q` or `%%`.
  private func isOfTexts(_ format: ShellWord) -> Bool {
    guard let parts = format.literal?.split(separator: "%", omittingEmptySubsequences: false) else {
      return false
    }
    var isConversion = false
    for part in parts {
      if isConversion, let first = part.first, !"sbq".contains(first) { return false }
      isConversion = !isConversion || !part.isEmpty
    }
    return true
  }
}

/// Programs that run some of their arguments.
extension CommandAnalyzer {
  /// Whether the words, as a script of another shell, run or evaluate its standard input.
  private func readsInput(_ words: ArraySlice<ShellWord>) -> Bool {
    let text = words.compactMap(\.literal).joined(separator: " ")
    return ScriptReading.namesEvaluated(by: text, placeholders: [], .posix, depth: depth + 1)
      .contains(ValueFlow.input)
  }

  /// Classifies `ssh`: the words after the host are text for the remote shell, and an option may name a
  /// program to run here.
  mutating func judgeSSH(_ arguments: ArraySlice<ShellWord>, of name: String) {
    var words = arguments
    var acceptsOptions = true
    while let word = words.first {
      guard acceptsOptions, word.literalStart.first == UInt8(ascii: "-") else { break }
      words.removeFirst()
      if word.literal == "--" {
        acceptsOptions = false
      } else if word.hasValue || word.hasExpansion {
        reject(word, .optionOf(name))
      } else if let last = word.text.last, "BbcDEeFIiJLlmOopQRSWw".utf8.contains(last),
        let value = words.first
      {
        words.removeFirst()
        if word.text != Array("-l".utf8), word.text != Array("-p".utf8) {
          reject(value, .optionOf(name))
        }
      }
    }
    guard let host = words.popFirst() else { return }
    if acceptsOptions, host.mayBeginWithValue { reject(host, .optionOf(name)) }
    if let dashes = words.first, dashes.literal == "--" { words.removeFirst() }
    reject(script: words, of: .posix, .scriptText(name))
    readsProgram = words.isEmpty || readsInput(words)
  }

  mutating func classify(
    _ places: RunArguments, _ arguments: ArraySlice<ShellWord>, of name: String
  ) {
    var places = places
    var words = arguments
    var acceptsOptions = true
    var operands = 0
    var keys: Words = ""
    var isKey = false
    if places.readsInput { readsProgram = true }
    while let word = words.popFirst() {
      if let literal = word.literal {
        if places.texts.contains(literal) { return reject(words, .scriptText(name)) }
        if places.commands.contains(literal) { return judgeCommand(behind: words, places) }
        if literal == places.inputOperand { readsProgram = true }
      }
      if word.literal == "--" {
        acceptsOptions = false
      } else if acceptsOptions, word.literalStart.first == UInt8(ascii: "-"), word.text.count > 1 {
        takeOption(word, of: places, &words, name)
      } else if places.isCommand {
        return classify(arguments[(words.startIndex - 1)...])
      } else {
        if isKey {
          reject(word, .runArgument(name))
        } else if operands > 0 {
          isKey = mayBegin(word, as: keys)
        } else if let literal = word.literal {
          places.letters += places.nestedLetters[literal] ?? ""
          keys = places.nestedKeys[literal] ?? ""
          if places.starts.contains(literal), startsInterpreter(words) { readsProgram = true }
        }
        classify(operand: word, number: operands, places, name)
        operands += 1
      }
    }
  }

  private mutating func classify(
    operand word: ShellWord, number: Int, _ places: RunArguments, _ name: String
  ) {
    if let first = places.firstRun, number >= first {
      reject(word, .runArgument(name))
    } else if begins(word, as: places.beginnings) {
      reject(word, .runArgument(name))
    }
  }

  /// Whether one of the words may be an interpreter that reads a program from its standard input.
  private func startsInterpreter(_ words: ArraySlice<ShellWord>) -> Bool {
    words.indices.contains { index in
      guard let name = words[index].literal.map(ShellDialect.basename),
        let interpreter = Interpreter.named(name)
      else { return false }
      var reading = InterpreterArguments(interpreter, name: name)
      for word in words[(index + 1)...] { _ = reading.take(word) }
      return reading.readsProgram
    }
  }

  /// Whether a word with a value begins with one of the beginnings, or may because it begins with the value.
  private func begins(_ word: ShellWord, as beginnings: Words) -> Bool {
    (word.hasValue || word.hasExpansion) && mayBegin(word, as: beginnings)
  }

  private func mayBegin(_ word: ShellWord, as beginnings: Words) -> Bool {
    let start = String(decoding: word.literalStart, as: UTF8.self).lowercased()
    return beginnings.all.contains { start.hasPrefix($0) || $0.hasPrefix(start) }
  }

  /// Classifies the command after an operand such as `exec`: after `--`, if present, else after
  /// options and a few operands.
  private mutating func judgeCommand(
    behind words: ArraySlice<ShellWord>, _ places: RunArguments
  ) {
    if let dashes = words.firstIndex(where: { $0.literal == "--" }) {
      return classify(words[(dashes + 1)...])
    }
    var words = words
    var skipped = places.skipped
    while let word = words.first {
      if word.literalStart.first == UInt8(ascii: "-") {
        words.removeFirst()
        let takesNext =
          word.text.count == 2 && word.literal?.last.map(places.others.contains) == true
        if takesNext, !words.isEmpty { words.removeFirst() }
      } else if skipped > 0 {
        skipped -= 1
        words.removeFirst()
      } else {
        break
      }
    }
    classify(words)
  }

  // MARK: Options

  private mutating func takeOption(
    _ word: ShellWord, of places: RunArguments, _ words: inout ArraySlice<ShellWord>, _ name: String
  ) {
    let text = String(decoding: word.literalStart, as: UTF8.self)
    let option = text.prefix { $0 != "=" }
    for (key, beginnings) in places.settings where text.hasPrefix(key) {
      if word.literal == key {
        guard let value = words.popFirst() else { return }
        if begins(value, as: beginnings) { reject(value, .runArgument(name)) }
      } else if word.hasValue || word.hasExpansion {
        let rest = text.dropFirst(key.count).drop { $0 == "=" }.lowercased()
        if beginnings.all.contains(where: { rest.hasPrefix($0) || $0.hasPrefix(rest) }) {
          reject(word, .runArgument(name))
        }
      }
      return
    }
    if places.words.all.contains(where: { isMeant($0, by: option) }) {
      let sets = places.linkerFlags.contains(String(option))
      if word.literal == nil {
        reject(word, .runArgument(name), isLinkerFlags: sets)
      } else if option.count == text.count, let value = words.popFirst() {
        reject(value, .runArgument(name), isLinkerFlags: sets)
      }
      return
    }
    if text.hasPrefix("--") {
      // The name of the option itself is not known.
      if word.literal == nil, option.count == text.count { reject(word, .optionOf(name)) }
      return
    }
    takeLetters(word, of: places, &words, name)
  }

  private mutating func reject(
    _ word: ShellWord, _ reason: ShellQuotingError.Reason, isLinkerFlags: Bool
  ) {
    guard isLinkerFlags, word.hasValue, word.setsLinkerVariables else {
      return reject(word, reason)
    }
    evaluated.append(word.range)
    rejections.append((word.placeholders, reason, .word))
  }

  /// Whether `text` means `option`: GNU programs accept a unique prefix of a long option.
  private func isMeant(_ option: String, by text: Substring) -> Bool {
    text == option || (text.count >= 4 && text.hasPrefix("--") && option.hasPrefix(text))
  }

  private mutating func takeLetters(
    _ word: ShellWord, of places: RunArguments, _ words: inout ArraySlice<ShellWord>, _ name: String
  ) {
    for (index, byte) in word.text.enumerated().dropFirst() {
      guard byte > ShellWord.expansion else { return reject(word, .optionOf(name)) }
      // A long option with one dash, and its argument.
      if byte == .equals { return }
      let letter = Character(UnicodeScalar(byte))
      let isLast = index == word.text.count - 1
      if places.letters.contains(letter) {
        guard isLast else { return rejectUnlessLiteral(word, .runArgument(name)) }
        if let value = words.popFirst() { reject(value, .runArgument(name)) }
        return
      }
      if places.others.contains(letter) {
        if isLast, !words.isEmpty { words.removeFirst() }
        return
      }
    }
  }
}

extension ShellWord {
  /// Whether all values in these flags for the linker of go are in the value of a variable: `-X main.version=…`.
  fileprivate var setsLinkerVariables: Bool {
    if hasExpansion { return false }
    // The option itself: -ldflags=…
    let flags =
      text.first == UInt8(ascii: "-")
      ? text.drop { $0 != .equals && $0 != .space }.drop { $0 == .equals } : text[...]
    return setsLinkerVariables(in: flags) || setsLinkerVariables(in: text[...])
  }

  private func setsLinkerVariables(in flags: ArraySlice<UInt8>) -> Bool {
    var isVariable = false
    return flags.split(separator: .space).allSatisfy { part in
      defer { isVariable = part.elementsEqual("-X".utf8) || part.elementsEqual("--X".utf8) }
      guard part.contains(ScriptText.placeholder) else { return true }
      var setting = part.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "'") }
      if !isVariable {
        guard setting.starts(with: "X=".utf8) else { return false }
        setting = setting.dropFirst(2).drop { $0 == UInt8(ascii: "'") }
      }
      let name = setting.prefix { $0.isName || "./-".utf8.contains($0) }
      return !name.isEmpty && setting.dropFirst(name.count).first == .equals
    }
  }
}

/// A value that a program may run: the program is not known, but its name or that of its option suggests so.
package struct ShellSuspicion: Sendable, Hashable {
  /// The index of the expression.
  package let placeholder: Int
  package let program: String
  package let option: String
}

extension CommandAnalyzer {
  /// Notes values after options that often take text to run.
  mutating func suspect(_ arguments: ArraySlice<ShellWord>, of program: String) {
    guard !Self.harmless.contains(program) else { return }
    var option: String?
    for word in arguments {
      if word.literal == "--" { return }
      let start = String(decoding: word.literalStart, as: UTF8.self)
      if word.hasValue {
        let own = start.firstIndex(of: "=").map { String(start[..<$0]) }
        if let option = option ?? own.flatMap({ Self.runsText($0) ? $0 : nil }) {
          for placeholder in word.placeholders {
            suspicions.append(
              ShellSuspicion(placeholder: placeholder, program: program, option: option))
          }
        }
      }
      option = word.literal.flatMap { Self.runsText($0) ? $0 : nil }
    }
  }

  private static func runsText(_ option: String) -> Bool {
    guard option.first == "-" else { return false }
    return ["-c", "-e", "--eval", "-eval", "--command"].contains(option)
      || option.lowercased().contains("exec")
  }

  /// Programs whose `-c` or `-e` takes data.
  private static let harmless: Words = """
    grep egrep fgrep zgrep rg ag ack cut head tail wc ping ping6 uniq curl gzip bzip2 xz
    zstd stat cmp comm tr od xxd hexdump cp mv ln ls cat nl chmod chown sha1sum sha256sum
    sha512sum md5sum cksum file patch diff openssl gpg ssh-keygen ab wrk dig host
    """
}

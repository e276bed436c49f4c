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
    let harmless: Set<String> = [
      "-s", "-u", "-q", "-p", "nullglob", "dotglob", "globstar", "failglob", "nocaseglob",
      "inherit_errexit", "lastpipe", "extglob",
    ]
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

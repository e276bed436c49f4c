/// Programs that run some of their arguments.
extension CommandAnalyzer {
  mutating func classify(
    _ places: RunArguments, _ arguments: ArraySlice<ShellWord>, of name: String
  ) {
    var places = places
    var words = arguments
    var acceptsOptions = true
    var operands = 0
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
      } else {
        if operands == 0 {
          places.letters += word.literal.flatMap { places.nestedLetters[$0] } ?? ""
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

  /// Whether a word begins with one of the beginnings, or may because it begins with a value.
  private func begins(_ word: ShellWord, as beginnings: some Collection<String>) -> Bool {
    guard !beginnings.isEmpty, word.hasValue || word.hasExpansion else { return false }
    let start = String(decoding: word.literalStart, as: UTF8.self).lowercased()
    return beginnings.contains { start.hasPrefix($0) || $0.hasPrefix(start) }
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
        if beginnings.contains(where: { rest.hasPrefix($0) || $0.hasPrefix(rest) }) {
          reject(word, .runArgument(name))
        }
      }
      return
    }
    if places.words.contains(where: { isMeant($0, by: option) }) {
      if word.literal == nil {
        reject(word, .runArgument(name))
      } else if option.count == text.count, let value = words.popFirst() {
        reject(value, .runArgument(name))
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
  private static let harmless: Set<String> = [
    "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "cut", "head", "tail", "wc", "ping",
    "ping6",
    "uniq", "curl", "gzip", "bzip2", "xz", "zstd", "stat", "cmp", "comm", "tr", "od", "xxd",
    "hexdump",
    "cp", "mv", "ln", "ls", "cat", "nl", "chmod", "chown", "sha1sum", "sha256sum", "sha512sum",
    "md5sum",
    "cksum", "file", "patch", "diff", "openssl", "gpg", "ssh-keygen", "ab", "wrk", "dig", "host",
  ]
}

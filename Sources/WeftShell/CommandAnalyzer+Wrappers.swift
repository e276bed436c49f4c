extension CommandAnalyzer {
  mutating func classify(_ wrapper: Wrapper, _ arguments: ArraySlice<ShellWord>, of name: String) {
    var words = arguments
    var acceptsOptions = true
    var operands = wrapper.operands
    while let word = words.first {
      if acceptsOptions, word.literalStart.first == UInt8(ascii: "-") {
        words.removeFirst()
        if word.literal == "--" {
          acceptsOptions = false
        } else {
          guard option(word, of: wrapper, &words, name) else { return }
        }
      } else if wrapper.scripts.contains(where: { $0 == word.literal }) {
        reject(words, .scriptText(name))
        return
      } else if wrapper.assigns, let equals = word.text.firstIndex(of: .equals),
        !word.mayBeginWithValue
      {
        words.removeFirst()
        classify(assignment: word, nameLength: equals)
      } else if operands > 0 {
        operands -= 1
        words.removeFirst()
        if word.hasValue || word.hasExpansion {
          if word.mayBeginWithValue { reject(word, .optionOf(name)) }
        }
      } else {
        break
      }
    }
    if wrapper.scripts.contains(where: { $0 == words.first?.literal }) {
      reject(words, .scriptText(name))
      return
    }
    if let first = words.first?.literal, ReservedWord(Array(first.utf8)[...]) != nil {
      changesReading = name
    }
    classify(words)
    if name == "xargs", !words.isEmpty { judgeInput(ofXargs: words) }
  }

  /// Notes whether the input of `xargs`, which becomes arguments, may be the program of an interpreter or,
  /// for a command that runs others, the command.
  private mutating func judgeInput(ofXargs words: ArraySlice<ShellWord>) {
    let runsInterpreter = words.contains { word in
      word.literal.map { Interpreter.named(ShellDialect.basename($0)) != nil } ?? true
    }
    if runsInterpreter || lacksCommand { readsProgram = true }
  }

  /// Skips an option; `false` if the rest of the command is text for a shell.
  private mutating func option(
    _ word: ShellWord, of wrapper: Wrapper, _ words: inout ArraySlice<ShellWord>, _ name: String
  ) -> Bool {
    let text = String(decoding: word.literalStart, as: UTF8.self)
    if wrapper.scripts.contains(where: { text.hasPrefix($0) }) {
      reject(word, .scriptText(name))
      reject(words, .scriptText(name))
      return false
    }
    if text.hasPrefix("--") {
      if word.literal != nil, wrapper.words.contains(text), !words.isEmpty {
        words.removeFirst()
      } else if word.hasValue, !wrapper.words.contains(where: { text.hasPrefix($0 + "=") }) {
        reject(word, .optionOf(name))
      }
      return true
    }
    guard let letter = text.dropFirst().firstIndex(where: { wrapper.letters.contains($0) }) else {
      if word.literal == nil { reject(word, .optionOf(name)) }
      return true
    }
    let isLast = word.literal != nil && text.index(after: letter) == text.endIndex
    if isLast, !words.isEmpty { words.removeFirst() }
    return true
  }

  private mutating func classify(assignment word: ShellWord, nameLength: Int) {
    let bytes = word.text.prefix(nameLength)
    let name = String(decoding: bytes, as: UTF8.self)
    assignments.append((name, word.range))
    if !bytes.allSatisfy(\.isName) {
      reject(word, .assignmentName)
    } else if SpecialVariables.isSpecial(name) {
      reject(word, .specialVariable(name))
    }
  }

  /// Classifies `find`: the words after `-exec` up to `;` or `+` are a command.
  mutating func judgeFind(_ arguments: ArraySlice<ShellWord>) {
    let starts: Set<String> = ["-exec", "-execdir", "-ok", "-okdir"]
    var words = arguments
    while let word = words.popFirst() {
      if word.hasValue, word.mayBeginWithValue { options.append(word) }
      guard word.literal.map(starts.contains) ?? false else { continue }
      let command = words.prefix { $0.literal != ";" && $0.literal != "+" }
      classify(command)
      words = words.dropFirst(command.count)
    }
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
    reject(words, .scriptText(name))
    readsProgram = words.isEmpty
  }
}

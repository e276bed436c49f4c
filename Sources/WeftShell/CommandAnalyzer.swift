/// Finds the words of a command that must not contain a value because the command treats them as code.
///
/// It knows commands by name: shell commands that evaluate arguments, commands that run other commands, and
/// interpreters that take a program as an argument. Every other command takes its arguments as data.
struct CommandAnalyzer {
  let dialect: ShellDialect
  /// With the knowledge about a value that suffices to allow it.
  var rejections: [(placeholders: Range<Int>, ShellQuotingError.Reason, sufficient: ValueText?)] =
    []
  var suspicions: [ShellSuspicion] = []
  /// Words that begin with a value or an expansion, where a program may take them for options.
  var options: [ShellWord] = []
  /// Words that are code, with or without values.
  var evaluated: [Range<Int>] = []
  /// The variables that `read` and similar commands set.
  var readNames: [String]?
  /// Variables that the command declares, sets or removes, besides ``assignments`` and ``readNames``.
  var setNames: [String] = []
  /// Whether it runs text in the same shell, which may set any variable.
  var setsAnyName = false
  /// Variables that it evaluates in a shell of its own.
  var evaluatedNames: Set<String> = []
  /// Variables that words of the command set, and their values.
  var assignments: [(name: String, value: Range<Int>)] = []
  /// Assignments before the command that it runs.
  var variables: [Range<Int>] = []
  /// Whether it reads a program from its standard input.
  var readsProgram = false
  var givesAttributes = false
  /// Whether it runs a command that is not written out.
  var lacksCommand = false
  /// Its name, if it changes how the text after it is read.
  var changesReading: String?

  /// The nesting depth of the command in others.
  let depth: Int

  init(dialect: ShellDialect, depth: Int) {
    self.dialect = dialect
    self.depth = depth
  }

  /// Notes the use of variables and parameters in the script of a shell that the command starts.
  ///
  /// - Returns: Whether it passes parameters on where a program may take one for an option.
  mutating func classify(
    script: ShellWord, of shell: String, parameters: ArraySlice<ShellWord>
  ) -> Bool {
    guard !script.hasExpansion else { return true }
    let holes = script.text.indices.filter { script.text[$0] == ScriptText.placeholder }
    let reading = ScriptReading.read(
      String(decoding: script.text, as: UTF8.self), placeholders: holes.map { $0..<$0 + 1 },
      ShellDialect(program: shell), depth: depth + 1)
    let names = reading.flow.namesEvaluated(in: reading.script)
    evaluatedNames.formUnion(names.subtracting([ValueFlow.positional, ValueFlow.input]))
    if names.contains(ValueFlow.input) { readsProgram = true }
    if names.contains(ValueFlow.positional) { reject(parameters, .evaluatedArgument(shell)) }
    return reading.flow.passesParameters(in: reading.script)
  }

  mutating func reject(_ word: ShellWord, _ reason: ShellQuotingError.Reason) {
    evaluated.append(word.range)
    guard word.hasValue else { return }
    let sufficient: ValueText? =
      switch reason {
      // A value that cannot begin with a dash is no option.
      case .optionOf where word.text.first == ScriptText.placeholder: .word
      // `$CC -DVERSION=…` is one word of any program, and not its first part.
      case .unknownCommand where word.isGlued: .word
      default: nil
      }
    rejections.append((word.placeholders, reason, sufficient))
  }

  /// Rejects a word that is harmless only as a literal: the name of a variable, or a program in another language, in
  /// which the script's variables do not exist.
  mutating func rejectUnlessLiteral(_ word: ShellWord, _ reason: ShellQuotingError.Reason) {
    if word.literal == nil { reject(word, reason) }
  }

  mutating func reject(_ words: ArraySlice<ShellWord>, _ reason: ShellQuotingError.Reason) {
    for word in words { reject(word, reason) }
  }

  /// Rejects the words that another shell reads as a script, joined by blanks. Where a word is data in that script, it
  /// is data here: nothing in it ends a word or begins an expansion.
  mutating func reject(
    script words: ArraySlice<ShellWord>, of shell: ShellDialect,
    _ reason: ShellQuotingError.Reason
  ) {
    let text = Array(words.map(\.text).joined(separator: [.space]))
    let holes = text.indices.filter { text[$0] == ScriptText.placeholder }.map { $0..<$0 + 1 }
    let placeholders = words.flatMap(\.placeholders)
    guard !text.contains(ShellWord.expansion), holes.count == placeholders.count,
      text.first != UInt8(ascii: "-"), depth < ScriptReading.depthLimit
    else { return reject(words, reason) }
    let reading = ScriptReading.read(
      String(decoding: text, as: UTF8.self), placeholders: holes, shell, depth: depth + 1,
      values: holes.map { _ in .word })
    evaluated += words.map(\.range)
    for (placeholder, place) in zip(placeholders, reading.places) {
      let isData = if case .quoted? = place { true } else { false }
      rejections.append((placeholder..<placeholder + 1, reason, isData ? .word : nil))
    }
  }

  /// Classifies a command by its words, the first of which names it.
  mutating func classify(_ words: ArraySlice<ShellWord>) {
    guard let first = words.first else {
      lacksCommand = true
      return
    }
    let arguments = words.dropFirst()
    if first.hasValue {
      // After what may be an assignment, the next word may be the name.
      let isAssignment = first.text.contains(.equals)
      reject(first, isAssignment ? .assignmentName : .commandWord)
      reject(arguments, isAssignment ? .assignmentName : .unknownCommand)
      return
    }
    guard let name = name(of: first) else {
      reject(first, .unknownCommand)
      for word in arguments where word.hasValue { reject(word, .unknownCommand) }
      options += arguments.filter { !$0.hasValue && $0.mayBeginWithAny }
      readsProgram = true
      return
    }
    guard let rule = CommandRule.named(name, dialect) else {
      suspect(arguments, of: name)
      judgeOrdinary(arguments, of: name)
      return
    }
    apply(rule, to: arguments, of: name)
  }

  /// The name of the program; for a path, its last component, which must not be an expansion.
  private func name(of word: ShellWord) -> String? {
    if let literal = word.literal {
      return literal.contains("/") ? ShellDialect.basename(literal) : literal
    }
    guard let slash = word.text.lastIndex(of: UInt8(ascii: "/")) else { return nil }
    let last = word.text[(slash + 1)...]
    guard !last.isEmpty, last.allSatisfy({ $0 > 0x02 }) else { return nil }
    return String(decoding: last, as: UTF8.self)
  }

  private mutating func apply(
    _ rule: CommandRule, to arguments: ArraySlice<ShellWord>, of name: String
  ) {
    switch rule {
    case .evaluates:
      reject(arguments, .evaluatedArgument(name))
      readsProgram = name == "." || name == "source" || arguments.contains(where: \.hasExpansion)
      setsAnyName = true
    case .names:
      recordNames(arguments)
      for word in arguments { rejectUnlessLiteral(word, .evaluatedArgument(name)) }
    case .declares:
      recordNames(arguments)
      if arguments.contains(where: mayGiveAttribute) { givesAttributes = true }
      for word in arguments {
        rejectUnlessLiteral(word, .evaluatedArgument(name))
        if word.assignedName != nil { note(assignment: word) }
      }
    case .reads:
      readNames = arguments.compactMap(\.literal)
      for word in arguments { rejectUnlessLiteral(word, .evaluatedArgument(name)) }
    case .changesReading:
      reject(arguments, .evaluatedArgument(name))
      changesReading = name
    case .assigns:
      // `export NAME` sets nothing.
      if name == "local" { recordNames(arguments) }
      judgeAssigning(arguments, of: name)
    case .setsOptions: judgeSet(arguments)
    case .setsShellOptions: judgeShellOptions(arguments)
    case .tests: judgeTest(arguments, of: name)
    case .prints:
      if arguments.first?.literal == "-v" { recordNames(arguments.dropFirst().prefix(1)) }
      judgePrintf(arguments)
    case .data: break
    case .runs(let wrapper): classify(wrapper, arguments, of: name)
    case .finds: judgeFind(arguments)
    case .interprets(let interpreter):
      if name == "runuser",
        arguments.contains(where: { $0.literal.map(["-u", "--user"].contains) ?? false })
      {
        return classify(Wrapper.runuser, arguments, of: name)
      }
      let parameters = classify(interpreter, arguments, of: name)
      // The arguments of its program may again be a command: runuser -u www -- sh -c …
      judgeOrdinary(arguments, of: name, before: parameters)
    case .joinsIntoScript: reject(arguments, .scriptText(name))
    case .watches: reject(script: arguments, of: .posix, .scriptText(name))
    case .hands(let places):
      classify(places, arguments, of: name)
      judgeOrdinary(arguments, of: name)
    case .connects: judgeSSH(arguments, of: name)
    }
  }

  private mutating func recordNames(_ words: ArraySlice<ShellWord>) {
    setNames += words.filter(\.isPlainName).compactMap(\.literal)
  }

  mutating func note(assignment word: ShellWord) {
    guard let length = word.assignedName else { return }
    let name = String(decoding: word.text.prefix(length), as: UTF8.self)
    assignments.append((name, word.range.lowerBound + length..<word.range.upperBound))
  }

  /// Classifies the arguments of an unknown program: they are data, unless it runs a shell, like
  /// `docker exec box sh -c …`.
  ///
  /// - Parameter parameters: The index of the first word that is no option, whatever it begins with.
  private mutating func judgeOrdinary(
    _ arguments: ArraySlice<ShellWord>, of name: String, before parameters: Int? = nil
  ) {
    guard arguments.contains(where: { $0.hasValue || $0.hasExpansion }) else { return }
    var reading = OptionReading(program: name)
    for index in arguments.indices {
      let word = arguments[index]
      if index < parameters ?? .max, word.mayBeOption(in: &reading), word.mayBeginWithAny {
        options.append(word)
      }
      guard let literal = word.literal, literal.utf8.count <= 40 else { continue }
      let program = ShellDialect.basename(literal)
      if case .interprets(let interpreter)? = CommandRule.named(program, dialect) {
        judgeEmbedded(interpreter, arguments[(index + 1)...], of: program)
      }
    }
  }
}

extension CommandAnalyzer {
  /// Classifies the arguments of an interpreter: its options, its program, and the arguments of that program.
  ///
  /// - Returns: The index of the first parameter of a shell's script that passes none of them on where a program may take
  ///   it for an option.
  @discardableResult
  mutating func classify(
    _ interpreter: Interpreter, _ arguments: ArraySlice<ShellWord>, of name: String
  ) -> Int? {
    var parameters: Int?
    var reading = InterpreterArguments(interpreter, name: name)
    for (index, word) in zip(arguments.indices, arguments) {
      let hadScript = reading.hasScript
      guard let reason = reading.take(word) else { continue }
      if interpreter.isShell, reading.hasScript, !hadScript, word.literal == nil {
        reject(script: [word], of: ShellDialect(program: name), reason)
      } else if word.literal == nil, let sufficient = interpreter.sufficient(for: word) {
        evaluated.append(word.range)
        rejections.append((word.placeholders, reason, sufficient))
      } else {
        rejectUnlessLiteral(word, reason)
      }
      if reading.hasScript, !hadScript {
        let passesOn = classify(script: word, of: name, parameters: arguments[(index + 1)...])
        if !passesOn { parameters = index + 1 }
      }
      if interpreter.isShell, word.hasExpansion { readsProgram = true }
    }
    if reading.readsProgram { readsProgram = true }
    if interpreter.isMake { evaluatedNames.insert(ValueFlow.environment) }
    if interpreter.opensOperands, arguments.letPerlOpenOperands {
      for word in arguments {
        evaluated.append(word.range)
        if word.hasValue { rejections.append((word.placeholders, .runArgument(name), .word)) }
      }
    }
    if !interpreter.isShell, let file = arguments.programFile {
      if file == .input {
        readsProgram = true
      } else {
        evaluatedNames.insert(ValueFlow.descriptors)
      }
    }
    if reading.readsDescriptor { evaluatedNames.insert(ValueFlow.descriptors) }
    return parameters
  }

  /// Classifies an interpreter among the arguments of another program: only what is certainly code.
  mutating func judgeEmbedded(
    _ interpreter: Interpreter, _ arguments: ArraySlice<ShellWord>, of name: String
  ) {
    var reading = InterpreterArguments(interpreter, name: name)
    var found: [(ShellWord, ShellQuotingError.Reason)] = []
    for word in arguments {
      if let reason = reading.take(word) { found.append((word, reason)) }
      if reading.isDone { break }
    }
    guard reading.hasCode else { return }
    for (word, reason) in found { rejectUnlessLiteral(word, reason) }
  }
}

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
      } else if word.literal.map(wrapper.scripts.contains) == true {
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
    if words.first?.literal.map(wrapper.scripts.contains) == true {
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
    if wrapper.scripts.all.contains(where: { text.hasPrefix($0) }) {
      reject(word, .scriptText(name))
      reject(words, .scriptText(name))
      return false
    }
    if text.hasPrefix("--") {
      if word.literal != nil, wrapper.words.contains(text), !words.isEmpty {
        words.removeFirst()
      } else if word.hasValue, !wrapper.words.all.contains(where: { text.hasPrefix($0 + "=") }) {
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
    variables.append(word.range)
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
    var reading = OptionReading(program: "find")
    while let word = words.popFirst() {
      if word.mayBeOption(in: &reading), word.mayBeginWithAny { options.append(word) }
      guard word.literal.map(starts.contains) ?? false else { continue }
      let command = words.prefix { $0.literal != ";" && $0.literal != "+" }
      classify(command)
      words = words.dropFirst(command.count)
    }
  }
}

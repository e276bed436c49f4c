/// Reads a script once, as its shell would, and decides how each expression in it is quoted or why it is rejected.
///
/// It is a recursive descent over the grammar of POSIX (Shell Command Language, §2.10) with the additions of bash
/// and zsh. Lexing is the same for all commands, so the quoting of an expression is known as soon as it is read;
/// whether it is sound is decided by ``CommandAnalyzer`` when its command is complete. Text after a construct that
/// shells read in different ways is not read: see ``Unfollowable``.
struct ScriptReading {
  /// Inside backquotes, it ends where they close.
  var script: ScriptText
  let dialect: ShellDialect
  var position = 0
  /// `nil` for expressions that were not reached, or of which nothing is known yet.
  var places: [Place?]
  /// A bound on each expression's value; empty if none is known.
  private let values: [ValueText]
  /// Arguments that an unknown program may run.
  var suspicions: [ShellSuspicion] = []
  /// Arguments that begin with a value, where a program may take them for options, each with the name of its command.
  private var options: [(word: ShellWord, command: String?)] = []
  /// The number of open commands, substitutions and expansions.
  var depth = 0
  /// Here-documents whose bodies begin after the next newline.
  var awaited: [HereDocument] = []
  /// The number of here-documents awaited by the commands around the current substitution.
  var awaitedOutside = 0
  var flow = ValueFlow()
  /// The reason why the text is not read to its end.
  private var obstacle: String?

  /// The decision about an expression.
  enum Place {
    case quoted(ShellQuoting, mayBeOption: Bool)
    case rejected(ShellQuotingError.Reason, ValueProof?)
  }

  /// The deepest nesting of commands, substitutions and expansions.
  static let depthLimit = 100

  init(_ script: ScriptText, dialect: ShellDialect, values: [ValueText] = []) {
    self.script = script
    self.dialect = dialect
    self.values = values
    places = Array(repeating: nil, count: script.placeholders.count)
  }

  static func placements(
    of placeholders: [Range<Int>], in text: String, dialect: ShellDialect, values: [ValueText]
  ) -> (placements: [ShellPlacement], suspicions: [ShellSuspicion]) {
    guard !placeholders.isEmpty else { return ([], []) }
    let script = ScriptText(text, placeholders: placeholders)
    var reading = ScriptReading(script, dialect: dialect, values: values)
    reading.readAll()
    let suspicions = reading.suspicions.filter { values.isEmpty || values[$0.placeholder].isEmpty }
    let placements: [ShellPlacement] = zip(placeholders, reading.places).map { placeholder, place in
      switch place {
      case .quoted(let quoting, let mayBeOption)?: .quoted(quoting, mayBeOption: mayBeOption)
      case .rejected(let reason, let proof)?:
        .rejected(ShellQuotingError(reason, expression: text, placeholder, proof: proof))
      case nil: preconditionFailure("an expression at \(placeholder) has no place")
      }
    }
    return (placements, suspicions)
  }

  /// The values from outside that a script evaluates or runs; `nil` if its language is not known.
  static func evaluation(
    of text: String, placeholders: [Range<Int>], _ dialect: ShellDialect
  ) -> ScriptEvaluation? {
    if case .unknown = dialect { return nil }
    var reading = ScriptReading(ScriptText(text, placeholders: placeholders), dialect: dialect)
    reading.readAll()
    let names = reading.flow.namesEvaluated(in: reading.script)
    return ScriptEvaluation(
      variables: names, includesInput: names.contains(ValueFlow.input),
      includesEnvironment: names.contains(ValueFlow.environment), obstacle: reading.obstacle)
  }

  /// The variables that a script reads from its environment; `nil` if it cannot be followed to its end.
  static func readsFromOutside(
    by text: String, placeholders: [Range<Int>], _ dialect: ShellDialect
  ) -> [VariableRead]? {
    var reading = ScriptReading(ScriptText(text, placeholders: placeholders), dialect: dialect)
    reading.readAll()
    return reading.flow.readsFromOutside
  }

  /// The names of the variables that a script evaluates; `@` for its parameters.
  static func namesEvaluated(
    by text: String, placeholders: [Range<Int>], _ dialect: ShellDialect, depth: Int
  ) -> Set<String> {
    let reading = read(text, placeholders: placeholders, dialect, depth: depth)
    return reading.flow.namesEvaluated(in: reading.script)
  }

  /// Reads a script that another script passes to a shell.
  static func read(
    _ text: String, placeholders: [Range<Int>], _ dialect: ShellDialect, depth: Int,
    values: [ValueText] = []
  ) -> ScriptReading {
    var reading = ScriptReading(
      ScriptText(text, placeholders: placeholders), dialect: dialect, values: values)
    reading.depth = depth
    if depth < depthLimit { reading.readAll() } else { reading.flow.unreadText = 0 }
    return reading
  }

  private mutating func readAll() {
    if case .unknown(let program) = dialect {
      reject(script.placeholders.indices, .unknownShell(program))
      flow.unreadText = 0
      flow.evaluatedNames = [ValueFlow.positional]
      return
    }
    do throws(UnsupportedSyntaxError) {
      try readCommands()
    } catch {
      flow.unreadText = error.offset
      let line = 1 + script.bytes[..<error.offset].count { $0 == .newline }
      obstacle = "line \(line): \(error.construct.sentence)"
      forget(from: startOfPresentCommand)
      reject(
        script.placeholders(in: startOfPresentCommand..<script.bytes.count),
        .unfollowable(error.construct, line: line))
    }
    for (placeholders, reason) in flow.rejections(in: script) {
      let isWordData = reason == .evaluatedLater(ValueFlow.environment)
      reject(placeholders, reason, sufficient: isWordData ? .word : nil)
    }
    markOptions()
  }

  /// The start of the complete command being read: the shell has run everything before it when it reads it.
  private var startOfPresentCommand = 0

  private mutating func readCommands() throws(UnsupportedSyntaxError) {
    if let control = script.firstControl {
      throw UnsupportedSyntaxError(construct: .controlCharacter, offset: control)
    }
    while true {
      try skipLines()
      startOfPresentCommand = position
      guard byte != ScriptText.end else { return }
      try list(until: .endOfLine)
      guard byte == .newline || byte == ScriptText.end else { throw unfollowable(unexpected) }
      if byte == .newline { try newline() }
    }
  }

  /// Withdraws the quoting of expressions in a command that cannot be read to its end.
  private mutating func forget(from offset: Int) {
    for placeholder in script.placeholders(in: offset..<script.bytes.count) {
      if case .rejected? = places[placeholder] { continue }
      places[placeholder] = nil
    }
  }
}

extension ScriptReading {
  var byte: UInt8 { script.bytes[position] }
  /// The byte after this one; NUL at the end.
  var nextByte: UInt8 {
    byte == ScriptText.end ? ScriptText.end : script.bytes[position + 1]
  }

  func unfollowable(_ syntax: String, at offset: Int? = nil) -> UnsupportedSyntaxError {
    UnsupportedSyntaxError(construct: .syntax(syntax), offset: offset ?? position)
  }

  func unbalanced(_ opening: String, at offset: Int) -> UnsupportedSyntaxError {
    UnsupportedSyntaxError(construct: .unbalanced(opening), offset: offset)
  }

  /// The text at the current position, as a message shows it.
  var unexpected: String {
    if byte == ScriptText.end { return "the end" }
    let word = script.bytes[position...].prefix { !$0.endsWord && $0 != ScriptText.placeholder }
    return word.isEmpty
      ? String(UnicodeScalar(byte)) : String(decoding: word.prefix(20), as: UTF8.self)
  }

  /// Rejects placeholders that are not yet rejected for a reason of their own.
  mutating func reject(
    _ placeholders: Range<Int>, _ reason: ShellQuotingError.Reason, sufficient: ValueText? = nil
  ) {
    for placeholder in placeholders {
      switch places[placeholder] {
      case .rejected?: continue
      case .quoted? where isHarmless(placeholder, for: reason, sufficient): continue
      default: break
      }
      places[placeholder] = .rejected(reason, reason.proof(sufficient: sufficient))
    }
  }

  private func isHarmless(
    _ placeholder: Int, for reason: ShellQuotingError.Reason, _ sufficient: ValueText? = nil
  ) -> Bool {
    !values.isEmpty && reason.isHarmless(for: values[placeholder], sufficient: sufficient)
  }

  /// Sets the quoting of the expression here and moves past it.
  mutating func takeHole(_ quoting: ShellQuoting) {
    let placeholder = script.placeholder(at: position)
    if places[placeholder] == nil { places[placeholder] = .quoted(quoting, mayBeOption: false) }
    position = script.placeholders[placeholder].upperBound
  }

  /// Sets the quoting of the expression here if its value is harmless, or else rejects it, and moves past it.
  mutating func takeHole(_ quoting: ShellQuoting, unless reason: ShellQuotingError.Reason) {
    if isHarmless(script.placeholder(at: position), for: reason) {
      takeHole(quoting)
    } else {
      rejectHole(reason)
    }
  }

  mutating func rejectHole(_ reason: ShellQuotingError.Reason) {
    let placeholder = script.placeholder(at: position)
    reject(placeholder..<placeholder + 1, reason)
    position = script.placeholders[placeholder].upperBound
  }

  /// Reads a nested construct, up to the depth limit.
  mutating func nested(
    _ body: (inout ScriptReading) throws(UnsupportedSyntaxError) -> Void
  ) throws(UnsupportedSyntaxError) {
    guard depth < Self.depthLimit else {
      throw UnsupportedSyntaxError(construct: .tooDeep, offset: position)
    }
    depth += 1
    try body(&self)
    depth -= 1
  }
}

extension ScriptReading {
  /// Classifies a complete simple command, and keeps what later commands need to know about it.
  mutating func classify(_ command: SimpleCommand) throws(UnsupportedSyntaxError) {
    for assignment in command.assignments { classify(assignment: assignment) }
    // The standard input of `exec` without a command is that of the script.
    let isLasting = command.words.count == 1 && command.words[0].literal == "exec"
    for redirection in command.redirections {
      connect(redirection, to: command.start..<position, isLasting: isLasting)
    }
    guard let first = command.words.first, let last = command.words.last else { return }
    if let name = first.literal, !first.isPlain || command.start < first.range.lowerBound,
      ReservedWord(Array(name.utf8)[...]) != nil
    {
      throw unfollowable(name, at: first.range.lowerBound)
    }
    var classify = CommandAnalyzer(dialect: dialect, depth: depth)
    classify.classify(command.words[...])
    for (placeholders, reason, sufficient) in classify.rejections {
      reject(placeholders, reason, sufficient: sufficient)
    }
    suspicions += classify.suspicions
    for word in classify.options {
      if word.hasValue, word.mayBeginWithValue { options.append((word, first.literal)) }
      if word.text.first == ShellWord.expansion {
        flow.bareArguments.append((word.range, first.literal))
      }
    }
    flow.evaluated += classify.evaluated
    if let names = classify.readNames { flow.read(names, at: command.start) }
    flow.set(classify.setNames, at: command.start)
    flow.setsAnyName = flow.setsAnyName || classify.setsAnyName
    flow.hasAttributes = flow.hasAttributes || classify.givesAttributes
    for (name, value) in classify.assignments { flow.assign(name, value) }
    flow.evaluatedNames.formUnion(classify.evaluatedNames)
    if classify.evaluatedNames.contains(ValueFlow.environment) {
      for value in classify.variables + command.assignments.map(\.range) {
        flow.assign(ValueFlow.environment, value)
      }
    }
    flow.call(
      first.literal ?? "", at: first.range.lowerBound,
      first.range.upperBound..<last.range.upperBound)
    if classify.readsProgram { flow.readProgram(at: command.start) }
    if command.passesInput { flow.filter(at: command.start) }
    if let name = classify.changesReading {
      throw UnsupportedSyntaxError(construct: .changesReading(command: name), offset: position)
    }
  }

  private mutating func classify(assignment word: ShellWord) {
    let nameEnd = word.range.lowerBound + word.assignedName!
    let name = script.text(word.range.lowerBound..<nameEnd)
    if SpecialVariables.isSpecial(name) {
      reject(word.placeholders, .specialVariable(name))
      flow.evaluated.append(nameEnd..<word.range.upperBound)
    }
    flow.assign(name, nameEnd..<word.range.upperBound)
  }

  /// Marks arguments that a program may take for options, except those of functions that keep them.
  private mutating func markOptions() {
    guard !options.isEmpty else { return }
    let functions = flow.functionsThatKeepArguments(in: script)
    for (word, command) in options where !(command.map(functions.contains) ?? false) {
      guard case .quoted(let quoting, _)? = places[word.placeholders.lowerBound] else { continue }
      places[word.placeholders.lowerBound] = .quoted(quoting, mayBeOption: true)
    }
  }
}

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

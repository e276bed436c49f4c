extension ScriptReading {
  /// Classifies a complete simple command, and keeps what later commands need to know about it.
  mutating func classify(_ command: SimpleCommand) throws(UnsupportedSyntaxError) {
    for assignment in command.assignments { classify(assignment: assignment) }
    guard let first = command.words.first, let last = command.words.last else { return }
    if let name = first.literal, !first.isPlain || command.start < first.range.lowerBound,
      ReservedWord(Array(name.utf8)[...]) != nil
    {
      throw unfollowable(name, at: first.range.lowerBound)
    }
    var classify = CommandAnalyzer(dialect: dialect, depth: depth)
    classify.classify(command.words[...])
    for (placeholders, reason, isArgument) in classify.rejections {
      reject(placeholders, reason, isArgument: isArgument)
    }
    suspicions += classify.suspicions
    for word in classify.options { markOption(word) }
    flow.evaluated += classify.evaluated
    if let names = classify.readNames { flow.read(names, at: command.start) }
    flow.set(classify.setNames, at: command.start)
    flow.setsAnyName = flow.setsAnyName || classify.setsAnyName
    flow.hasAttributes = flow.hasAttributes || classify.givesAttributes
    for (name, value) in classify.assignments { flow.assign(name, value) }
    flow.evaluatedNames.formUnion(classify.evaluatedNames)
    flow.call(first.range, first.range.upperBound..<last.range.upperBound)
    if let redirection = command.redirections.first, classify.readNames != nil {
      flow.pipe(redirection.offset..<position, into: command.start..<position)
    }
    if classify.readsProgram {
      programReaders += 1
      for redirection in command.redirections { rejectInput(redirection) }
    }
    if let name = classify.changesReading {
      throw UnsupportedSyntaxError(construct: .changesReading(command: name), offset: position)
    }
  }

  private mutating func rejectInput(_ redirection: Redirection) {
    switch redirection.kind {
    case .file, .hereString:
      reject(redirection.word.placeholders, .programInput)
      flow.evaluated.append(redirection.word.range)
    case .hereDocument: rejectAsProgram(redirection.offset..<redirection.word.range.upperBound)
    case .descriptor: break
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

  private mutating func markOption(_ word: ShellWord) {
    guard case .quoted(let quoting, _)? = places[word.placeholders.lowerBound] else { return }
    places[word.placeholders.lowerBound] = .quoted(quoting, mayBeOption: true)
  }
}

extension ScriptReading {
  /// Classifies a complete simple command, and keeps what later commands need to know about it.
  mutating func judge(_ command: SimpleCommand) throws(UnsupportedSyntaxError) {
    for assignment in command.assignments { judge(assignment: assignment) }
    guard let first = command.words.first, let last = command.words.last else { return }
    if let name = first.literal, !first.isPlain || command.start < first.range.lowerBound,
      ReservedWord(Array(name.utf8)[...]) != nil
    {
      throw unfollowable(name, at: first.range.lowerBound)
    }
    var judge = CommandAnalyzer(dialect: dialect, depth: depth)
    judge.judge(command.words[...])
    for (holes, reason, isArgument) in judge.rejections {
      reject(holes, reason, isArgument: isArgument)
    }
    suspicions += judge.suspicions
    for word in judge.options { markOption(word) }
    flow.evaluated += judge.evaluated
    if let names = judge.readNames { flow.read(names, at: command.start) }
    flow.set(judge.setNames, at: command.start)
    flow.setsAnyName = flow.setsAnyName || judge.setsAnyName
    flow.hasAttributes = flow.hasAttributes || judge.givesAttributes
    for (name, value) in judge.assignments { flow.assign(name, value) }
    flow.evaluatedNames.formUnion(judge.evaluatedNames)
    flow.call(first.range, first.range.upperBound..<last.range.upperBound)
    if let redirection = command.redirections.first, judge.readNames != nil {
      flow.pipe(redirection.offset..<position, into: command.start..<position)
    }
    if judge.readsProgram {
      programReaders += 1
      for redirection in command.redirections { rejectInput(redirection) }
    }
    if let name = judge.changesReading {
      throw UnsupportedSyntaxError(construct: .changesReading(command: name), offset: position)
    }
  }

  private mutating func rejectInput(_ redirection: Redirection) {
    switch redirection.kind {
    case .file, .hereString:
      reject(redirection.word.holes, .programInput)
      flow.evaluated.append(redirection.word.range)
    case .hereDocument: rejectAsProgram(redirection.offset..<redirection.word.range.upperBound)
    case .descriptor: break
    }
  }

  private mutating func judge(assignment word: ShellWord) {
    let nameEnd = word.range.lowerBound + word.assignedName!
    let name = script.text(word.range.lowerBound..<nameEnd)
    if SpecialVariables.isSpecial(name) {
      reject(word.holes, .specialVariable(name))
      flow.evaluated.append(nameEnd..<word.range.upperBound)
    }
    flow.assign(name, nameEnd..<word.range.upperBound)
  }

  private mutating func markOption(_ word: ShellWord) {
    guard case .quoted(let quoting, _)? = places[word.holes.lowerBound] else { return }
    places[word.holes.lowerBound] = .quoted(quoting, mayBeOption: true)
  }
}

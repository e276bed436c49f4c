extension CommandAnalyzer {
  /// Classifies the arguments of an interpreter: its options, its program, and the arguments of that program.
  mutating func classify(
    _ interpreter: Interpreter, _ arguments: ArraySlice<ShellWord>, of name: String
  ) {
    var reading = InterpreterArguments(interpreter, name: name)
    for (index, word) in zip(arguments.indices, arguments) {
      let hadScript = reading.hasScript
      guard let reason = reading.take(word) else { continue }
      rejectUnlessLiteral(word, reason)
      if reading.hasScript, !hadScript {
        classify(script: word, of: name, parameters: arguments[(index + 1)...])
      }
      if interpreter.isShell, word.hasExpansion { readsProgram = true }
    }
    if reading.readsProgram { readsProgram = true }
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

import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftShell

/// Checks the values that a command evaluates although they are not in its script: those of its command line without a
/// shell, of its variables and of its standard input.
extension ValueChecker {
  func shell(ofStep index: Int) -> Shell {
    outline.layers(ofStep: index).lazy.compactMap(\.shell).first ?? .sh
  }

  /// A command line without a shell, as a script with each argument in quotes.
  struct CommandLine {
    var text = ""
    var placeholders: [Range<Int>] = []
    var places: [(text: PlannedText, range: SourceRange, expression: Expression)] = []
  }

  func commandLine(
    _ arguments: [String], _ texts: ArraySlice<PlannedText>
  ) -> CommandLine {
    var line = CommandLine()
    for (position, argument) in arguments.enumerated() {
      line.text += position == 0 ? "'" : " '"
      let text = texts.first { $0.site == .argument(position) }
      for segment in text?.template.segments ?? [] {
        switch segment.content {
        case .text(let part): line.text += part.insideSingleQuotes
        case .expression(let expression):
          let start = line.text.utf8.count
          line.text += "${{ \(expression.text) }}"
          line.placeholders.append(start..<line.text.utf8.count)
          line.places.append((text!, segment.range, expression))
        }
      }
      if text == nil { line.text += argument.insideSingleQuotes }
      line.text += "'"
    }
    return line
  }

  /// Reports arguments that a program without a shell reads as code: `["sh", "-c", "…"]`.
  mutating func checkProgram(ofStep index: Int, _ texts: ArraySlice<PlannedText>) {
    guard case .program(let arguments)? = outline.steps[index].command?.invocation,
      let program = arguments.first, !program.hasExpression,
      texts.contains(where: \.site.isArgument)
    else { return }
    let line = commandLine(arguments, texts)
    let script = QuotedScript(
      line.text, placeholders: line.placeholders, dialect: .posix,
      values: line.places.map { textKnown(of: $0.expression, in: $0.text, of: .step(index)) })
    for (placeholder, rejection) in script.rejections where rejection.holdsWithoutShell {
      report(
        .unsafeInScript(message: rejection.message, help: rejection.helpWithoutShell),
        line.places[placeholder].text, line.places[placeholder].range)
    }
    for suspicion in script.suspicions {
      let (text, range, expression) = line.places[suspicion.placeholder]
      report(
        .mayBeRun(expression.text, program: suspicion.program, option: suspicion.option), text,
        range)
    }
  }

  /// Reports variables and standard input with computed values that the command evaluates or runs.
  mutating func checkEvaluation(ofStep index: Int) {
    let holders = variables(around: index)
    let source = logs.source(ofStep: index).flatMap { holdsValue(logOf: $0) ? $0 : nil }
    let input = texts.texts(of: .step(index)).first { $0.site == .input }
    guard !holders.isEmpty || source != nil || input != nil,
      let evaluation = evaluation(ofStep: index)
    else { return }
    let address = outline.steps[index].address.text
    for (name, text, isOwn) in holders {
      if evaluation.variables.contains(name) {
        report(.variableEvaluated(name, by: address, evaluation.obstacle), text, nil)
      } else if isOwn, evaluation.includesEnvironment {
        report(.variableExpanded(name, by: address), text, nil)
      }
    }
    guard evaluation.includesInput || evaluation.obstacle != nil else { return }
    if let source, let need = outline.steps[index].logSource {
      report(
        .logEvaluated(of: outline.steps[source].address.text, by: address, evaluation),
        at: need.place.value, in: outline.groups[outline.steps[index].group].file,
        of: outline.steps[index].node, key: "stdin.log")
    }
    guard let input else { return }
    for segment in input.template.segments {
      guard case .expression(let expression) = segment.content,
        !textKnown(of: expression, in: input, of: .step(index)).contains(.listed)
      else { continue }
      report(.inputEvaluated(expression.text, by: address, evaluation), input, segment.range)
    }
  }

  private func evaluation(ofStep index: Int) -> ScriptEvaluation? {
    let texts = texts.texts(of: .step(index))
    switch outline.steps[index].command?.invocation {
    case .program(let arguments)?:
      guard let program = arguments.first, !program.hasExpression else { return nil }
      let line = commandLine(arguments, texts)
      return QuotedScript.evaluation(
        of: line.text, placeholders: line.placeholders, dialect: .posix)
    case let invocation?:
      guard let script = invocation.script else { return nil }
      let template = texts.first { $0.site == .script }?.template
      return QuotedScript.evaluation(
        of: template?.text ?? script, placeholders: template?.expressionRanges ?? [],
        dialect: ShellDialect(commandLine: shell(ofStep: index).prefix))
    case nil: return nil
    }
  }

  /// Whether a step's log may contain a value of any text: one is in its command or its standard input.
  private func holdsValue(logOf index: Int) -> Bool {
    var reader: Int? = index
    var seen: Set<Int> = []
    while let index = reader, seen.insert(index).inserted {
      for text in texts.texts(of: .step(index)) where text.site.reachesLog {
        if mayBeAny(text, of: .step(index)) { return true }
      }
      reader = logs.source(ofStep: index)
    }
    return false
  }

  private func mayBeAny(_ text: PlannedText, of owner: TextOwner) -> Bool {
    var isAny = false
    text.visitExpressions { isAny = isAny || textKnown(of: $0, in: text, of: owner).isEmpty }
    return isAny
  }

  /// The variables whose values may be anything: those of the step, and of the groups and the file around it.
  private func variables(around index: Int) -> [(name: String, text: PlannedText, isOwn: Bool)] {
    var known: Set<String> = []
    var found: [(name: String, text: PlannedText, isOwn: Bool)] = []
    func add(_ owner: TextOwner, isOwn: Bool) {
      for text in texts.texts(of: owner) {
        guard case .variable(let name) = text.site, known.insert(name).inserted else { continue }
        if mayBeAny(text, of: owner) { found.append((name, text, isOwn)) }
      }
    }
    add(.step(index), isOwn: true)
    for group in EnclosingGroups(outline.groups, from: outline.steps[index].group) {
      add(outline.owner(ofGroup: group), isOwn: false)
    }
    return found
  }
}

extension TextSite {
  fileprivate var isArgument: Bool {
    if case .argument = self { true } else { false }
  }

  /// Whether its values are likely to be in the output of the step.
  fileprivate var reachesLog: Bool {
    switch self {
    case .script, .argument, .variable, .input: true
    default: false
    }
  }
}

extension String {
  fileprivate var insideSingleQuotes: String {
    utf8.contains(UInt8(ascii: "'"))
      ? split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") : self
  }
}

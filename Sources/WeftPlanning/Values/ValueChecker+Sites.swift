import WeftDefinition
import WeftDiagnostics
import WeftEncoding
import WeftExpressions
import WeftShell

/// Checks texts beyond their expressions: scripts must be safe, arguments must not become options by accident, and
/// computed keys must have the right type.
extension ValueChecker {
  // MARK: Scripts

  mutating func checkScript(_ text: PlannedText, of owner: TextOwner) {
    guard case .step(let index) = owner else { return }
    let placeholders = text.template.expressionRanges
    let expressions = text.template.expressions
    let lists = expressions.indices.filter {
      type(of: expressions[$0], in: text, of: owner).isList
    }
    let script = QuotedScript(
      text.template.text, placeholders: placeholders,
      dialect: ShellDialect(commandLine: shell(ofStep: index).prefix),
      values: expressions.map { textKnown(of: $0, in: text, of: owner) }, lists: Set(lists))
    func range(_ placeholder: Int) -> SourceRange {
      SourceRange(
        start: placeholders[placeholder].lowerBound, end: placeholders[placeholder].upperBound)
    }
    for (placeholder, rejection) in script.rejections {
      report(
        .unsafeInScript(message: rejection.message, help: rejection.help),
        text, range(placeholder))
    }
    for suspicion in script.suspicions {
      let expression = expressions[suspicion.placeholder].text
      report(
        .mayBeRun(expression, program: suspicion.program, option: suspicion.option), text,
        range(suspicion.placeholder))
    }
    for (placeholder, placement) in script.placements.enumerated() {
      if case .quoted(_, mayBeOption: true) = placement,
        mayBeginWithDash(expressions[placeholder], in: text)
      {
        report(
          .mayBeOption(argument: nil, expression: expressions[placeholder].text), text,
          range(placeholder))
      }
    }
    guard script.isSound else { return }
    let names = script.variableNames(for: expressions.map(\.text))
    var variables: [PlannedScript.Variable] = []
    for (place, expression) in expressions.enumerated()
    where !variables.contains(where: { $0.name == names[place] }) {
      variables.append(
        PlannedScript.Variable(
          name: names[place], expression: expression, isList: lists.contains(place)))
    }
    keep(
      PlannedScript(text: script.text(referringTo: names), variables: variables), ofStep: index)
  }

  /// The possible texts of an expression's value, as far as known.
  func textKnown(
    of expression: Expression, in text: PlannedText, of owner: TextOwner
  ) -> ValueText {
    let known = textKnown(of: expression.root, in: text, of: owner)
    return known.isEmpty ? ValueText(of: type(of: expression, in: text, of: owner)) : known
  }

  /// The possible texts of a part of an expression, as far as its references are declared.
  private func textKnown(
    of node: ExpressionNode, in text: PlannedText, of owner: TextOwner
  ) -> ValueText {
    switch node.form {
    case .literal(let value): return ValueText(of: ExpressionType(of: value))
    case .reference(let reference):
      if let schema = names.schema(of: reference, in: text.file) { return ValueText(of: schema) }
      guard case .value(let found) = names.meaning(of: reference, in: text.site, of: owner) else {
        return .any
      }
      return found.text.union(ValueText(of: found.type))
    case .not, .comparison: return ValueText(of: .boolean)
    case .all(let operands), .any(let operands):
      return .common(operands.map { textKnown(of: $0, in: text, of: owner) })
    case .call(.case, let arguments):
      let values = arguments.indices.filter {
        !$0.isMultiple(of: 2) || $0 == arguments.count - 1
      }
      return .common(values.map { textKnown(of: arguments[$0], in: text, of: owner) })
    case .call(.length, _): return .integer
    case .call, .index, .filter, .element: return .any
    }
  }

  // MARK: Arguments

  /// Reports an argument that may begin with a dash, so that a program would take it for an option (FAULTS S02).
  mutating func checkArgument(_ text: PlannedText, at position: Int, of owner: TextOwner) {
    guard position > 0, case .step(let index) = owner,
      case .expression(let first)? = text.template.segments.first?.content,
      mayBeginWithDash(first, in: text),
      case .program(let arguments)? = outline.steps[index].command?.invocation,
      mayTakeForOption(position, of: arguments, texts.texts(of: owner))
    else { return }
    report(.mayBeOption(argument: position, expression: first.text), text, first.range)
  }

  private func mayTakeForOption(
    _ position: Int, of arguments: [String], _ texts: ArraySlice<PlannedText>
  ) -> Bool {
    if !arguments[0].hasExpression {
      let line = commandLine(arguments, texts)
      let script = QuotedScript(line.text, placeholders: line.placeholders, dialect: .posix)
      let hole = line.places.firstIndex { $0.text.site == .argument(position) }
      switch hole.map({ script.placements[$0] }) {
      case .quoted(_, let mayBeOption)?: return mayBeOption
      case .rejected(let error)? where error.holdsWithoutShell: return false
      // What only a shell would refuse may be an option, for example of ssh.
      case .rejected, nil: break
      }
    }
    var reading = OptionReading(program: arguments[0])
    var mayTake = false
    for argument in arguments[1...position] {
      let start = argument.ranges(of: "${{").first.map { String(argument[..<$0.lowerBound]) }
      mayTake = reading.mayTakeForOption(start ?? argument, isWhole: start == nil)
    }
    return mayTake
  }

  private func mayBeginWithDash(_ expression: Expression, in text: PlannedText) -> Bool {
    guard case .reference = expression.root.form, let reference = expression.references.first else {
      return false
    }
    return names.schema(of: reference, in: text.file)?.mayBeginWithDash == true
  }

  // MARK: Computed keys

  mutating func check(
    _ reading: ValueNames.Knowledge, against key: ComputedKey, _ text: PlannedText
  ) {
    let (wanted, fits) = key.type.expected
    let alternatives = reading.type.alternatives
    guard !alternatives.contains(where: fits) else { return }
    var help: String?
    if alternatives.contains(.number), case .duration = key.type {
      help = "add the unit: \"${{ format('{0}s', \(text.template.onlyExpression?.text ?? "…")) }}\""
    }
    report(
      .wrongType(found: reading.type.name, wanted: wanted, in: text.site, help: help), text, nil)
  }

  // MARK: Declarations

  /// Reports outputs without a value that no program writes.
  mutating func checkDeclarations() {
    for (index, file) in outline.files.enumerated() {
      let node = outline.anyNode(of: .workflow(file.topLevel))
      reportValueless(file.workflow.outputs, of: "the workflow", in: index, node)
    }
    for group in outline.groups where !group.isTopLevel {
      guard let step = group.step, !step.outputs.isEmpty else { continue }
      let owner = outline.member(at: group.startNode).subject.description
      reportValueless(step.outputs, of: owner, in: group.file, group.startNode)
    }
    for step in outline.steps where step.kind != .run && !step.outputs.isEmpty {
      let owner = outline.member(at: step.node).subject.description
      reportValueless(step.outputs, of: owner, in: outline.groups[step.group].file, step.node)
    }
  }

  private mutating func reportValueless(
    _ outputs: [OutputDeclaration], of owner: String, in file: Int, _ node: Plan.NodeIndex?
  ) {
    for output in outputs where output.value == nil {
      report(
        .outputWithoutValue(output.name, of: owner), at: output.place.value, in: file, of: node,
        key: "outputs.\(output.name)")
    }
  }
}

extension ComputedKey.ValueType {
  /// The expected type in words, and whether a type matches it.
  fileprivate var expected: (String, (ExpressionType) -> Bool) {
    switch self {
    case .duration: ("a duration like \"30s\"", \.isText)
    case .size: ("a size like \"10MB\"", \.isText)
    case .flag: ("true or false", { $0 == .any || $0 == .boolean })
    case .count: ("a whole number", { $0 == .any || $0 == .number })
    case .tolerance:
      (
        "true, false or an array of error classes",
        { type in
          if case .array = type { return true }
          return type == .any || type == .boolean
        }
      )
    }
  }
}

extension ExpressionType {
  fileprivate var isText: Bool {
    switch self {
    case .any, .string: true
    case .null, .boolean, .number, .array, .object, .either: false
    }
  }
}

extension ValueText {
  /// The knowledge about the texts of a type's values. `null` has none: a script cannot contain it.
  fileprivate init(of type: ExpressionType) {
    self = .common(
      type.alternatives.filter { $0 != .null }.map { alternative in
        switch alternative {
        case .number: .listed
        case .boolean: [.listed, .name]
        case .string(let values?):
          ValueText.listed.union(.common(values.map { ValueText(of: $0) }))
        case .any, .null, .string, .array, .object, .either: .any
        }
      })
  }
}

extension ExpressionType {
  /// Whether a value is an array wherever it is not missing.
  fileprivate var isList: Bool {
    let others = alternatives.filter { $0 != .null }
    return !others.isEmpty
      && others.allSatisfy { if case .array = $0 { true } else { false } }
  }
}

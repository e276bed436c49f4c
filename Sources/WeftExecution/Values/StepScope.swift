import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExpressions
import WeftPlanning
import WeftPlatform

/// The values for the expressions of one text during a run.
struct StepScope: ExpressionScope {
  let values: RunValues
  var instance: Instance
  /// The innermost group whose `env` is read; `nil` if only the process's own environment is.
  var group: Int?
  /// The file that contains the text; `nil` for that of the group.
  var ownFile: Int?
  /// The variables that the step itself sets, which override those of the group.
  var variables: [String: ScopedText?] = [:]
  /// The result that `self` refers to: that of the step or group which is about to end.
  var own: (values: NodeValues, address: StepAddress)?
  var attempt = 1
  /// The values of the status functions; only used by conditions.
  var statuses = Status(success: true, failure: false, cancelled: false)

  func value(
    of reference: ContextReference, in expression: ExpressionNode
  ) throws(ExpressionError) -> ScopedValue {
    let names = reference.names
    do throws(EvaluationError) {
      switch reference.valueContext {
      case .inputs: return value(at: names[1...], of: try values.inputs(ofFile: file, in: instance))
      case .state: return value(at: names[1...], of: values.state)
      case .env: return try variable(names[1...])
      case .secrets: return secret(names[1...])
      case .steps: return try step(names, expression)
      case .itself: return try itself(names, expression)
      case .run: return run(names[1...])
      case .workflow: return workflow(names[1...])
      case .item: return elementValue(names) { $0.source != .matrix }
      case .index: return elementIndex(names[1...])
      case .matrix: return elementValue(names) { $0.source == .matrix }
      case nil: return namedElement(names)
      }
    } catch {
      throw ExpressionError(error, reference.range)
    }
  }

  func status(_ function: StatusFunction) -> Bool { statuses[function] }

  var files: any FileLookup { FileFunctions(below: values.startDirectory ?? ".") }

  // MARK: Contexts

  private var file: Int { ownFile ?? group.map { values.plan.groups[$0].file } ?? 0 }

  private typealias Names = ArraySlice<ContextReference.Name>

  private func value(at names: Names, of inputs: RunInputs) -> ScopedValue {
    guard let name = names.first else { return inputs.all }
    return inputs[name.text].part(names.dropFirst())
  }

  private func secret(_ names: Names) -> ScopedValue {
    guard let name = names.first,
      let secret = SecretName(name.text).flatMap({ values.secrets[$0, inFile: file] })
    else {
      return ScopedValue(.null, isSecret: true)
    }
    return ScopedValue(.string(String(decoding: secret.bytes, as: UTF8.self)), isSecret: true)
      .part(names.dropFirst())
  }

  private func run(_ names: Names) -> ScopedValue {
    let (id, attempt) = (
      ExpressionValue.string(values.run.text), ExpressionValue.number(Double(attempt))
    )
    let directory = values.directory.map(ExpressionValue.string) ?? .null
    let arguments = ExpressionValue.array(values.arguments.map(ExpressionValue.string))
    switch names.first.flatMap({ RunField(rawValue: $0.text) }) {
    case .id: return ScopedValue(id).part(names.dropFirst())
    case .attempt: return ScopedValue(attempt).part(names.dropFirst())
    case .dir: return ScopedValue(directory).part(names.dropFirst())
    case .failures:
      let caller = values.plan.files[file].address.map(instance.address)
      let failures = values.failures?.value(inFileOf: caller)
      return ScopedValue(failures ?? .array([])).part(names.dropFirst())
    case .args: return ScopedValue(arguments).part(names.dropFirst())
    case nil:
      return ScopedValue(
        .object([("id", id), ("attempt", attempt), ("dir", directory), ("args", arguments)])
      ).part(names)
    }
  }

  private func elementValue(
    _ names: [ContextReference.Name], where isMeant: (Element) -> Bool
  ) -> ScopedValue {
    guard let element = instance.element(where: isMeant) else { return ScopedValue(.null) }
    return ScopedValue(element.value, isSecret: element.isSecret).part(names[1...])
  }

  private func elementIndex(_ names: Names) -> ScopedValue {
    guard let element = instance.element(where: { $0.source != .matrix }) else {
      return ScopedValue(.null)
    }
    return ScopedValue(.number(Double(element.index))).part(names)
  }

  /// An element by the name that `as` gives it, case-insensitively like names of contexts.
  private func namedElement(_ names: [ContextReference.Name]) -> ScopedValue {
    let name = names[0].text.lowercased()
    return elementValue(names) { element in
      guard case .forEach(let own?) = element.source else { return false }
      return own.lowercased() == name
    }
  }

  private func workflow(_ names: Names) -> ScopedValue {
    let workflow = values.plan.files[file].workflow
    let text = { (text: String?) in text.map(ExpressionValue.string) ?? .null }
    return ScopedValue(
      .object([("name", text(workflow.name)), ("file", text(workflow.source.value?.path))])
    ).part(names)
  }

  private func step(
    _ names: [ContextReference.Name], _ expression: ExpressionNode
  ) throws(EvaluationError) -> ScopedValue {
    guard names.count > 1, let (node, rest) = values.plan.values.node(named: names, in: file) else {
      return ScopedValue(.null)
    }
    return try result(ofNode: node, names[rest...], expression)
  }

  private func itself(
    _ names: [ContextReference.Name], _ expression: ExpressionNode
  ) throws(EvaluationError) -> ScopedValue {
    let names = names[1...]
    // A member of the group whose outputs or retries are decided: its id alone identifies it.
    if names.first?.text == StepField.members { return try step(Array(names), expression) }
    guard let own else { return ScopedValue(.null) }
    return try part(names, of: own.values, owner: "step \"\(own.address)\"", expression)
  }

  private func result(
    ofNode node: Plan.NodeIndex, _ names: Names, _ expression: ExpressionNode
  ) throws(EvaluationError) -> ScopedValue {
    guard let result = instance.result(ofNode: node) else { return ScopedValue(.null) }
    let owner = "\"\(values.plan.title(ofNode: node))\""
    return try part(names, of: result, owner: owner, expression)
  }

  private func part(
    _ names: Names, of result: NodeValues, owner: String, _ expression: ExpressionNode
  ) throws(EvaluationError) -> ScopedValue {
    guard let name = names.first else { return try whole(result, owner, expression) }
    if result.isUnknown, StepField.named(name.text)?.isOfOutcome != true {
      throw .notKnown("the values of \(owner)")
    }
    if let results = result.results, name.text == "results" {
      return try elements(results, owner, expression).part(names.dropFirst())
    }
    if let winner = result.winner, name.text == "winner" {
      return ScopedValue(.string(winner.text)).part(names.dropFirst())
    }
    guard let field = StepField.named(name.text) else { return ScopedValue(.null) }
    let rest = names.dropFirst()
    if field == .outputs, let output = rest.first {
      return result.output(output.text).part(rest.dropFirst())
    }
    return try result.value(of: field, owner: owner, spool: values.spool).part(rest)
  }

  private func whole(
    _ result: NodeValues, _ owner: String, _ expression: ExpressionNode
  ) throws(EvaluationError) -> ScopedValue {
    if result.isUnknown { throw .notKnown("the values of \(owner)") }
    var members: [(String, ExpressionValue)] = []
    var isSecret = false
    for field in result.fields(for: expression) {
      let value = try result.value(of: field, owner: owner, spool: values.spool)
      members.append((field.rawValue, value.value))
      isSecret = isSecret || value.isSecret
    }
    if let results = result.results {
      let elements = try elements(results, owner, expression)
      members.append(("results", elements.value))
      isSecret = isSecret || elements.isSecret
    }
    if let winner = result.winner { members.append(("winner", .string(winner.text))) }
    return ScopedValue(.object(members), isSecret: isSecret)
  }

  /// The results of the elements.
  private func elements(
    _ results: [ElementResult], _ owner: String, _ expression: ExpressionNode
  ) throws(EvaluationError) -> ScopedValue {
    var elements: [ExpressionValue] = []
    elements.reserveCapacity(results.count)
    var isSecret = false
    for result in results {
      let value = try whole(result.values, "\(owner)[\(result.key)]", expression)
      var members: [(String, ExpressionValue)] = [
        ("key", .string(result.key)), ("index", .number(Double(result.index))),
      ]
      if case .object(let object) = value.value {
        members += object.members.map { ($0.key, $0.value) }
      }
      elements.append(.object(members))
      isSecret = isSecret || value.isSecret
    }
    return ScopedValue(.array(elements), isSecret: isSecret)
  }
}

extension ScopedValue {
  /// The value that the names lead to, as `.name` does.
  func part(_ names: ArraySlice<ContextReference.Name>) -> ScopedValue {
    names.isEmpty
      ? self
      : ScopedValue(
        names.reduce(value) { $0.value(at: .string($1.text)) }, isSecret: isSecret)
  }
}

/// `env`: the variables of the enclosing layers, inner ones first, and then the environment that Weft was
/// started with.
extension StepScope {
  fileprivate func variable(
    _ names: ArraySlice<ContextReference.Name>
  ) throws(EvaluationError) -> ScopedValue {
    guard let name = names.first?.text else { return try allVariables() }
    let value: ScopedText?
    if let own = variables[name] { value = own } else { value = try outerVariable(name) }
    return value.scoped.part(names.dropFirst())
  }

  private func outerVariable(_ name: String) throws(EvaluationError) -> ScopedText? {
    var next = group
    while let group = next {
      if let written = values.plan.settings(ofGroup: group).environment[name] {
        guard written?.hasExpression == true else { return written.map { ScopedText(text: $0) } }
        return try environment(ofGroup: group)[name] ?? nil
      }
      next = values.plan.layer(around: group)
    }
    return values.process[name].map { ScopedText(text: $0) }
  }

  private func environment(
    ofGroup group: Int
  ) throws(EvaluationError) -> [String: ScopedText?] {
    do {
      return try StepResolver(values, in: instance).environment(ofGroup: group)
    } catch {
      throw .scope(code: "W0334", message: error.message, help: error.help)
    }
  }

  /// The variables that files set, without those that Weft was started with.
  private func allVariables() throws(EvaluationError) -> ScopedValue {
    var all = variables
    var next = group
    while let group = next {
      all.merge(try environment(ofGroup: group)) { inner, _ in inner }
      next = values.plan.layer(around: group)
    }
    let members = all.sorted { $0.key < $1.key }.map { ($0.key, $0.value.scoped.value) }
    return ScopedValue(
      .object(members), isSecret: all.values.contains { $0?.isSecret == true })
  }
}

extension ScopedText? {
  fileprivate var scoped: ScopedValue {
    map { ScopedValue(.string($0.text), isSecret: $0.isSecret) } ?? ScopedValue(.null)
  }
}

extension ArraySlice<PlannedText> {
  /// The text at a site; `nil` if it has no expressions.
  func first(at site: TextSite) -> PlannedText? { first { $0.site == site } }

  /// The text at a site that is a single expression.
  func expression(at site: TextSite) -> (text: PlannedText, expression: Expression)? {
    guard let text = first(at: site), let expression = text.template.onlyExpression else {
      return nil
    }
    return (text, expression)
  }
}

extension PlannedText {
  /// Evaluates the text; a failure names its location.
  ///
  /// - Parameter errorClass: `expression`, or `output` if the step's output caused the failure.
  func evaluated<Value>(
    in plan: Plan, errorClass: ErrorClass = .expression,
    _ evaluate: (Template) throws(ExpressionError) -> Value
  ) throws(StepFailure) -> Value {
    do throws(ExpressionError) { return try evaluate(template) } catch {
      throw failure(error, in: plan, errorClass: errorClass)
    }
  }

  /// The value of the text.
  func value(
    in scope: StepScope, errorClass: ErrorClass = .expression
  ) throws(StepFailure) -> ScopedValue {
    try evaluated(in: scope.values.plan, errorClass: errorClass) {
      (template) throws(ExpressionError) in try template.evaluate(in: scope)
    }
  }

  func failure(
    _ error: ExpressionError, in plan: Plan, errorClass: ErrorClass = .expression
  ) -> StepFailure {
    let place = plan.place(of: error.range, in: self).map { " (\($0))" } ?? ""
    return StepFailure(
      classes: [errorClass],
      message: "\(site.key) cannot be computed: \(error.message)\(place)", help: error.help)
  }
}

extension Expression {
  /// Whether it reads variables of the environment.
  var readsVariables: Bool { references.contains { $0.valueContext == .env } }

  /// The value, converted to the type that is needed.
  func value<Value>(
    in scope: StepScope, _ convert: (ExpressionValue) throws(EvaluationError) -> Value
  ) throws(ExpressionError) -> Value {
    let value = try evaluate(in: scope).value
    do throws(EvaluationError) { return try convert(value) } catch {
      throw ExpressionError(error, range)
    }
  }

  /// The value as part of a text: neither `null` nor an array nor an object.
  func text(in scope: StepScope) throws(ExpressionError) -> ScopedText {
    let evaluation = try evaluate(in: scope)
    return ScopedText(text: try text(of: evaluation.value), isSecret: evaluation.isSecret)
  }

  /// The texts of an array's elements, or of the value itself.
  func texts(of evaluation: ScopedValue) throws(ExpressionError) -> [ScopedText] {
    var values = [evaluation.value]
    if case .array(let array) = evaluation.value { values = array.elements }
    return try values.map { (value) throws(ExpressionError) in
      ScopedText(text: try text(of: value), isSecret: evaluation.isSecret)
    }
  }

  func text(of value: ExpressionValue) throws(ExpressionError) -> String {
    switch value {
    case .null: throw ExpressionError(.nothingToWrite(text), range)
    case .array, .object: throw ExpressionError(.notWritable(text, found: value.kindName), range)
    case .boolean, .number, .string: return value.primitiveText ?? ""
    }
  }
}

extension Template {
  /// The text that the template evaluates to.
  func text(in scope: StepScope) throws(ExpressionError) -> ScopedText {
    if let onlyExpression { return try onlyExpression.text(in: scope) }
    let evaluation = try evaluate(in: scope)
    return ScopedText(
      text: evaluation.value.primitiveText ?? "", isSecret: evaluation.isSecret)
  }

  /// The text that the template evaluates to; `nil` if it is a single expression that evaluates to `null`.
  func optionalText(in scope: StepScope) throws(ExpressionError) -> ScopedText? {
    guard let onlyExpression else { return try text(in: scope) }
    let evaluation = try onlyExpression.evaluate(in: scope)
    if case .null = evaluation.value { return nil }
    return ScopedText(
      text: try onlyExpression.text(of: evaluation.value), isSecret: evaluation.isSecret)
  }

  /// The arguments that it evaluates to: one for each element of an array, else one.
  func arguments(in scope: StepScope) throws(ExpressionError) -> [ScopedText] {
    guard let onlyExpression else { return [try text(in: scope)] }
    return try onlyExpression.texts(of: try onlyExpression.evaluate(in: scope))
  }

  /// The patterns that it evaluates to, one for each element of an array. Values in them mean nothing but themselves.
  func filePatterns(in scope: StepScope) throws(ExpressionError) -> [ScopedText] {
    guard onlyExpression == nil else {
      return try arguments(in: scope).map {
        ScopedText(text: FileSelection.literally($0.text), isSecret: $0.isSecret)
      }
    }
    let evaluation = try evaluate(in: scope, escaping: .filePattern)
    return [
      ScopedText(text: evaluation.value.primitiveText ?? "", isSecret: evaluation.isSecret)
    ]
  }
}

import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftShell

/// Checks the meaning of a workflow's expressions: names exist and may be read at their sites, secrets do not become
/// visible, and types match as far as they are known.
///
/// Texts are checked in an order in which the outputs of a step are known before they are read.
struct ValueChecker {
  let outline: Outline
  let texts: PlannedTexts
  let logs: PlannedLogs
  let dependencies: PlanEdges
  let names: ValueNames
  private(set) var found = FoundProblems()
  private(set) var scripts: [Int: PlannedScript] = [:]
  /// The secrets that are read, by file.
  private(set) var secrets: SecretReaders = [:]

  init(
    _ outline: Outline, _ stepNames: [StepNames], _ logs: PlannedLogs, _ dependencies: PlanEdges,
    texts: PlannedTexts
  ) {
    self.outline = outline
    self.texts = texts
    self.logs = logs
    self.dependencies = dependencies
    names = ValueNames(outline, stepNames, texts)
  }

  /// - Parameter order: The nodes, each after its dependencies, without those of cycles.
  mutating func check(in order: [Int32]) {
    checkDeclarations()
    checkState()
    guard !texts.isEmpty else { return }
    check(.workflow(0), outputs: false)
    var isChecked = Array(repeating: false, count: outline.nodes.count)
    for node in order {
      isChecked[Int(node)] = true
      check(node: Int(node))
    }
    // Nodes of cycles are checked, too, with less knowledge of types.
    for node in outline.nodes.indices where !isChecked[node] { check(node: node) }
    check(.workflow(0), outputs: true)
  }

  private mutating func check(node: Plan.NodeIndex) {
    switch outline.nodes[node] {
    case .groupStart(let group): check(outline.owner(ofGroup: Int(group)), outputs: false)
    case .groupEnd(let group): check(outline.owner(ofGroup: Int(group)), outputs: true)
    case .step(let step):
      check(.step(Int(step)), outputs: false)
      checkEvaluation(ofStep: Int(step))
      check(.step(Int(step)), outputs: true)
    }
  }

  /// Checks texts that determine elements first, then the variables of a layer: the other texts read these.
  private mutating func check(_ owner: TextOwner, outputs: Bool) {
    let texts = texts.texts(of: owner)
    guard !texts.isEmpty else { return }
    found.node = outline.anyNode(of: owner)
    if outputs {
      for text in texts where text.site.isOutput { check(text, of: owner) }
      return
    }
    for text in texts where text.site.isBeforeElements { check(text, of: owner) }
    for text in texts where text.site.isVariable { check(text, of: owner) }
    for text in texts
    where !text.site.isBeforeElements && !text.site.isVariable && !text.site.isOutput {
      check(text, of: owner)
    }
    if case .step(let index) = owner { checkProgram(ofStep: index, texts) }
  }

  private mutating func check(_ text: PlannedText, of owner: TextOwner) {
    guard text.template.faults.isEmpty else {
      // The other expressions of the text may have problems of their own.
      _ = read(text, of: owner)
      return names.learn(text, of: owner, .unknown)
    }
    let reading = read(text, of: owner)
    names.learn(text, of: owner, reading)
    switch text.site {
    case _ where text.site.isAlone && !text.template.isOneExpression:
      report(.notAlone(text.site), text, nil)
    case .computed(let key): check(reading, against: key, text)
    case .condition, .retryCondition: checkTruth(of: reading, text)
    case .elements, .axis, .include, .exclude, .waiting: checkKind(of: reading, text)
    case .elementKey:
      let known = found.problems.count
      checkKind(of: reading, text)
      if found.problems.count == known { checkKeys(text, of: owner) }
    case .http(.expected), .http(.until): checkTruth(of: reading, text)
    case .http(.collected): checkKind(of: reading, text)
    case .http(.url): checkURL(text)
    case .script: checkScript(text, of: owner)
    case .output(let name):
      if reading.isSecret, isCached(owner) { report(.secretOfCached(name), text, nil) }
      let output = outline.outputs(of: owner).first { $0.name == name }
      checkType(of: reading, by: output?.schema, text)
    case .state(let name):
      let state = outline.files[text.file].workflow.state.first { $0.name.text == name }
      checkType(of: reading, by: state?.schema, text)
    case .parameter(let name): checkParameter(name, reading, text, of: owner)
    case .argument(let index): checkArgument(text, at: index, of: owner)
    case .variable(let name) where EnvironmentName.runsCode(name):
      report(.variableRunsCode(name), text, nil)
    default: break
    }
  }

  private func isCached(_ owner: TextOwner) -> Bool {
    if case .step(let index) = owner { outline.steps[index].command?.caching != nil } else { false }
  }

  private func place(of part: SourceRange?, in text: PlannedText) -> Diagnostic.Place? {
    guard let part else { return outline.place(text.place, inFile: text.file) }
    return text.part(part).place(in: outline.files[text.file].workflow.source.value)
  }

  mutating func report(_ problem: Diagnostic, _ text: PlannedText, _ part: SourceRange?) {
    found.file = text.file
    found.append(problem, at: place(of: part, in: text), key: text.site.key)
  }

  mutating func report(
    _ problem: Diagnostic, at place: SourceRange?, in file: Int, of node: Plan.NodeIndex?,
    key: String
  ) {
    found.file = file
    found.node = node
    found.append(problem, place, key: key)
  }

  mutating func keep(_ script: PlannedScript, ofStep index: Int) { scripts[index] = script }
  mutating func use(secret name: SecretName, in file: Int, by owner: TextOwner) {
    secrets[file, default: [:]][name, default: []].insert(owner)
  }
}

extension TextSite {
  /// Whether it is evaluated when its owner has succeeded.
  var isOutput: Bool {
    switch self {
    case .output, .state: true
    default: false
    }
  }
}

/// Checks that only the file which is run has state.
extension ValueChecker {
  private mutating func checkState() {
    for (index, file) in outline.files.enumerated().dropFirst() {
      guard let first = file.workflow.state.first else { continue }
      let node = outline.groups[file.topLevel].startNode
      report(.stateOfNestedFile, at: first.place.value?.range, in: index, of: node, key: "state")
    }
  }
}

/// Checks the expressions for inputs of another file.
extension ValueChecker {
  mutating func checkParameter(
    _ name: String, _ reading: ValueNames.Knowledge, _ text: PlannedText, of owner: TextOwner
  ) {
    // Unknown parameters, and files that were not read, are reported elsewhere.
    guard let input = input(givenBy: owner, named: name) else { return }
    if reading.isSecret, !input.isSecret { report(.secretForOpenInput(name), text, nil) }
    checkType(of: reading, by: input.schema, text)
  }

  /// Reports a text whose value never has a type that is declared for it.
  private mutating func checkType(
    of reading: ValueNames.Knowledge, by schema: ValueSchema?, _ text: PlannedText
  ) {
    guard let schema else { return }
    let wanted = ExpressionType(schema)
    guard !reading.type.alternatives.contains(where: wanted.mayBe) else { return }
    var help: String?
    if reading.type == .string, let expression = text.template.onlyExpression {
      help = "parse the string: ${{ fromJSON(\(expression.text)) }}"
    }
    report(
      .wrongType(found: reading.type.name, wanted: schema.summary, in: text.site, help: help),
      text, nil)
  }

  private func input(givenBy owner: TextOwner, named name: String) -> InputDeclaration? {
    guard case .group(let caller) = owner, let name = InputName(name),
      case .workflow(let nested)? = outline.groups[caller].step?.action
    else { return nil }
    return nested.workflow?.inputs.first { $0.name == name }
  }
}

extension ExpressionType {
  /// Whether a value of one kind may be of this type; the contents of arrays and objects are checked when the value
  /// exists.
  fileprivate func mayBe(_ kind: ExpressionType) -> Bool {
    alternatives.contains { wanted in
      switch (wanted, kind) {
      case (.any, _), (_, .any), (.null, .null), (.boolean, .boolean), (.number, .number),
        (.string, .string), (.array, .array), (.object, .object):
        true
      default: false
      }
    }
  }
}

/// Checks keys that depend only on literal elements: every run would fail because of them.
extension ValueChecker {
  mutating func checkKeys(_ text: PlannedText, of owner: TextOwner) {
    guard let loop = loop(of: owner), case .values(let written) = loop.elements,
      let expression = text.template.onlyExpression,
      let elements = try? LoopElements(of: written)
    else { return }
    do throws(LoopProblem) {
      _ = try ElementKeys(of: elements, in: loop, by: expression)
    } catch {
      report(Diagnostic(LoopProblem.code, error.message, help: error.help), text, nil)
    }
  }

  private func loop(of owner: TextOwner) -> ForEach? {
    let fanOut: FanOut? =
      switch owner {
      case .workflow: nil
      case .group(let index): outline.groups[index].step?.control.fanOut
      case .step(let index): outline.steps[index].control.fanOut
      }
    if case .forEach(let loop)? = fanOut { return loop }
    return nil
  }
}

/// Checks the values of texts that decide whether and how often a step runs.
extension ValueChecker {
  /// Reports conditions that are always true, or always false; a literal `true` or `false` is intended.
  mutating func checkTruth(of reading: ValueNames.Knowledge, _ text: PlannedText) {
    guard let expression = text.template.onlyExpression else { return }
    if case .literal(.boolean) = expression.root.form { return }
    for truth in [true, false] where reading.type.narrowed(to: !truth) == nil {
      let isText = reading.type.alternatives.allSatisfy(\.isString)
      let found = isText ? truth ? "a non-empty string" : "an empty string" : reading.type.name
      report(.decidesNothing(text.site, truth, found: found), text, expression.root.range)
    }
  }

  mutating func checkKind(of reading: ValueNames.Knowledge, _ text: PlannedText) {
    let (wanted, fits) = text.site.wantedKind
    if !reading.type.alternatives.contains(where: fits) {
      let isText = reading.type.alternatives.allSatisfy(\.isString)
      let help =
        text.site.isList && isText
        ? "parse JSON with fromJSON: \"${{ "
          + "fromJSON(\(text.template.onlyExpression?.text ?? "…")) }}\""
        : nil
      report(
        .wrongType(found: reading.type.name, wanted: wanted, in: text.site, help: help), text, nil)
    }
    // Keys of elements are part of addresses, which are not secret.
    if text.site == .elements, reading.isSecret, reading.type.alternatives.allSatisfy(\.isObject) {
      report(.secretKeys, text, nil)
    }
  }
}

extension TextSite {
  fileprivate var isList: Bool {
    switch self {
    case .elements, .axis, .include, .exclude: true
    default: false
    }
  }

  fileprivate var wantedKind: (String, (ExpressionType) -> Bool) {
    switch self {
    case .elements: ("an array or an object", { $0 == .any || $0.isArray || $0.isObject })
    case .elementKey: ("a string or a number", { $0 == .any || $0 == .number || $0.isString })
    case .waiting: ("a duration like \"30s\", or a time", { $0 == .any || $0.isString })
    default: ("an array", { $0 == .any || $0.isArray })
    }
  }
}

extension ExpressionType {
  fileprivate var isArray: Bool { if case .array = self { true } else { false } }
  fileprivate var isObject: Bool { if case .object = self { true } else { false } }
  fileprivate var isString: Bool { if case .string = self { true } else { false } }
}

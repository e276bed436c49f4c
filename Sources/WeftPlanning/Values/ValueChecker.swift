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
  let names: ValueNames
  private(set) var found = FoundProblems()
  private(set) var scripts: [Int: PlannedScript] = [:]
  /// The secrets that are read, by file.
  private(set) var secrets: SecretReaders = [:]

  init(_ outline: Outline, _ stepNames: [StepNames], texts: PlannedTexts) {
    self.outline = outline
    self.texts = texts
    names = ValueNames(outline, stepNames, texts)
  }

  /// - Parameter order: The nodes, each after its dependencies, without those of cycles.
  mutating func check(in order: [Int32]) {
    checkDeclarations()
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
      checkVariables(ofStep: Int(step))
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
    case .output(let name) where reading.isSecret && isCached(owner):
      report(.secretOfCached(name), text, nil)
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

  func reportableRange(_ text: PlannedText, _ part: SourceRange?) -> SourceRange? {
    part.map { text.part($0).range(in: outline.files[text.file].workflow.source.value) }
      ?? text.place
  }

  mutating func report(_ problem: ValueProblem, _ text: PlannedText, _ part: SourceRange?) {
    found.file = text.file
    found.append(.value(problem), reportableRange(text, part), key: text.site.key)
  }

  mutating func report(
    _ problem: ValueProblem, at place: SourceRange?, in file: Int, of node: Plan.NodeIndex?,
    key: String
  ) {
    found.file = file
    found.node = node
    found.append(.value(problem), place, key: key)
  }

  mutating func keep(_ script: PlannedScript, ofStep index: Int) { scripts[index] = script }
  mutating func use(secret name: SecretName, in file: Int, by owner: TextOwner) {
    secrets[file, default: [:]][name, default: []].insert(owner)
  }
}

extension TextSite {
  var isOutput: Bool {
    if case .output = self { true } else { false }
  }
}

import WeftDefinition
import WeftDiagnostics
import WeftExecution
import WeftJSON
import WeftPlanning

/// Checks a test file against its workflow: steps that do not exist, results that a step cannot have, and expectations
/// that no run can meet. Nothing is run for that.
struct CaseChecker {
  private let file: TestFile
  private let plan: Plan
  private let shapes: AddressShapes
  private let nearest: NearestName
  private var diagnostics: [Diagnostic] = []

  static func problems(of file: TestFile, with plan: Plan, _ shapes: AddressShapes) -> [Diagnostic]
  {
    var checker = CaseChecker(file, plan, shapes)
    checker.check(file.settings.steps)
    for testCase in file.cases { checker.check(testCase) }
    return checker.diagnostics
  }

  private init(_ file: TestFile, _ plan: Plan, _ shapes: AddressShapes) {
    (self.file, self.plan, self.shapes) = (file, plan, shapes)
    nearest = NearestName(shapes.shapes.map(\.pattern.text))
  }

  private mutating func report(
    _ code: String, _ message: String, at range: SourceRange, help: String? = nil
  ) {
    diagnostics.append(
      Diagnostic(.error, code: code, message: message, place: file.place(range), help: help))
  }

  private mutating func check(_ testCase: TestCase) {
    check(testCase.settings.steps)
    check(testCase.resumption?.steps ?? [])
    let expected = testCase.expected
    for pattern in expected.steps.map(\.pattern) + expected.neverStarts + expected.before.joined()
      + (testCase.resumption?.rerun ?? [])
    {
      _ = find(pattern.value, pattern.range)
    }
    for limit in expected.notBefore { _ = find(limit.name, limit.range) }
    for limit in expected.atMostAtOnce { checkSlots(limit) }
    for interruption in testCase.interruptions {
      switch interruption.moment {
      case .time: break
      case .start(let step), .end(let step): _ = find(step.value, step.range)
      }
    }
    if let cause = expected.firstFailure { _ = find(cause.value, cause.range) }
    for name in testCase.only + testCase.skip + testCase.from { checkChoice(name) }
    checkOutcome(expected, testCase)
    for step in expected.steps { checkHolds(step, expected) }
    for chain in expected.before { checkHolds(chain) }
  }

  // MARK: Names

  /// The steps and groups that an address or a pattern may mean; if there are none, that is reported.
  private mutating func find(_ text: String, _ range: SourceRange) -> [AddressShapes.Shape] {
    let found = shapes.matching(StepPattern(text))
    guard found.isEmpty else { return found }
    let isPattern = text.contains("*")
    report(
      CaseCode.noSuchStep,
      isPattern
        ? "the pattern \(quoted(text)) matches no step of the workflow"
        : "\(quoted(text)) is not a step of the workflow", at: range,
      help: nearest.nearest(to: text).asSuggestion ?? "\"weft graph FILE\" shows the addresses")
    return []
  }

  /// The kinds of steps of which `maxParallel` run at once.
  static let kindsWithSlots: Set<ActionKind> = [.run, .http, .use]

  /// Steps that hold no slot are not counted, so a limit of these alone would always hold.
  private mutating func checkSlots(_ limit: Named<Int>) {
    let found = find(limit.name, limit.range)
    let counts = found.contains { shape in
      guard !shape.isGroup, case .step(let index) = plan.nodes[shape.node] else { return false }
      return CaseChecker.kindsWithSlots.contains(plan.steps[Int(index)].kind)
    }
    guard !found.isEmpty, !counts else { return }
    report(
      CaseCode.impossible,
      "\(quoted(limit.name)) runs no command, request or action, and only these are counted",
      at: limit.range, help: members(of: found[0]).map { "limit its steps: \($0)" })
  }

  private mutating func checkChoice(_ name: Placed<String>) {
    do throws(StepChoice.UnknownStep) {
      _ = try plan.stepsExcluded(by: StepChoice(skip: [name.value]))
    } catch {
      report(
        CaseCode.noSuchStep, "\(quoted(name.value)) is not a step of the workflow",
        at: name.range, help: error.nearest.asSuggestion)
    }
  }

  // MARK: Results

  private mutating func check(_ scripts: [StepScript]) {
    var seen: [String: SourceRange] = [:]
    for script in scripts {
      let found = find(script.pattern.value, script.pattern.range)
      guard !found.isEmpty else { continue }
      if seen.updateValue(script.pattern.range, forKey: script.pattern.value) != nil { continue }
      for result in script.results { check(result, of: script, found) }
    }
  }

  /// A result must fit one of the steps that it may be for.
  private mutating func check(
    _ result: ScriptedResult, of script: StepScript, _ found: [AddressShapes.Shape]
  ) {
    let faults = found.map { fault(in: result, for: $0) }
    guard !faults.contains(where: { $0 == nil }), case let fault?? = faults.first else { return }
    report(
      CaseCode.unfitResult, "\(quoted(script.pattern.value)) \(fault.message)",
      at: fault.key.flatMap { result.keys[$0] } ?? script.pattern.range, help: fault.help)
  }

  private func fault(in result: ScriptedResult, for shape: AddressShapes.Shape) -> UnfitResult? {
    guard case .step(let index) = plan.nodes[shape.node] else {
      return UnfitResult(
        message: "is a group, which has no result of its own",
        help: members(of: shape).map { "script its steps: \($0)" })
    }
    let step = plan.steps[Int(index)]
    let allowed: Set<String>
    let act: String
    switch step.kind {
    case .run:
      (act, allowed) = (
        "runs a command",
        [
          "exit", "signal", "stdout", "stderr", "outputs", "fails", "takes", "never", "stopsAfter",
          "real",
        ]
      )
    case .http: (act, allowed) = ("sends requests", ["http", "fails", "takes", "never", "real"])
    case .use:
      (act, allowed) = (
        "runs a registered action",
        ["returns", "stdout", "outputs", "fails", "takes", "never", "stopsAfter"]
      )
    case .approve: (act, allowed) = ("asks for approval", ["approve", "takes", "never"])
    case .wait:
      return UnfitResult(
        message: "only waits", help: "it needs no result: virtual time passes by itself")
    case .compute:
      return UnfitResult(message: "only computes its outputs", help: "it needs no result")
    case .workflow, .steps, .parallel, .race:
      return UnfitResult(message: "is a group, which has no result of its own")
    }
    if shape.isGroup, step.control.fanOut != nil {
      return UnfitResult(
        message: "is a loop, which has no result of its own",
        help: "script its elements: \(quoted(shape.pattern.text + "[*]"))")
    }
    if let key = result.keys.keys.sorted().first(where: { !allowed.contains($0) }) {
      return UnfitResult(
        key: key, message: "\(act), which cannot have \"\(key)\"",
        help: "it may have \(QuotedList(allowed.sorted(), conjunction: "and"))")
    }
    if step.kind == .http, result.keys["takes"] != nil, result.responses != nil {
      return UnfitResult(
        key: "takes", message: "sends requests, each of which takes its own time",
        help: "move \"takes\" into the response")
    }
    if step.kind == .http, result.responses == nil, result.failure == nil, !result.isReal,
      !result.isEndless
    {
      return UnfitResult(
        message: "sends requests, and has no response",
        help: "write { \"http\": { \"status\": 200, \"body\": \"…\" } }")
    }
    if step.kind == .approve, result.approves == nil, !result.isEndless {
      return UnfitResult(
        message: "asks for approval, and has no answer",
        help: "write { \"approve\": true }, or { \"never\": true } if nobody answers")
    }
    return result.fault(of: step) ?? outputFault(in: result, of: step)
  }

  /// The steps in a group, or the elements of a loop.
  private func members(of shape: AddressShapes.Shape) -> String? {
    guard case .groupStart(let group) = plan.nodes[shape.node] else {
      return shape.isGroup ? quoted(shape.pattern.text + "[*]") : nil
    }
    let inside = Set(plan.steps(inGroup: Int(group)).map { plan.steps[$0].node })
    let names = shapes.shapes.filter { inside.contains($0.node) && !$0.isGroup }
      .map { quoted($0.pattern.text) }
    return names.isEmpty ? nil : shortList(names)
  }

  private func outputFault(in result: ScriptedResult, of step: PlannedStep) -> UnfitResult? {
    guard let outputs = result.outputs else { return nil }
    let declared = step.outputs.filter { $0.value == nil }.map(\.name)
    guard let unknown = outputs.members.map(\.key).first(where: { !declared.contains($0) }) else {
      return nil
    }
    if step.outputs.contains(where: { $0.name == unknown }) {
      return UnfitResult(
        key: "outputs", message: "computes its output \"\(unknown)\" by an expression",
        help: "script what the expression reads, such as \"stdout\"")
    }
    return UnfitResult(
      key: "outputs", message: "has no output \"\(unknown)\"",
      help: NearestName(declared).nearest(to: unknown).asSuggestion)
  }

  // MARK: Expectations that cannot hold

  /// The exit codes of `weft run`.
  private static let exitCodes: Set<Int> = [0, 1, 4, 75, 124, 129, 130, 131, 137, 143]

  private mutating func checkOutcome(_ expected: TestExpectations, _ testCase: TestCase) {
    let crash = testCase.interruptions.first { $0.act.value == .crash }
    if let crash, testCase.resumption == nil, let range = expected.outcome?.range {
      report(
        CaseCode.impossible, "a run whose engine crashes has no outcome", at: range,
        help: "add \"resume\": true to the case, or expect \"exitCode\": 137")
      _ = crash
    }
    guard let code = expected.exitCode else { return }
    if !CaseChecker.exitCodes.contains(code.value) {
      report(
        CaseCode.impossible, "no run has the exit code \(code.value)", at: code.range,
        help: "0 success, 1 failure, 4 the journal is lost, 75 waiting, 124 the run's time limit, "
          + "130 cancelled")
      return
    }
    let possible: Set<Int>
    switch expected.outcome?.value {
    case .success?: possible = [0, 4]
    case .failure?: possible = [1, 4]
    case .cancelled?: possible = [4, 124, 129, 130, 131, 143]
    case .waiting?: possible = [75, 4]
    case nil: return
    }
    if let outcome = expected.outcome, !possible.contains(code.value) {
      report(
        CaseCode.impossible,
        "no run with the outcome \"\(outcome.value.rawValue)\" has the exit code \(code.value)",
        at: code.range)
    }
  }

  private mutating func checkHolds(_ step: StepExpectation, _ expected: TestExpectations) {
    let found = shapes.matching(StepPattern(step.pattern.value))
    guard !found.isEmpty else { return }
    let name = quoted(step.pattern.value)
    if step.outcome?.value == .skipped || step.outcome?.value == .absent {
      let later =
        step.attempts?.range ?? step.exit?.range ?? step.startsAt?.range
        ?? step.run?.range
      if let later {
        report(
          CaseCode.impossible, "\(name) cannot be skipped and have that", at: later)
      }
    }
    if step.reason?.value == "condition", let range = step.reason?.range,
      !found.contains(where: { mayBeSkippedByCondition($0.node) })
    {
      report(
        CaseCode.impossible, "neither \(name) nor a group around it has an \"if\"", at: range)
    }
    let range = step.attempts?.range
    if let attempts = step.attempts?.value, let range,
      let most = found.map({ mostAttempts($0.node) }).max(), attempts > most
    {
      report(
        CaseCode.impossible, "\(name) has at most \(Count(most, "attempt"))", at: range)
    }
    let contradiction = expected.neverStarts.first { $0.value == step.pattern.value }
    if let contradiction, step.attempts != nil || step.startsAt != nil || step.exit != nil {
      report(
        CaseCode.impossible, "\(name) is also expected to start", at: contradiction.range)
    }
  }

  private func mayBeSkippedByCondition(_ node: Plan.NodeIndex) -> Bool {
    let own: StepControl?
    switch plan.nodes[node] {
    case .step(let index):
      own = plan.steps[Int(index)].hasControl ? plan.steps[Int(index)].control : nil
    case .groupStart(let index), .groupEnd(let index): own = plan.groups[Int(index)].step?.control
    }
    if own?.condition != nil { return true }
    return plan.allEnclosingGroups(ofGroup: plan.group(around: node)).contains {
      plan.groups[$0].step?.control.condition != nil
    }
  }

  /// The most attempts that a step can have; a computed number may be any.
  private func mostAttempts(_ node: Plan.NodeIndex) -> Int {
    let step: Step?
    switch plan.nodes[node] {
    case .step(let index): step = plan.steps[Int(index)].step
    case .groupStart(let index), .groupEnd(let index): step = plan.groups[Int(index)].step
    }
    guard let step else { return 1 }
    if step.computed[.retryMax] != nil { return .max }
    return 1 + step.control.retry.map(\.max).reduce(0, +)
  }

  /// A chain that contradicts the dependencies of the workflow.
  private mutating func checkHolds(_ chain: [Placed<String>]) {
    for (first, second) in zip(chain, chain.dropFirst()) {
      if first.value == second.value, StepPattern(first.value).isExact {
        report(
          CaseCode.impossible, "\(quoted(first.value)) cannot end before it starts",
          at: second.range)
        continue
      }
      guard let early = onlyNode(first), let late = onlyNode(second), needs(early, late) else {
        continue
      }
      report(
        CaseCode.impossible,
        "\(quoted(first.value)) needs \(quoted(second.value)), so it cannot end before",
        at: second.range)
    }
  }

  private func onlyNode(_ pattern: Placed<String>) -> Plan.NodeIndex? {
    let found = shapes.matching(StepPattern(pattern.value))
    guard StepPattern(pattern.value).isExact, found.count == 1, found[0].pattern.isExact else {
      return nil
    }
    return found[0].node
  }

  /// Whether a node starts only after another one has ended.
  private func needs(_ node: Plan.NodeIndex, _ other: Plan.NodeIndex) -> Bool {
    var end = other
    if case .groupStart(let group) = plan.nodes[other] { end = plan.groups[Int(group)].endNode }
    var seen = [Bool](repeating: false, count: plan.nodes.count)
    var open = [node]
    while let next = open.popLast() {
      for dependency in plan.dependencies[next].lazy.map(Int.init) where !seen[dependency] {
        if dependency == end { return true }
        seen[dependency] = true
        open.append(dependency)
      }
    }
    return false
  }
}

package import WeftDefinition
package import WeftDiagnostics
package import WeftEvents
import WeftExpressions
package import WeftPlanning
import WeftPlatform

extension Plan {
  /// The plan with values in place of the expressions that are needed before anything starts: names, and the
  /// computed keys of groups and of the workflow.
  ///
  /// - Parameters:
  ///   - run: `nil` if there is no run: expressions that read `run`, or an input that is not given, are left as
  ///     written.
  ///   - directory: The absolute path of the run directory, if there is or will be one.
  /// - Returns: The plan, and diagnostics for the values; if there are any, the plan must not be run.
  package func bound(
    to inputs: InputValues, run: RunID?, in directory: String? = nil
  ) -> (plan: Plan, problems: [Diagnostic]) {
    if !inputs.arguments.isEmpty, !values.read(.args) { return (self, [.unreadArguments]) }
    guard !values.isEmpty else { return (self, []) }
    var binding = StaticEvaluation(plan: self, inputs: inputs, run: run, in: directory)
    binding.bindAll()
    if run == nil {
      binding.foresee()
    } else if !declaredSecrets.isEmpty || !usedEnvironmentFiles.isEmpty {
      // The secrets and env files of steps that will not run need not be read.
      binding.foresee(elementsToo: false)
    }
    return (binding.plan, binding.problems.sortedByLocation())
  }
}

extension Diagnostic {
  /// Arguments that a run is given, and that no expression reads.
  fileprivate static var unreadArguments: Diagnostic {
    Diagnostic(
      .error, code: "W0429",
      message: "the run is given arguments, but nothing in the workflow reads them", place: nil,
      help: "read them as ${{ run.args }}, an array: [\"npm\", \"test\", \"${{ run.args }}\"]")
  }
}

private struct StaticEvaluation {
  private(set) var plan: Plan
  /// Indexed by file.
  private let files: [StaticInputs]
  private let hasRun: Bool
  private(set) var problems: [Diagnostic] = []

  init(plan: Plan, inputs: InputValues, run: RunID?, in directory: String?) {
    self.plan = plan
    self.plan.forecast = PlanForecast()
    hasRun = run != nil
    files = StaticInputs.all(
      of: plan, inputs,
      RunValues(
        plan: plan, run: run ?? RunID(""), directory: directory, inputs: inputs,
        secrets: RunSecrets(), process: .empty, startDirectory: nil), hasRun: hasRun)
  }

  private func scope(of text: PlannedText) -> StepScope { files[text.file].scope }

  mutating func bindAll() {
    for index in plan.groups.indices {
      for text in plan.values.texts(ofGroup: index) {
        guard canBind(text) else {
          if hasRun, text.site == .name, let address = plan.groups[index].address {
            plan.names[plan.groups[index].startNode] = address.text
          }
          continue
        }
        bind(text) { (binding) throws(ExpressionError) in try binding.bind(text, ofGroup: index) }
      }
    }
    for (index, step) in plan.steps.enumerated() {
      for text in plan.values.texts(ofStep: index) where text.site == .name {
        guard canBind(text) else {
          if hasRun { plan.names[step.node] = step.address.text }
          continue
        }
        bind(text) { (binding) throws(ExpressionError) in
          binding.plan.names[step.node] = try text.template.text(in: binding.scope(of: text)).text
        }
      }
    }
  }

  // MARK: Conditions and loops

  /// Evaluates the conditions and loops that depend on nothing but inputs.
  mutating func foresee(elementsToo: Bool = true) {
    for index in plan.steps.indices where plan.steps[index].hasControl {
      foresee(.step(index), elementsToo)
    }
    for (index, group) in plan.groups.enumerated() {
      if group.step?.hasControl == true { foresee(.group(index), elementsToo) }
    }
  }

  private mutating func foresee(_ member: PlanMember, _ elementsToo: Bool) {
    let (node, texts) = (plan.node(of: member), plan.texts(of: member))
    if let condition = StartCondition(texts),
      let holds = files[condition.text.file].value(of: condition)
    {
      plan.forecast.conditions[node] = holds
    }
    guard elementsToo, plan.fanOut(of: member) != nil else { return }
    let file = files[plan.groups[plan.group(around: node)].file]
    if let listing = file.listing(of: member) { plan.forecast.elements[node] = listing.count }
  }

  private func canBind(_ text: PlannedText) -> Bool {
    switch text.site {
    case .name, .computed, .concurrencyKey: break
    default: return false
    }
    return hasRun && text.file == 0 || files[text.file].decides(text, hasRun: hasRun)
  }

  private mutating func bind(
    _ text: PlannedText, _ act: (inout StaticEvaluation) throws(ExpressionError) -> Void
  ) {
    do throws(ExpressionError) {
      try act(&self)
    } catch {
      problems.append(plan.diagnostic(error, in: text))
    }
  }

  private mutating func bind(
    _ text: PlannedText, ofGroup index: Int
  ) throws(ExpressionError) {
    let scope = scope(of: text)
    switch text.site {
    case .name:
      plan.names[plan.groups[index].startNode] = try text.template.text(in: scope).text
    case .concurrencyKey where index == 0:
      plan.workflow.concurrency?.key = try text.template.text(in: scope).text
    // The limit of a loop is evaluated with its elements.
    case .computed(.elementParallel), .computed(.combinationParallel): break
    case .computed(let key):
      try text.template.onlyExpression?.value(in: scope) { (value) throws(EvaluationError) in
        try bind(key, to: value, ofGroup: index)
      }
    default: break
    }
  }

  private mutating func bind(
    _ key: ComputedKey, to value: ExpressionValue, ofGroup index: Int
  ) throws(EvaluationError) {
    if key == .maxParallel { plan.groups[index].maxParallel = try key.count(value) }
    guard index == 0 else {
      try plan.groups[index].step?.set(key, to: value)
      return
    }
    switch key {
    case .timeout: plan.workflow.timeout = try key.duration(value)
    case .maxParallel: plan.workflow.maxParallel = plan.groups[0].maxParallel
    default: return
    }
  }
}

extension PlannedText {
  /// Whether it defines the elements of a loop.
  fileprivate var definesElements: Bool {
    switch site {
    case .elements, .axis, .include, .exclude: true
    default: false
    }
  }
}

/// The inputs of a file that are known before anything runs: all inputs of the main workflow; for a nested
/// workflow, those given by constants, by defaults, or by expressions over values that are known at that point.
struct StaticInputs {
  let scope: StepScope
  private let inputs: InputValues

  static func all(
    of plan: Plan, _ inputs: InputValues, _ values: RunValues, hasRun: Bool
  ) -> [StaticInputs] {
    let instance = Instance.run(of: plan)
    var files = [StaticInputs(scope: StepScope(values: values, instance: instance), inputs: inputs)]
    for (index, file) in plan.files.enumerated().dropFirst() {
      guard let caller = file.caller else { continue }
      let around = files[plan.groups[caller].file]
      let known = around.inputs(givenTo: file, by: caller, in: plan, hasRun: hasRun)
      let instance = Instance(
        unnumbered: .attempt(1), of: PlanRegion(allOf: plan), in: around.scope.instance)
      instance.supply(.success(RunInputs(known)), toFile: index)
      files.append(
        StaticInputs(
          scope: StepScope(values: values, instance: instance, ownFile: index), inputs: known))
    }
    return files
  }

  /// Whether a text of the file reads only known values.
  ///
  /// - Parameter inElement: Whether the elements of the loops around the text are known.
  func decides(_ text: PlannedText, hasRun: Bool, inElement: Bool = false) -> Bool {
    text.template.expressions.allSatisfy { expression in
      expression.references.allSatisfy { decides($0, hasRun: hasRun, inElement: inElement) }
    }
  }

  /// Whether a value that a text of the file reads is known.
  func decides(_ reference: ContextReference, hasRun: Bool, inElement: Bool = false) -> Bool {
    switch reference.valueContext {
    case .inputs: reference.names.count > 1 && inputs.entry(named: reference.names[1].text) != nil
    case .workflow: true
    case .run:
      hasRun || reference.names.count > 1 && reference.names[1].text == RunField.args.rawValue
    // Without a context, the name that a loop gives to its element.
    case .item, .index, .matrix, nil: inElement
    case .env, .secrets, .steps, .itself, .state: false
    }
  }

  /// The value of a condition of the file; `nil` if it is known only during the run.
  ///
  /// - Parameter instance: The instance of the step or group; `nil` outside of loops.
  func value(of condition: StartCondition, in instance: Instance? = nil) -> Bool? {
    let instance = instance ?? scope.instance
    guard condition.functions.isEmpty,
      decides(condition.text, hasRun: false, inElement: instance.isInElement)
    else { return nil }
    return try? condition.expression.evaluate(in: scope(in: instance)).value.isTruthy
  }

  /// The elements of a loop of the file; `nil` if they are known only during the run.
  ///
  /// - Parameter instance: The instance that contains the loop; `nil` outside of other loops.
  func listing(of member: PlanMember, in instance: Instance? = nil) -> LoopListing? {
    let (plan, instance) = (scope.values.plan, instance ?? scope.instance)
    let texts = plan.texts(of: member).filter(\.definesElements)
    guard
      texts.allSatisfy({ decides($0, hasRun: false, inElement: instance.isInElement) })
    else { return nil }
    return try? LoopLister(scope.values, LoopTask(member, of: plan, in: instance, after: []))
      .listing().get()
  }

  private func scope(in instance: Instance) -> StepScope {
    var scope = scope
    scope.instance = instance
    return scope
  }

  /// An invalid value is reported when the file is run.
  private func inputs(
    givenTo file: PlannedFile, by caller: Int, in plan: Plan, hasRun: Bool
  ) -> InputValues {
    guard case .workflow(let nested)? = plan.groups[caller].step?.action else { return .none }
    let texts = plan.values.texts(ofGroup: caller)
    return InputValues(
      file.workflow.inputs.compactMap { input in
        let giving = InputGiving(to: [input], nested, texts, of: plan, in: scope)
        let reads = nested.parameters.filter { InputName($0.name) == input.name }
          .compactMap { parameter in texts.first(at: .parameter(parameter.name)) }
        guard reads.allSatisfy({ decides($0, hasRun: hasRun) }) else { return nil }
        return (try? giving.inputs())?.entries.first
      })
  }
}

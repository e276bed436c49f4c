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
    guard !values.isEmpty else { return (self, []) }
    var binding = StaticEvaluation(plan: self, inputs: inputs, run: run, in: directory)
    binding.bindAll()
    if run == nil {
      binding.foresee()
    } else if !declaredSecrets.isEmpty {
      // The secrets of steps that will not run need not be read.
      binding.foresee(elementsToo: false)
    }
    return (self.binding(binding.values), binding.problems.sortedByLocation())
  }
}

private struct StaticEvaluation {
  private let plan: Plan
  /// Indexed by file.
  private let files: [StaticInputs]
  private let hasRun: Bool
  private(set) var values = StaticValues()
  private(set) var problems: [Diagnostic] = []

  init(plan: Plan, inputs: InputValues, run: RunID?, in directory: String?) {
    self.plan = plan
    hasRun = run != nil
    files = StaticInputs.all(
      of: plan, inputs,
      RunValues(
        plan: plan, run: run ?? RunID(""), directory: directory, inputs: RunInputs(inputs),
        secrets: RunSecrets(), process: .empty, startDirectory: nil), hasRun: hasRun)
  }

  private func scope(of text: PlannedText) -> StepScope { files[text.file].scope }

  mutating func bindAll() {
    for index in plan.groups.indices {
      for text in plan.values.texts(ofGroup: index) {
        guard canBind(text) else {
          if hasRun, text.site == .name, let address = plan.groups[index].address {
            values.names[plan.groups[index].startNode] = address.text
          }
          continue
        }
        bind(text) { (binding) throws(ExpressionError) in try binding.bind(text, ofGroup: index) }
      }
    }
    for (index, step) in plan.steps.enumerated() {
      for text in plan.values.texts(ofStep: index) where text.site == .name {
        guard canBind(text) else {
          if hasRun { values.names[step.node] = step.address.text }
          continue
        }
        bind(text) { (binding) throws(ExpressionError) in
          binding.values.names[step.node] = try text.template.text(in: binding.scope(of: text)).text
        }
      }
    }
  }

  // MARK: Conditions and loops

  /// Evaluates the conditions and loops that depend on nothing but inputs.
  mutating func foresee(elementsToo: Bool = true) {
    for (index, step) in plan.steps.enumerated() where step.hasControl {
      foresee(
        .step(index), at: step.node, step.control, plan.values.texts(ofStep: index), elementsToo)
    }
    for (index, group) in plan.groups.enumerated() {
      guard let step = group.step, step.hasControl else { continue }
      foresee(
        .group(index), at: group.startNode, step.control, plan.values.texts(ofGroup: index),
        elementsToo)
    }
  }

  private mutating func foresee(
    _ member: LoopTask.Member, at node: Plan.NodeIndex, _ control: StepControl,
    _ texts: ArraySlice<PlannedText>, _ elementsToo: Bool
  ) {
    if let condition = StartCondition(texts), condition.functions.isEmpty,
      isDecided(condition.text),
      let value = try? condition.expression.evaluate(in: scope(of: condition.text)).value
    {
      values.forecast.conditions[node] = value.isTruthy
    }
    guard elementsToo, control.fanOut != nil, texts.filter(\.saysElements).allSatisfy(isDecided)
    else { return }
    let file = files[texts.first?.file ?? plan.groups[plan.group(around: node)].file].scope
    let task = LoopTask(member, of: plan, in: file.instance, after: [])
    if let listing = try? LoopLister(file.values, task).listing().get() {
      values.forecast.elements[node] = listing.count
    }
  }

  /// Whether a text reads only known inputs and constants of the file.
  private func isDecided(_ text: PlannedText) -> Bool {
    files[text.file].decides(text, hasRun: false)
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
    if text.site == .name {
      values.names[plan.groups[index].startNode] =
        try text.template.text(in: scope(of: text)).text
    }
    if text.site == .concurrencyKey, index == 0 {
      values.concurrencyKey = try text.template.text(in: scope(of: text)).text
    }
    guard case .computed(let key) = text.site, let expression = text.template.onlyExpression else {
      return
    }
    let value = try expression.evaluate(in: scope(of: text)).value
    do throws(EvaluationError) {
      switch key {
      case .timeout: values.timeouts[index] = try key.duration(value)
      case .allowFailure: values.tolerances[index] = try key.tolerance(value)
      case .maxParallel:
        values.limits[index] = try key.count(value)
      case .retryMax:
        let count = try key.count(value)
        change(index) { $0.max = count }
      case .retryDelay:
        let delay = try key.duration(value)
        change(index) { $0.delay = delay }
      case .retryMaxDelay:
        let delay = try key.duration(value)
        change(index) { $0.maxDelay = delay }
      case .retryWithin:
        let limit = try key.duration(value)
        change(index) { $0.within = limit }
      default: break
      }
    } catch {
      throw ExpressionError(error, expression.range)
    }
  }

  /// Changes the only policy of a group that has a computed part.
  private mutating func change(_ group: Int, _ edit: (inout RetryPolicy) -> Void) {
    guard var policy = values.retries[group] ?? plan.groups[group].step?.control.retry.first else {
      return
    }
    edit(&policy)
    values.retries[group] = policy
  }
}

extension PlannedText {
  /// Whether it defines the elements of a loop.
  fileprivate var saysElements: Bool {
    switch site {
    case .elements, .axis, .include, .exclude: true
    default: false
    }
  }
}

package import WeftDefinition
package import WeftDiagnostics
import WeftExpressions
package import WeftPlanning
import WeftPlatform

extension Plan {
  /// The plan with values in place of the expressions that are needed before anything starts: names, and
  /// the computed keys of groups and of the workflow.
  ///
  /// - Parameter run: `nil` where there is no run: what reads `run`, or an input that is not given, stays
  ///   as it is written.
  /// - Returns: The plan, and everything that is wrong with the values; it must not be run then.
  package func bound(
    to inputs: InputValues, run: RunID?
  ) -> (plan: Plan, problems: [Diagnostic]) {
    guard !values.isEmpty else { return (self, []) }
    var binding = EarlyBinding(plan: self, inputs: inputs, run: run)
    binding.bindAll()
    if run == nil { binding.foresee() }
    return (self.binding(binding.values), binding.problems.sortedByPlace())
  }
}

private struct EarlyBinding {
  private let plan: Plan
  private let scope: StepScope
  private let inputs: InputValues
  private let hasRun: Bool
  private(set) var values = EarlyValues()
  private(set) var problems: [Diagnostic] = []

  init(plan: Plan, inputs: InputValues, run: RunID?) {
    self.plan = plan
    self.inputs = inputs
    hasRun = run != nil
    scope = StepScope(
      values: RunValues(
        plan: plan, run: run ?? RunID(""), inputs: RunInputs(inputs), secrets: RunSecrets(),
        process: .empty, startDirectory: nil), frame: .run(of: plan))
  }

  mutating func bindAll() {
    for index in plan.groups.indices {
      for text in plan.values.texts(ofGroup: index) where canBind(text) {
        bind(text) { (binding) throws(ExpressionFault) in try binding.bind(text, ofGroup: index) }
      }
    }
    for (index, step) in plan.steps.enumerated() {
      for text in plan.values.texts(ofStep: index) where text.site == .name && canBind(text) {
        bind(text) { (binding) throws(ExpressionFault) in
          binding.values.names[step.node] = try text.template.text(in: binding.scope).text
        }
      }
    }
  }

  // MARK: What inputs decide

  /// Finds out what conditions and loops come to that nothing but inputs decides.
  mutating func foresee() {
    for (index, step) in plan.steps.enumerated() where step.hasControl {
      foresee(.step(index), at: step.node, step.control, plan.values.texts(ofStep: index))
    }
    for (index, group) in plan.groups.enumerated() {
      guard let step = group.step, step.hasControl else { continue }
      foresee(
        .group(index), at: group.startNode, step.control, plan.values.texts(ofGroup: index))
    }
  }

  private mutating func foresee(
    _ member: FanOutTask.Member, at node: Plan.NodeIndex, _ control: StepControl,
    _ texts: ArraySlice<PlannedText>
  ) {
    if let condition = StartCondition(texts), condition.functions.isEmpty,
      isDecided(condition.text),
      let value = try? condition.expression.evaluate(in: scope).value
    {
      values.forecast.conditions[node] = value.isTruthy
    }
    guard control.fanOut != nil, texts.filter(\.saysElements).allSatisfy(isDecided) else { return }
    let task = FanOutTask(member, of: plan, in: .run(of: plan), after: [])
    if let listing = try? FanOutLister(scope.values, task).listing().get() {
      values.forecast.elements[node] = listing.count
    }
  }

  /// Whether a text reads nothing but inputs that are known, and what the file says.
  private func isDecided(_ text: PlannedText) -> Bool {
    text.template.expressions.allSatisfy { expression in
      expression.references.allSatisfy { reference in
        switch reference.valueContext {
        case .inputs:
          reference.names.count > 1 && inputs.entry(named: reference.names[1].text) != nil
        case .workflow: true
        case .env, .secrets, .steps, .itself, .item, .index, .matrix, .run, nil: false
        }
      }
    }
  }

  private func canBind(_ text: PlannedText) -> Bool {
    switch text.site {
    case .name, .computed: break
    default: return false
    }
    if hasRun { return true }
    return text.template.expressions.allSatisfy { expression in
      expression.references.allSatisfy { reference in
        switch reference.valueContext {
        case .run: false
        case .inputs:
          reference.names.count > 1 && inputs.entry(named: reference.names[1].text) != nil
        case .env, .secrets, .steps, .itself, .item, .index, .matrix, .workflow, nil: true
        }
      }
    }
  }

  private mutating func bind(
    _ text: PlannedText, _ act: (inout EarlyBinding) throws(ExpressionFault) -> Void
  ) {
    do throws(ExpressionFault) {
      try act(&self)
    } catch {
      problems.append(plan.diagnostic(error, in: text))
    }
  }

  private mutating func bind(
    _ text: PlannedText, ofGroup index: Int
  ) throws(ExpressionFault) {
    if text.site == .name {
      values.names[plan.groups[index].startNode] = try text.template.text(in: scope).text
    }
    guard case .computed(let key) = text.site, let expression = text.template.onlyExpression else {
      return
    }
    let value = try expression.evaluate(in: scope).value
    do throws(ExpressionProblem) {
      switch key {
      case .timeout: values.timeouts[index] = try key.duration(value)
      case .allowFailure: values.tolerances[index] = try key.tolerance(value)
      case .maxParallel:
        values.limits[index] = try key.count(value, in: 1...WorkflowLimits.maxParallel)
      case .retryMax:
        let count = try key.count(value, in: 0...WorkflowLimits.retries)
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
      throw ExpressionFault(error, expression.range)
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
  /// Whether it says for which elements something is run.
  fileprivate var saysElements: Bool {
    switch site {
    case .elements, .axis, .include, .exclude: true
    default: false
    }
  }
}

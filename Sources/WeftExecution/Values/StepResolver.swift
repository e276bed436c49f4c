import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExpressions
import WeftPlanning

/// Evaluates the expressions of a step when it starts.
struct StepResolver {
  let values: RunValues
  let instance: Instance
  private var plan: Plan { values.plan }

  init(_ values: RunValues, in instance: Instance) {
    self.values = values
    self.instance = instance
  }

  /// Whether the step or its enclosing groups have expressions.
  static func isNeeded(ofStep index: Int, in plan: Plan) -> Bool {
    !plan.values.texts(ofStep: index).isEmpty
      || plan.values.haveTexts(groupsAround: plan.steps[index].group, in: plan)
  }

  /// Evaluates the expressions of a step.
  ///
  /// - Parameter resolved: The step as written; its expressions are replaced by values.
  /// - Returns: The reason why the step cannot start if an expression could not be evaluated.
  func resolve(_ index: Int, attempt: Int, _ resolved: inout ResolvedStep) -> StepFailure? {
    guard StepResolver.isNeeded(ofStep: index, in: plan) else { return nil }
    let (step, texts) = (plan.steps[index], plan.values.texts(ofStep: index))
    var parts = resolved.parts
    defer { resolved.parts = parts }
    do throws(StepFailure) {
      try resolve(texts, of: step, at: index, attempt: attempt, &parts)
      return nil
    } catch {
      // `allowFailure` also covers the step's own expressions.
      if let tolerance = try? tolerance(ofStep: index) { parts.step.allowFailure = tolerance }
      return error
    }
  }

  /// The resources that an attempt of a command requests; available before the attempt starts.
  func resources(ofStep index: Int, attempt: Int) throws(StepFailure) -> Command.Resources? {
    var step = plan.steps[index].step
    var scope = StepScope(
      values: values, instance: instance, group: plan.steps[index].group, attempt: attempt)
    for text in plan.values.texts(ofStep: index) {
      guard case .computed(let key) = text.site, key.isResource,
        let expression = text.template.onlyExpression
      else { continue }
      if expression.readsVariables { scope.variables = try variables(ofStep: index) }
      try text.evaluated(in: plan) { (_) throws(ExpressionError) in
        try expression.value(in: scope) { (value) throws(EvaluationError) in
          try step.set(key, to: value)
        }
      }
    }
    return step.action.command?.resources
  }

  /// The failures of a step that are tolerated; available even if other texts of the step cannot be evaluated.
  func tolerance(ofStep index: Int) throws(StepFailure) -> FailureTolerance {
    let step = plan.steps[index]
    guard
      let (text, expression) = plan.values.texts(ofStep: index)
        .expression(at: .computed(.allowFailure))
    else { return step.allowFailure }
    var scope = StepScope(values: values, instance: instance, group: step.group)
    if expression.readsVariables { scope.variables = try variables(ofStep: index) }
    return try text.evaluated(in: plan) { (_) throws(ExpressionError) in
      try expression.value(in: scope, ComputedKey.allowFailure.tolerance)
    }
  }

  private func resolve(
    _ texts: ArraySlice<PlannedText>, of step: PlannedStep, at index: Int, attempt: Int,
    _ resolved: inout ResolvedStep.Parts
  ) throws(StepFailure) {
    var scope = StepScope(values: values, instance: instance, group: step.group, attempt: attempt)
    if step.kind.rules.hasSettings { try resolveGroups(around: step, &resolved) }
    let own = try variables(step.settings.environment, texts, scope)
    resolved.step.settings.environment = own.mapValues { $0?.text }
    resolved.recordSecrets(in: own)
    scope.variables = own
    var expansions: [TextSite: [String]] = [:]
    for text in texts {
      try text.evaluated(in: plan) { (_) throws(ExpressionError) in
        try resolve(text, in: scope, &resolved, &expansions)
      }
    }
    try resolveScript(ofStep: index, texts, scope, &resolved)
    if expansions.isEmpty { return }
    if case .program(let arguments)? = resolved.step.action.command?.invocation {
      let expanded = expansions.expanded(arguments, TextSite.argument)
      guard expanded.first?.isEmpty == false else { throw .noProgram }
      resolved.step.action.command?.invocation = .program(expanded)
      let counts = arguments.indices.map { expansions[.argument($0)]?.count ?? 1 }
      if counts.contains(where: { $0 != 1 }) { resolved.argumentCounts = counts }
    }
    if let caching = resolved.step.action.command?.caching {
      resolved.step.action.command?.caching?.inputs =
        expansions.expanded(caching.inputs, TextSite.cacheInput)
      resolved.step.action.command?.caching?.outputs =
        expansions.expanded(caching.outputs, TextSite.cacheOutput)
    }
  }

  private func resolve(
    _ text: PlannedText, in scope: StepScope, _ resolved: inout ResolvedStep.Parts,
    _ expansions: inout [TextSite: [String]]
  ) throws(ExpressionError) {
    switch text.site {
    case .name, .variable, .script, .output: break
    // Evaluated at other times: before the step is resolved, or after it has ended.
    case .condition, .retryCondition, .elements, .elementKey, .axis, .include, .exclude, .waiting,
      .message, .concurrencyKey, .state:
      break
    case .http(let site):
      try resolved.requestTexts.resolve(site, text.template, in: scope)
    case .parameter(let name):
      let evaluation = try text.template.evaluate(in: scope)
      if evaluation.isSecret { values.secrets.add(everyTextIn: evaluation.value) }
      resolved.step.action.call?.supply(name, evaluation.value.json)
    case .argument, .cacheOutput:
      expansions[text.site] = try text.template.arguments(in: scope).map {
        (value) throws(ExpressionError) in
        try open(value, text)
      }
    case .cacheInput:
      expansions[text.site] = try text.template.filePatterns(in: scope).map {
        (value) throws(ExpressionError) in
        try open(value, text)
      }
    case .workingDirectory:
      resolved.step.settings.workingDirectory = try open(text.template.text(in: scope), text)
    case .inputFile:
      resolved.step.action.command?.stdin = .file(try open(text.template.text(in: scope), text))
    case .input:
      let value = try text.template.optionalText(in: scope).map(values.secrets.registering)
      resolved.step.action.command?.stdin = value.map { .text($0.text) }
      resolved.inputIsSecret = value?.isSecret == true
    case .cacheKey:
      resolved.step.action.command?.caching?.key = try open(text.template.text(in: scope), text)
    case .probe:
      resolved.step.action.command?.service?.setAddress(
        try open(text.template.text(in: scope), text))
    case .computed(let key):
      guard let expression = text.template.onlyExpression else { break }
      try expression.value(in: scope) { (value) throws(EvaluationError) in
        try resolved.step.set(key, to: value)
      }
    }
  }

  /// Passes values to a script by variables, to which its text refers.
  private func resolveScript(
    ofStep index: Int, _ texts: ArraySlice<PlannedText>, _ scope: StepScope,
    _ resolved: inout ResolvedStep.Parts
  ) throws(StepFailure) {
    guard let script = plan.values.script(ofStep: index),
      let text = texts.first(at: .script)
    else { return }
    var counts: [Int] = []
    for variable in script.variables {
      let values = try text.evaluated(in: plan) { (_) throws(ExpressionError) in
        guard variable.isList else { return [try open(variable.expression.text(in: scope), text)] }
        let array = try variable.expression.evaluate(in: scope)
        return try variable.expression.texts(of: array).map { (value) throws(ExpressionError) in
          try open(value, text)
        }
      }
      counts.append(values.count)
      for (name, value) in zip(variable.names(ofValues: values.count), values) {
        resolved.evaluatedTexts.append((name, value))
      }
    }
    resolved.step.action.command?.invocation = .script(script.text(withValues: counts))
  }

  // MARK: Groups

  /// Evaluates the expressions of enclosing groups: their variables, and the innermost directory.
  private func resolveGroups(
    around step: PlannedStep, _ resolved: inout ResolvedStep.Parts
  ) throws(StepFailure) {
    var hasDirectory = step.hasWorkingDirectory
    for group in plan.enclosingGroups(ofGroup: step.group) {
      let texts = plan.values.texts(ofGroup: group)
      if texts.contains(where: \.site.isVariable) {
        let variables = try environment(ofGroup: group)
        resolved.groupEnvironments[group] = variables.mapValues { $0?.text }
        resolved.recordSecrets(in: variables)
      }
      guard !hasDirectory, plan.settings(ofGroup: group).workingDirectory != nil else { continue }
      hasDirectory = true
      guard let text = texts.first(at: .workingDirectory) else { continue }
      let scope = StepScope(values: values, instance: instance, group: group)
      resolved.step.settings.workingDirectory = try text.evaluated(in: plan) {
        (template) throws(ExpressionError) in
        try open(template.text(in: scope), text)
      }
    }
  }

  /// The variables that a group sets, evaluated.
  func environment(ofGroup group: Int) throws(StepFailure) -> [String: ScopedText?] {
    try instance.environment(ofGroup: group) { instance in
      Result { () throws(StepFailure) in
        let scope = StepScope(
          values: values, instance: instance, group: plan.layer(around: group),
          ownFile: plan.groups[group].file)
        return try StepResolver(values, in: instance).variables(
          plan.settings(ofGroup: group).environment, plan.values.texts(ofGroup: group), scope)
      }
    }.get()
  }

  /// The variables that a step itself sets, evaluated.
  func variables(ofStep index: Int) throws(StepFailure) -> [String: ScopedText?] {
    let step = plan.steps[index]
    return try variables(
      step.settings.environment, plan.values.texts(ofStep: index),
      StepScope(values: values, instance: instance, group: step.group))
  }

  /// The scope of a step's own expressions, with the variables that it sets.
  func scope(ofStep index: Int, attempt: Int = 1) throws(StepFailure) -> StepScope {
    var scope = StepScope(
      values: values, instance: instance, group: plan.steps[index].group, attempt: attempt)
    scope.variables = try variables(ofStep: index)
    return scope
  }

  /// The variables of one layer; their expressions read the enclosing layers.
  private func variables(
    _ written: [String: String?], _ texts: ArraySlice<PlannedText>, _ scope: StepScope
  ) throws(StepFailure) -> [String: ScopedText?] {
    var variables = written.mapValues { $0.map { ScopedText(text: $0) } }
    for text in texts {
      guard case .variable(let name) = text.site else { continue }
      let value = try text.evaluated(in: plan) { (template) throws(ExpressionError) in
        try template.optionalText(in: scope)
      }
      variables.updateValue(value.map(values.secrets.registering), forKey: name)
    }
    return variables
  }

  /// A value for a position that is publicly visible.
  private func open(_ value: ScopedText, _ text: PlannedText) throws(ExpressionError) -> String {
    guard value.isSecret else { return value.text }
    throw ExpressionError(
      .scope(
        code: "W0318", message: "it holds a secret, which cannot be used in \(text.site.key)",
        help: "pass it in \"env\" or \"stdin\""),
      SourceRange(start: 0, end: text.template.text.utf8.count))
  }
}

extension StepFailure {
  static let noProgram = StepFailure(
    classes: [.expression], message: "run cannot be computed: there is no program to run",
    help: "the first element of \"run\" must evaluate to the name of a program")
}

extension [TextSite: [String]] {
  /// The texts, with several in place of one that evaluated to an array.
  fileprivate func expanded(_ texts: [String], _ site: (Int) -> TextSite) -> [String] {
    texts.enumerated().flatMap { self[site($0.offset)] ?? [$0.element] }
  }
}

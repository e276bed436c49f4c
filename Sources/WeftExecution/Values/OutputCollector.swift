import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftJSON
import WeftPlanning

/// Evaluates the outputs of steps, groups and the run after they have succeeded.
struct OutputCollector {
  let values: RunValues
  let instance: Instance
  private var plan: Plan { values.plan }

  init(_ values: RunValues, in instance: Instance) {
    self.values = values
    self.instance = instance
  }

  /// The outputs of a step.
  ///
  /// - Parameters:
  ///   - own: The result of the step without its outputs.
  ///   - written: The outputs that its program wrote to the output file.
  func outputs(
    ofStep index: Int, own: NodeValues, written: [OutputValue] = [], attempt: Int
  ) throws(StepFailure) -> [OutputValue] {
    let step = plan.steps[index]
    var scope = try StepResolver(values, in: instance).scope(ofStep: index, attempt: attempt)
    scope.own = (own, step.address)
    return try outputs(
      step.step.outputs, plan.values.texts(ofStep: index), written: written, in: scope)
  }

  /// The outputs of a group.
  func outputs(ofGroup index: Int, own: NodeValues) throws(StepFailure) -> [OutputValue] {
    let group = plan.groups[index]
    guard let step = group.step, let address = group.address else { return [] }
    var scope = StepScope(values: values, instance: instance, group: index)
    scope.own = (own, address)
    return try outputs(step.outputs, plan.values.texts(ofGroup: index), in: scope)
  }

  /// The outputs of the workflow.
  func outputsOfRun() throws(StepFailure) -> [OutputValue] {
    try outputs(
      plan.workflow.outputs, plan.values.texts(ofGroup: 0),
      in: StepScope(values: values, instance: instance, group: 0))
  }

  /// The next state of the workflow, by name.
  func nextState() throws(StepFailure) -> JSONObject {
    let scope = StepScope(values: values, instance: instance, group: 0)
    let texts = plan.values.texts(ofGroup: 0)
    var state: [(String, JSONValue)] = []
    for variable in plan.workflow.state {
      let name = variable.name.text
      let next = try value(of: variable.value, .state(name), texts, in: scope)
      let json = next.value.json
      if next.isSecret || values.secrets.mask.reveals(json) {
        throw StepFailure(
          classes: [.output], message: "state \"\(name)\" is not kept: its value contains a secret",
          help: "compute it from values that are not secret")
      }
      try check(next, "state \"\(name)\"", variable.value, by: variable.schema)
      state.append((name, json))
    }
    return JSONObject(state)
  }

  private func outputs(
    _ declarations: [OutputDeclaration], _ texts: ArraySlice<PlannedText>,
    written: [OutputValue] = [],
    in scope: StepScope
  ) throws(StepFailure) -> [OutputValue] {
    var outputs: [OutputValue] = []
    outputs.reserveCapacity(declarations.count)
    for declaration in declarations {
      if let output = try output(declaration, texts, written, scope) { outputs.append(output) }
    }
    return outputs
  }

  private func output(
    _ declaration: OutputDeclaration, _ texts: ArraySlice<PlannedText>, _ written: [OutputValue],
    _ scope: StepScope
  ) throws(StepFailure) -> OutputValue? {
    guard let text = declaration.value else {
      return written.first { $0.name == declaration.name }
    }
    let evaluation = try value(of: text, .output(declaration.name), texts, in: scope)
    let output = OutputValue(
      name: declaration.name, value: evaluation.value,
      isSecret: evaluation.isSecret || declaration.isSecret)
    let value = ScopedValue(output.value, isSecret: output.isSecret)
    try check(
      value, "output \"\(output.name)\"", text, by: declaration.schema ?? ValueSchema(),
      secretBytes: declaration.isSecret ? OutputFile.secretBytes(of: output.value.json) : nil)
    return registering(output)
  }

  /// The value of a text, which may contain expressions.
  private func value(
    of text: String, _ site: TextSite, _ texts: ArraySlice<PlannedText>, in scope: StepScope
  ) throws(StepFailure) -> ScopedValue {
    guard let planned = texts.first(at: site) else {
      return ScopedValue(.string(text))
    }
    return try planned.value(in: scope, errorClass: .output)
  }

  /// Returns an output unchanged. If it is secret, it is masked from now on wherever it is shown.
  func registering(_ output: OutputValue) -> OutputValue {
    if output.isSecret { values.secrets.add(everyTextIn: output.value) }
    return output
  }

  private func check(
    _ value: ScopedValue, _ subject: String, _ text: String, by schema: ValueSchema,
    secretBytes: ClosedRange<Int>? = nil
  ) throws(StepFailure) {
    let json = value.value.json
    guard let fault = schema.faults(of: json, secretBytes: secretBytes).first else { return }
    throw StepFailure(
      classes: [.output], message: fault.message(about: subject, isSecret: value.isSecret),
      help: reading(value.value, of: text, by: schema) ?? fault.help(isSecret: value.isSecret))
  }

  /// The remedy for a string that would be valid if it were read as JSON, because programs write text.
  private func reading(
    _ value: ExpressionValue, of text: String, by schema: ValueSchema
  ) -> String? {
    guard case .string(let string) = value, !schema.faults(of: value.json).isEmpty,
      let parsed = try? ExpressionValue.json(string, from: ""),
      schema.faults(of: parsed.json).isEmpty,
      let expression = Template.parse(text).onlyExpression
    else { return nil }
    return "parse the string: ${{ fromJSON(\(expression.text)) }}"
  }
}

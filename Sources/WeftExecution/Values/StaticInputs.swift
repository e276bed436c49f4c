import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftPlanning

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
        .attempt(1), of: PlanRegion(allOf: plan), in: around.scope.instance, firstInstance: 0,
        firstScope: 0, scope: 0)
      instance.supply(.success(RunInputs(known)), toFile: index)
      files.append(
        StaticInputs(
          scope: StepScope(values: values, instance: instance, ownFile: index), inputs: known))
    }
    return files
  }

  /// Whether a text of the file reads only known values.
  func decides(_ text: PlannedText, hasRun: Bool) -> Bool {
    text.template.expressions.allSatisfy { expression in
      expression.references.allSatisfy { reference in
        switch reference.valueContext {
        case .inputs:
          reference.names.count > 1 && inputs.entry(named: reference.names[1].text) != nil
        case .workflow: true
        case .run: hasRun
        case .env, .secrets, .steps, .itself, .item, .index, .matrix, nil: false
        }
      }
    }
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
          .compactMap { parameter in texts.first { $0.site == .parameter(parameter.name) } }
        guard reads.allSatisfy({ decides($0, hasRun: hasRun) }) else { return nil }
        return (try? giving.inputs())?.entries.first
      })
  }
}

import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftJSON
import WeftPlanning

/// The inputs of a nested workflow.
extension RunEngine {
  /// Evaluates the inputs of the file that a group runs, each time it runs. Other groups have none.
  ///
  /// - Returns: The reason why the file cannot be run.
  @discardableResult
  func giveInputs(to task: GroupTask) -> StepFailure? {
    guard let file = plan.file(runByGroup: task.index),
      case .workflow(let nested)? = plan.groups[task.index].step?.action
    else { return nil }
    let giving = InputGiving(
      to: plan.files[file].workflow.inputs, nested, plan.values.texts(ofGroup: task.index),
      of: plan,
      in: StepScope(
        values: values, instance: task.instance, group: plan.groups[task.index].parent))
    do throws(StepFailure) {
      let inputs = try giving.inputs()
      secrets.add(secretsIn: inputs)
      task.instance.supply(.success(RunInputs(inputs)), toFile: file)
      return nil
    } catch {
      task.instance.supply(.failure(error), toFile: file)
      return error
    }
  }
}

/// Combines the inputs that a file declares with the values given to it.
struct InputGiving {
  private let declarations: [InputDeclaration]
  private let nested: NestedWorkflow
  private let texts: ArraySlice<PlannedText>
  private let plan: Plan
  private let scope: StepScope

  init(
    to declarations: [InputDeclaration], _ nested: NestedWorkflow, _ texts: ArraySlice<PlannedText>,
    of plan: Plan, in scope: StepScope
  ) {
    self.declarations = declarations
    self.nested = nested
    self.texts = texts
    self.plan = plan
    self.scope = scope
  }

  /// - Throws: The first failure to evaluate or validate an input; it contains nothing secret.
  func inputs() throws(StepFailure) -> InputValues {
    var entries: [InputValues.Entry] = []
    for declaration in declarations {
      let isGiven = { InputName($0) == declaration.name }
      guard let parameter = nested.parameters.first(where: { isGiven($0.name) }) else {
        if let value = declaration.defaultValue {
          entries.append(.init(declaration.name, value, isSecret: declaration.isSecret))
        }
        continue
      }
      let (value, isSecret) = try value(of: parameter)
      if let fault = declaration.schema.faults(of: value, secretBytes: declaration.secretBytes)
        .first
      {
        let hides = isSecret || declaration.isSecret
        throw StepFailure(
          classes: [.expression],
          message: fault.message(about: "with.\(parameter.name)", isSecret: hides)
            + " (input of \(nested.path))",
          help: fault.help(isSecret: hides))
      }
      entries.append(.init(declaration.name, value, isSecret: isSecret || declaration.isSecret))
    }
    return InputValues(entries)
  }

  private func value(
    of parameter: Parameter
  ) throws(StepFailure) -> (value: JSONValue, isSecret: Bool) {
    switch parameter.value {
    case .value(let value): return (value, false)
    case .text(let written):
      guard let text = texts.first(at: .parameter(parameter.name)) else {
        return (.string(written), false)
      }
      let evaluation = try text.value(in: scope)
      return (evaluation.value.json, evaluation.isSecret)
    }
  }
}

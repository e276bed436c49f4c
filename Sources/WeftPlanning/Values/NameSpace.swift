import WeftDefinition
import WeftDiagnostics
import WeftExpressions

/// The names of one file: its inputs, secrets and steps.
struct NameSpace {
  struct Input {
    let knowledge: ValueNames.Knowledge
    let schema: ValueSchema

    init(_ declaration: InputDeclaration) {
      schema = declaration.schema
      knowledge = .init(type: ExpressionType(schema), isSecret: declaration.isSecret)
    }
  }

  let workflow: Workflow
  let steps: StepNames
  let inputNames: [String]
  let secretNames: [String]
  /// Inputs whose values are known only during the run, because their expressions depend on steps.
  let lateInputs: Set<InputName>
  /// Finds the closest name to a mistyped one.
  var nearestInput: Suggestions
  var nearestStep: Suggestions
  /// The inputs, by their names in lower case.
  private let inputs: [String: Input]

  init(_ file: Int, of outline: Outline, _ steps: StepNames, late lateInputs: Set<InputName>) {
    workflow = outline.files[file].workflow
    self.steps = steps
    self.lateInputs = lateInputs
    inputs = Dictionary(workflow.inputs.map { ($0.name.folded, Input($0)) }) { first, _ in first }
    let inputNames = workflow.inputs.map(\.name.text)
    self.inputNames = inputNames
    secretNames = workflow.secrets.map(\.name.text)
    nearestInput = Suggestions { inputNames }
    nearestStep = Suggestions(outline, file: file)
  }

  func input(named name: String) -> Input? { inputs[name] ?? inputs[InputName.folded(name)] }

  var hasSecretInputs: Bool { workflow.inputs.contains(where: \.isSecret) }
}

extension NameSpace {
  /// The name spaces of all files of an outline.
  static func all(
    of outline: Outline, _ names: [StepNames], _ texts: PlannedTexts
  ) -> [NameSpace] {
    var late: [Set<InputName>] = []
    for file in outline.files {
      guard let caller = file.caller else {
        late.append([])
        continue
      }
      let around = late[outline.groups[caller].file]
      late.append(Set(texts.texts(ofGroup: caller).compactMap { $0.lateParameter(amid: around) }))
    }
    return outline.files.indices.map { NameSpace($0, of: outline, names[$0], late: late[$0]) }
  }
}

extension ExpressionNode {
  fileprivate var hashesFiles: Bool {
    var hashes = false
    visit { if case .call(.hashFiles, _) = $0.form { hashes = true } }
    return hashes
  }
}

extension PlannedText {
  /// The input that it sets, if the value is not known before the run.
  ///
  /// - Parameter late: The inputs of its own file whose values are not known before the run.
  fileprivate func lateParameter(amid late: Set<InputName>) -> InputName? {
    guard case .parameter(let name) = site else { return nil }
    let isEarly = template.expressions.allSatisfy { expression in
      !expression.root.hashesFiles
        && expression.references.allSatisfy { reference in
          switch reference.valueContext {
          case .inputs:
            late.isEmpty
              || reference.names.count > 1
                && InputName(reference.names[1].text).map { !late.contains($0) } ?? true
          case .run, .workflow: true
          case .env, .secrets, .steps, .itself, .item, .index, .matrix, nil: false
          }
        }
    }
    return isEarly ? nil : InputName(name)
  }
}

package import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftJSON

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
  fileprivate var readsFiles: Bool {
    var reads = false
    visit { if case .call(let function, _) = $0.form, function.readsFiles { reads = true } }
    return reads
  }
}

extension PlannedText {
  /// The input that it sets, if the value is not known before the run.
  ///
  /// - Parameter late: The inputs of its own file whose values are not known before the run.
  fileprivate func lateParameter(amid late: Set<InputName>) -> InputName? {
    guard case .parameter(let name) = site else { return nil }
    let isEarly = template.expressions.allSatisfy { expression in
      !expression.root.readsFiles
        && expression.references.allSatisfy { reference in
          switch reference.valueContext {
          case .inputs:
            late.isEmpty
              || reference.names.count > 1
                && InputName(reference.names[1].text).map { !late.contains($0) } ?? true
          case .run, .workflow: true
          case .env, .secrets, .steps, .itself, .item, .index, .matrix, .state, nil: false
          }
        }
    }
    return isEarly ? nil : InputName(name)
  }
}

/// The members of `run` in expressions.
package enum RunField: String, Sendable, Hashable, CaseIterable {
  case id, attempt, dir, args, failures
}

extension ContextReference {
  /// Whether it reads a member of `run`. As a whole, `run` has no failures.
  package func reads(_ field: RunField) -> Bool {
    guard valueContext == .run else { return false }
    return names.count > 1 ? names[1].text == field.rawValue : field != .failures
  }
}

/// The members of `workflow` in expressions.
package enum WorkflowField: String, Sendable, Hashable, CaseIterable {
  case name, file
}

/// The contexts of expressions.
package enum ValueContext: String, Sendable, Hashable, CaseIterable {
  case inputs, env, secrets, steps
  case itself = "self"
  case item, index, matrix
  case run, workflow, state
}

/// Words of the language, compared by their bytes: they are looked up for every reference, and comparing `String`s
/// takes ten times as long.
struct NamedWords<Word: RawRepresentable<String> & CaseIterable & Sendable>: Sendable {
  private let words: [(bytes: [UInt8], word: Word)]
  private let ignoresCase: Bool

  /// - Parameter ignoresCase: Whether uppercase ASCII letters match, too; the words are in lower case.
  init(ignoresCase: Bool) {
    words = Word.allCases.map { (Array($0.rawValue.utf8), $0) }
    self.ignoresCase = ignoresCase
  }

  func word(named name: String) -> Word? {
    var name = name
    return name.withUTF8 { bytes in
      for (candidate, word) in words
      where candidate.count == bytes.count && matches(bytes, candidate) {
        return word
      }
      return nil
    }
  }

  private func matches(_ bytes: UnsafeBufferPointer<UInt8>, _ word: [UInt8]) -> Bool {
    for index in bytes.indices where bytes[index] != word[index] {
      let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[index])
      guard ignoresCase, isUpper, bytes[index] | 0x20 == word[index] else { return false }
    }
    return true
  }
}

extension ValueContext {
  /// The context with a name; contexts are case-insensitive.
  static func named(_ name: String) -> ValueContext? { words.word(named: name) }

  private static let words = NamedWords<ValueContext>(ignoresCase: true)
}

extension StepField {
  package static func named(_ name: String) -> StepField? { words.word(named: name) }

  private static let words = NamedWords<StepField>(ignoresCase: false)
}

extension ExpressionType {
  /// The type of the values that a schema allows.
  init(_ schema: ValueSchema) {
    if let constant = schema.constant {
      self.init(of: ExpressionValue(constant))
    } else if !schema.allowed.isEmpty {
      self = .union(schema.allowed.map { ExpressionType(of: ExpressionValue($0)) })
    } else if schema.types.isEmpty {
      self = .any
    } else {
      self = .union(schema.types.map { ExpressionType($0, schema) })
    }
  }

  private init(_ type: ValueType, _ schema: ValueSchema) {
    switch type {
    case .string: self = .string
    case .number, .integer: self = .number
    case .boolean: self = .boolean
    case .null: self = .null
    case .array:
      guard case .matching(let element) = schema.array.elements else {
        self = .array(of: .any)
        return
      }
      self = .array(of: ExpressionType(element))
    case .object:
      let rest: ExpressionType? =
        switch schema.object.additional {
        case .anything: .any
        case .nothing: nil
        case .matching(let schema): ExpressionType(schema).orNull
        }
      self = .object(
        schema.object.properties.map { property in
          let type = ExpressionType(property.schema)
          let isRequired = schema.object.required.contains(property.name)
          return (property.name, isRequired ? type : type.orNull)
        }, rest: rest)
    }
  }
}

extension ValueSchema {
  /// The schema of an object's member.
  func member(_ name: String) -> ValueSchema {
    if let property = object.properties.first(where: { $0.name == name }) { return property.schema }
    guard case .matching(let schema) = object.additional else { return ValueSchema() }
    return schema
  }

  /// Whether it allows a string, or an array with one, whose beginning no rule restricts.
  var mayBeginWithDash: Bool {
    guard text.pattern == nil, allowed.isEmpty, constant == nil else { return false }
    guard !types.isEmpty, !types.contains(.string) else { return true }
    guard types.contains(.array) else { return false }
    guard case .matching(let element) = array.elements else { return true }
    return element.mayBeginWithDash
  }
}

import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftJSON
import WeftPlanning

extension InputDeclaration {
  /// A value that fits, in place of one that is not known; `nil` if none was found.
  var placeholder: JSONValue? {
    schema.example(text: isSecret ? SecretSubstitute.text : "x", secretBytes: secretBytes)
  }
}

/// The result in a case instead of one that held a secret, which is not recorded.
enum SecretSubstitute {
  static let text = "not-a-real-secret"

  /// A value that a schema allows, as far as one is found.
  ///
  /// - Parameter count: The number of elements, if it is the list of a loop.
  static func value(for schema: ValueSchema?, count: Int? = nil) -> JSONValue {
    guard let count else { return schema?.example(text: text) ?? .string(text) }
    if let constant = schema?.constant ?? schema?.allowed.first { return constant }
    var element: ValueSchema?
    if case .matching(let schema)? = schema?.array.elements { element = schema }
    // Elements of which no two are the same, if they are texts.
    return .array(
      (0..<count).map { index in
        let text = index == 0 ? text : "\(text)-\(index + 1)"
        return element.map { $0.example(text: text) ?? .string(text) } ?? .string(text)
      })
  }

  /// JSON that has the text at each place that the step's own outputs read, and lists where loops read the outputs;
  /// `nil` if they read none.
  static func json(for step: PlannedStep, _ lists: SecretLists) -> JSONValue? {
    var value: JSONValue?
    for output in step.outputs {
      let template = Template.parse(output.value ?? "")
      for reference in template.expressions.flatMap(\.references)
      where reference.isOfContext("self") {
        let names = reference.names.map(\.text)
        let isWhole = template.onlyReference != nil
        guard names.count > (isWhole ? 1 : 2), names[1] == "json" else { continue }
        let leaf =
          isWhole
          ? self.value(for: output.schema, count: lists.count(of: output.name, of: step))
          : .string(text)
        value = adding(names[2...], leaf, to: value)
      }
    }
    return value
  }

  private static func adding(
    _ names: ArraySlice<String>, _ leaf: JSONValue, to value: JSONValue?
  ) -> JSONValue {
    guard let name = names.first else { return value ?? leaf }
    var object = JSONObject()
    if case .object(let earlier)? = value { object = earlier }
    object[name] = adding(names.dropFirst(), leaf, to: object[name])
    return .object(object)
  }
}

/// The secret lists of a run's loops: only the number of their elements is recorded.
struct SecretLists {
  /// The loops with such lists, in the order of their records.
  private(set) var loops: [StepAddress] = []
  /// The largest number of elements by the source of a list: a file, and a name such as `inputs.hosts`.
  private var counts: [Source: Int] = [:]
  private let plan: Plan

  private struct Source: Hashable {
    let file: Int
    let name: String
  }

  init(_ plan: Plan, _ recorded: RunState) {
    self.plan = plan
    let addresses = PlanAddresses(plan)
    for (address, group) in recorded.groups {
      guard let elements = group.elements, elements.isSecret else { continue }
      loops.append(address)
      let texts =
        addresses.step(at: address).map(plan.values.texts(ofStep:))
        ?? addresses.group(at: address).map(plan.values.texts(ofGroup:)) ?? []
      for text in texts where text.site == .elements {
        guard let names = text.template.onlyReference else { continue }
        let source = Source(file: text.file, name: names.joined(separator: "."))
        counts[source] = max(counts[source] ?? 0, elements.elements.count)
      }
    }
  }

  /// The number of elements of an input of the run; `nil` if no loop has it as its list.
  func count(ofInput name: String) -> Int? { counts[Source(file: 0, name: "inputs.\(name)")] }

  /// The number of elements of an output.
  func count(of output: String, of step: PlannedStep) -> Int? {
    guard let id = step.step.id else { return nil }
    let file = plan.groups[step.group].file
    return counts[Source(file: file, name: "steps.\(id).outputs.\(output)")]
  }
}

extension Template {
  /// The names of a reference, if it is the whole string.
  fileprivate var onlyReference: [String]? {
    guard case .reference(let reference)? = onlyExpression?.root.form else { return nil }
    return reference.names.map(\.text)
  }
}

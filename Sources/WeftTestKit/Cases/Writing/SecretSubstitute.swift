import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftJSON
import WeftPlanning

/// The result in a case instead of one that held a secret, which is not recorded.
enum SecretSubstitute {
  static let text = "not-a-real-secret"

  /// A value that a schema allows.
  ///
  /// - Parameter count: The number of elements, if it is the list of a loop.
  static func value(for schema: ValueSchema?, count: Int? = nil) -> JSONValue {
    guard let schema else { return count.map { list($0, of: nil) } ?? .string(text) }
    if let constant = schema.constant ?? schema.allowed.first { return constant }
    let array = schema.array
    var element: ValueSchema?
    if case .matching(let schema) = array.elements { element = schema }
    if let count { return list(count, of: element) }
    switch schema.types.first ?? .string {
    case .string: return .string(text)
    case .number, .integer: return .number(schema.number.minimum ?? JSONNumber(1))
    case .boolean: return .bool(true)
    case .null: return .null
    case .array: return list(max(1, array.count.least), of: element)
    case .object:
      let properties = schema.object.properties.map { ($0.name, value(for: $0.schema)) }
      let others = schema.object.required.filter { name in
        !properties.contains { $0.0 == name }
      }
      return .object(JSONObject(properties + others.map { ($0, .string(text)) }))
    }
  }

  /// Elements of which no two are the same, if they are texts.
  private static func list(_ count: Int, of schema: ValueSchema?) -> JSONValue {
    .array(
      (0..<count).map { index in
        let value = value(for: schema)
        return index > 0 && value == .string(text) ? .string("\(text)-\(index + 1)") : value
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

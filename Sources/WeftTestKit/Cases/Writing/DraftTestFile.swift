import WeftDefinition
import WeftExecution
import WeftJSON
package import WeftPlanning

/// A test file that is being made, with one case.
package struct DraftTestFile {
  /// Relative to the folder of the test file.
  private let workflow: String
  private let plan: Plan
  var name = "everything succeeds"
  var inputs: [(String, JSONValue)] = []
  /// The results of steps, one for each attempt, in the order of their first attempts.
  private(set) var steps: [(address: String, results: [JSONObject])] = []
  var expected: JSONObject = ["outcome": "success"]
  var skip: [String] = []
  var maxParallel: Int?
  var interruption: JSONObject?

  init(of plan: Plan, at workflow: String) {
    (self.plan, self.workflow) = (plan, workflow)
  }

  mutating func add(_ result: JSONObject, to address: String) {
    if let index = steps.firstIndex(where: { $0.address == address }) {
      steps[index].results.append(result)
    } else {
      steps.append((address, [result]))
    }
  }

  /// The text of the file.
  package var text: String {
    var test: JSONObject = ["name": .string(name)]
    if !inputs.isEmpty { test["inputs"] = .object(JSONObject(inputs)) }
    let secrets = Set(plan.usedSecrets.map(\.declaration.name.text)).sorted()
    if !secrets.isEmpty {
      test["secrets"] = .object(JSONObject(secrets.map { ($0, "not-a-real-secret") }))
    }
    if !skip.isEmpty { test["skip"] = .array(skip.map(JSONValue.string)) }
    if let maxParallel { test["maxParallel"] = .int(maxParallel) }
    if let interruption { test["interrupt"] = .object(interruption) }
    test["steps"] = .object(
      JSONObject(
        steps.map { step in
          let results = step.results.map(JSONValue.object)
          let isOne = results.allSatisfy { $0 == results[0] }
          return (step.address, isOne ? results[0] : .array(results))
        }))
    test["expect"] = .object(expected)
    var writer = JSONWriter(.pretty)
    writer.value([
      "workflow": .string(workflow), "cases": .array([.object(test)]),
    ])
    writer.endLine()
    return writer.text
  }

  /// A first case of a workflow, in which every step succeeds.
  ///
  /// - Parameter workflow: The path of its file, relative to that of the test file.
  package static func first(for plan: Plan, at workflow: String) -> DraftTestFile {
    var draft = DraftTestFile(of: plan, at: workflow)
    for input in plan.workflow.inputs where input.isRequired {
      draft.inputs.append((input.name.text, input.placeholder))
    }
    for shape in AddressShapes(of: plan).shapes where !shape.isGroup {
      guard case .step(let index) = plan.nodes[shape.node],
        let result = plan.steps[Int(index)].successfulResult
      else { continue }
      draft.add(result, to: shape.pattern.text)
    }
    return draft
  }
}

extension PlannedStep {
  /// The result of an attempt that succeeds; `nil` for a step that needs none.
  fileprivate var successfulResult: JSONObject? {
    switch kind {
    case .run:
      let written = outputs.filter { $0.value == nil }
      guard !written.isEmpty else { return [:] }
      return ["outputs": .object(JSONObject(written.map { ($0.name, $0.placeholder) }))]
    case .http: return ["http": ["status": 200]]
    case .use: return ["returns": nil]
    case .approve: return ["approve": true]
    case .wait, .compute, .workflow, .steps, .parallel, .race: return nil
    }
  }
}

extension OutputDeclaration {
  fileprivate var placeholder: JSONValue { schema?.placeholder ?? "" }
}

extension InputDeclaration {
  fileprivate var placeholder: JSONValue { schema.placeholder }
}

extension ValueSchema {
  /// A value of the first type that it allows; it may not fit the rest.
  fileprivate var placeholder: JSONValue {
    if let value = constant ?? allowed.first { return value }
    switch types.first {
    case .boolean?: return false
    case .integer?, .number?: return 1
    case .array?: return []
    case .object?: return [:]
    case .null?: return nil
    case .string?, nil: return "x"
    }
  }
}

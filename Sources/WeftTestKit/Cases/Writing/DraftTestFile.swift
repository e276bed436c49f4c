import WeftDefinition
import WeftExecution
import WeftJSON
import WeftPlanning

/// A test file that is being made, with one case.
struct DraftTestFile {
  /// Relative to the folder of the test file.
  private let workflow: String
  private let plan: Plan
  var name = "everything succeeds"
  var inputs: [(String, JSONValue)] = []
  var arguments: [String] = []
  var state: [(String, JSONValue)] = []
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

  mutating func replace(_ result: JSONObject, of address: String) {
    guard let index = steps.firstIndex(where: { $0.address == address }) else { return }
    steps[index].results = [result]
  }

  /// The text of the file.
  var text: String {
    var test: JSONObject = ["name": .string(name)]
    if !inputs.isEmpty { test["inputs"] = .object(JSONObject(inputs)) }
    if !arguments.isEmpty { test["args"] = .array(arguments.map(JSONValue.string)) }
    if !state.isEmpty { test["state"] = .object(JSONObject(state)) }
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
}

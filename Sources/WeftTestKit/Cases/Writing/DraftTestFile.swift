import WeftDefinition
import WeftExecution
import WeftJSON
import WeftPlanning

/// An engine of the run of a case that is being made.
struct DraftEngine {
  /// The time since the engine before it; `nil` for none.
  var pause: String?
  var rerun: [String] = []
  /// The effect on interrupted steps; `nil` for the default.
  var interrupted: String?
  /// In the order of their times.
  var interruptions: [JSONObject] = []
  /// The results of steps, one for each attempt, in the order of their first attempts.
  fileprivate(set) var steps: [(address: String, results: [JSONObject])] = []

  /// Whether it is gone before its end.
  fileprivate var crashes: Bool { interruptions.contains { $0["do"] == "crash" } }

  fileprivate var interrupt: JSONValue? {
    interruptions.count > 1
      ? .array(interruptions.map(JSONValue.object)) : interruptions.first.map(JSONValue.object)
  }

  fileprivate var results: JSONValue {
    .object(
      JSONObject(
        steps.map { step in
          let results = step.results.map(JSONValue.object)
          let isOne = results.allSatisfy { $0 == results[0] }
          return (step.address, isOne ? results[0] : .array(results))
        }))
  }

  /// The engine as one that resumes the run.
  fileprivate var resumption: JSONValue {
    var object: JSONObject = [:]
    if let pause { object["after"] = .string(pause) }
    if let interrupted { object["interrupted"] = .string(interrupted) }
    if !rerun.isEmpty { object["rerun"] = .array(rerun.map(JSONValue.string)) }
    object["interrupt"] = interrupt
    if !steps.isEmpty { object["steps"] = results }
    return object.members.isEmpty ? true : .object(object)
  }
}

/// A test file that is being made, with one case.
struct DraftTestFile {
  /// Relative to the folder of the test file.
  private let workflow: String
  private let plan: Plan
  var name = "everything succeeds"
  var inputs: [(String, JSONValue)] = []
  var arguments: [String] = []
  var state: [(String, JSONValue)] = []
  /// The first engine, and those that resume the run.
  private(set) var engines = [DraftEngine()]
  /// The last engine.
  var engine: DraftEngine {
    get { engines[engines.count - 1] }
    set { engines[engines.count - 1] = newValue }
  }
  var expected: JSONObject = ["outcome": "success"]
  var skip: [String] = []
  var maxParallel: Int?
  var onFailure: FailureResponse?
  var timeout: String?

  init(of plan: Plan, at workflow: String) {
    (self.plan, self.workflow) = (plan, workflow)
  }

  /// Adds an engine that resumes the run.
  mutating func resume(_ engine: DraftEngine) { engines.append(engine) }

  /// Lets a step that the journal does not know start under an engine that crashes, and the next one run it again: its
  /// start under the first one has no effect.
  ///
  /// - Returns: Whether the engine crashes.
  mutating func ignoreStart(of address: StepAddress, under engine: Int) -> Bool {
    guard engines.indices.contains(engine + 1), engines[engine].crashes else { return false }
    engines[engine].steps.append((StepPattern.text(matching: address), [["never": true]]))
    engines[engine + 1].rerun.append(address.text)
    return true
  }

  /// Adds the result of an attempt under the last engine.
  mutating func add(_ result: JSONObject, to address: String) {
    if let index = engine.steps.firstIndex(where: { $0.address == address }) {
      engine.steps[index].results.append(result)
    } else {
      engine.steps.append((address, [result]))
    }
  }

  /// Changes the result of the last attempt of a step under the last engine.
  mutating func changeLast(of address: String, _ change: (inout JSONObject) -> Void) {
    guard let index = engine.steps.firstIndex(where: { $0.address == address }) else { return }
    change(&engine.steps[index].results[engine.steps[index].results.count - 1])
  }

  mutating func replace(_ result: JSONObject, of address: String) {
    guard let index = engine.steps.firstIndex(where: { $0.address == address }) else { return }
    engine.steps[index].results = [result]
  }

  /// The text of the file.
  var text: String {
    var test: JSONObject = ["name": .string(name)]
    if !inputs.isEmpty { test["inputs"] = .object(JSONObject(inputs)) }
    if !arguments.isEmpty { test["args"] = .array(arguments.map(JSONValue.string)) }
    if !state.isEmpty { test["state"] = .object(JSONObject(state)) }
    let secrets = Set(plan.usedSecrets.map(\.declaration.name.text)).sorted()
    let variables = plan.values.variables.filter(EnvironmentPolicy.isKept).sorted()
    if !variables.isEmpty {
      test["env"] = .object(JSONObject(variables.map { ($0, "not-recorded") }))
    }
    if !secrets.isEmpty {
      test["secrets"] = .object(JSONObject(secrets.map { ($0, .string(SecretSubstitute.text)) }))
    }
    if !skip.isEmpty { test["skip"] = .array(skip.map(JSONValue.string)) }
    if let maxParallel { test["maxParallel"] = .int(maxParallel) }
    if let onFailure { test["onFailure"] = .string(onFailure.rawValue) }
    if let timeout { test["timeout"] = .string(timeout) }
    test["interrupt"] = engines[0].interrupt
    test["steps"] = engines[0].results
    let resumptions = engines.dropFirst().map(\.resumption)
    if let one = resumptions.first {
      test["resume"] = resumptions.count == 1 ? one : .array(resumptions)
    }
    test["expect"] = .object(expected)
    var writer = JSONWriter(.pretty)
    writer.value([
      "workflow": .string(workflow), "cases": .array([.object(test)]),
    ])
    writer.endLine()
    return writer.text
  }
}

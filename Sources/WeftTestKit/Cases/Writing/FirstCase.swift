package import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftJSON
package import WeftPlanning

/// A first case of a workflow, in which every step succeeds as far as placeholders can make it so.
///
/// A placeholder need not fit what later steps make of it: a list, a number, a path. So the case is run, and as long as
/// a step fails, other placeholders are tried for it and for the steps that it needs. The case expects whatever the
/// last run did, so the file passes as it is.
package struct FirstCase {
  private let plan: Plan
  private let path: String
  private var draft: DraftTestFile
  /// The required inputs for which no value that fits was found: the file is rejected until they have one.
  package private(set) var inputsToFill: [InputDeclaration] = []
  /// The placeholders of each step that needs one.
  private var choices: [Plan.NodeIndex: (address: String, results: [JSONObject])] = [:]

  /// - Parameters:
  ///   - workflow: The path of the workflow, relative to the folder of the test file.
  ///   - path: The path of the test file.
  package init(of plan: Plan, at workflow: String, for path: String) {
    (self.plan, self.path) = (plan, path)
    draft = DraftTestFile(of: plan, at: workflow)
    for input in plan.workflow.inputs where input.isRequired {
      let value = input.placeholder
      if value == nil { inputsToFill.append(input) }
      draft.inputs.append((input.name.text, value ?? "x"))
    }
    for shape in AddressShapes(of: plan).shapes where !shape.isGroup {
      guard case .step(let index) = plan.nodes[shape.node],
        let results = plan.steps[Int(index)].successfulResults
      else { continue }
      choices[shape.node] = (shape.pattern.text, results)
      draft.add(results[0], to: shape.pattern.text)
    }
  }

  /// The text of the file.
  package var text: String {
    var (draft, run) = (draft, run(draft))
    for _ in 0..<FirstCase.mostRounds {
      guard let record = run, score(record) < .max, let better = improved(draft, record) else {
        break
      }
      (draft, run) = (better.draft, better.run)
    }
    if let run { FirstCase.expect(run, in: &draft) }
    return draft.text
  }

  private static let (mostRounds, mostNeeded) = (100, 20)

  private static func expect(_ record: CaseRecord, in draft: inout DraftTestFile) {
    guard let outcome = record.outcome, outcome != .success else { return }
    draft.expected = ["outcome": .string(outcome.rawValue)]
    draft.name = "with placeholders"
    guard let cause = record.end?.firstFailure else { return }
    draft.expected["firstFailure"] = .string(cause.text)
    draft.name = "\(cause) fails with placeholders"
  }

  // MARK: Trials

  private func run(_ draft: DraftTestFile) -> CaseRecord? {
    LoadedTestFile(SourceFile(path: path, bytes: Array(draft.text.utf8)), at: path).firstRecord
  }

  /// The number of steps that succeeded.
  private func score(_ record: CaseRecord) -> Int {
    if record.fault == nil, record.outcome == .success { return .max }
    return record.steps.values.count { step in
      if case .finished(let end)? = step.state { end.outcome == .success } else { false }
    }
  }

  /// The draft with one other placeholder, if more steps succeed with that.
  private func improved(
    _ draft: DraftTestFile, _ record: CaseRecord
  ) -> (draft: DraftTestFile, run: CaseRecord?)? {
    guard let cause = record.end?.firstFailure else { return nil }
    let addresses = PlanAddresses(plan)
    let node =
      addresses.step(at: cause).map { plan.steps[$0].node }
      ?? addresses.group(at: cause).map { plan.groups[$0].startNode }
    guard let node else { return nil }
    for step in needed(by: node) {
      guard let choice = choices[step] else { continue }
      for result in choice.results {
        var trial = draft
        trial.replace(result, of: choice.address)
        guard let run = run(trial), score(run) > score(record) else { continue }
        return (trial, run)
      }
    }
    return nil
  }

  /// A node and those that it needs, the nearest first.
  private func needed(by node: Plan.NodeIndex) -> [Plan.NodeIndex] {
    var found = [node]
    var next = 0
    while next < found.count, found.count < FirstCase.mostNeeded {
      for dependency in plan.dependencies[found[next]].map(Int.init)
      where !found.contains(dependency) {
        found.append(dependency)
      }
      next += 1
    }
    return found
  }
}

extension PlannedStep {
  /// Results of an attempt that may succeed, the plainest first; `nil` for a step that needs none.
  fileprivate var successfulResults: [JSONObject]? {
    switch kind {
    case .run:
      let written = outputs.filter { $0.value == nil }
      let texts: [JSONObject] = ["[]", "{}", "[1]", "1", "/x"].map { ["stdout": .string($0)] }
      guard !written.isEmpty else { return [[:]] + texts }
      let values = JSONObject(written.map { ($0.name, $0.schema?.example() ?? "x") })
      return ([[:]] + texts).map { text in
        var result: JSONObject = ["outputs": .object(values)]
        result["stdout"] = text["stdout"]
        return result
      }
    case .http:
      let bodies: [JSONValue] = [[:], [], ["items": []], [["id": 1]]]
      return [["http": ["status": 200]]]
        + bodies.map { ["http": ["status": 200, "json": $0]] }
    case .use: return [["returns": nil]]
    case .approve: return [["approve": true]]
    case .wait, .compute, .workflow, .steps, .parallel, .race: return nil
    }
  }
}

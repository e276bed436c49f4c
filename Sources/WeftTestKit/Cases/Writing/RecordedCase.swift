import Weft
import WeftDefinition
package import WeftEvents
import WeftJSON
package import WeftPlanning

/// A case made from the journal of a run: each attempt gets the result that it had.
package struct RecordedCase {
  private var draft: DraftTestFile
  private let plan: Plan
  private var outcomes: [(address: String, expected: JSONValue)] = []
  private var begin: WallTime?
  /// The approvals that were asked for and not answered.
  private var asking: [StepAddress] = []

  /// - Parameter workflow: The path of the workflow, relative to that of the test file.
  package init(of run: RunID, _ plan: Plan, at workflow: String) {
    self.plan = plan
    draft = DraftTestFile(of: plan, at: workflow)
    draft.name = "as in run \(run)"
    draft.expected = [:]
  }

  /// The text of the file.
  package var text: String {
    var draft = draft
    for step in asking { draft.add(["never": true], to: step.text) }
    if !outcomes.isEmpty {
      draft.expected["steps"] = .object(JSONObject(outcomes.map { ($0.address, $0.expected) }))
    }
    return draft.text
  }

  /// Adds a record of the journal, in order.
  package mutating func take(_ record: RunRecord) {
    switch record.kind {
    case .opened(let opening):
      begin = begin ?? record.at
      open(opening)
    case .event(.runStarted(let start), _): draft.maxParallel = start.maxParallel
    case .event(.runCancelling(let reason), _) where reason.isFromOutside:
      let moment = begin.map { record.at.since($0) } ?? .zero
      draft.interruption = [
        "at": .string(RecordedCase.text(of: moment) ?? "0s"), "do": "cancel",
      ]
    case .event(.stepAsking(let step, _), _): if !asking.contains(step) { asking.append(step) }
    case .event(.stepRetrying(let step, let retry), _):
      add(step, retry.exit, retry.failure, after: retry.duration)
    case .event(.stepFinished(let step, let end), let values):
      asking.removeAll { $0 == step }
      add(step, end.exit, end.failure, after: end.duration, end, values)
      expect(step, end)
    case .event(.stepCached(let step, let end), let values):
      add(step, end.exit, nil, after: end.duration, end, values)
      expect(step, end)
    case .event(.stepSkipped(let step, let reason), _):
      let outcome = reason.outcome == .cancelled ? "cancelled" : "skipped"
      note(step, ["outcome": .string(outcome), "reason": .string(reason.caseWord)])
    case .event(.runFinished(let end), _): close(end)
    case .event(.runWaiting, _): draft.expected = ["outcome": "waiting", "exitCode": 75]
    case .event, .spawned, .kept, .listed, .groupSkipped, .outdated, .waiting: break
    }
  }

  private mutating func open(_ opening: RecordOpening) {
    guard opening.resumption == 0 else { return }
    // The value of a secret input is not recorded.
    draft.inputs = opening.inputs.map { ($0.name, $0.value ?? "not-a-real-secret") }
    draft.arguments = opening.arguments
    draft.state = opening.state.compactMap { state in state.value.map { (state.name, $0) } }
    draft.skip = opening.excluded.map(\.text)
  }

  private mutating func close(_ end: RunEnd) {
    draft.expected = ["outcome": .string(end.outcome.rawValue)]
    // A case cancels its run as `weft cancel` does, whatever signal it was.
    let isFromOutside = end.cancellation?.isFromOutside ?? false
    let code = ExitCode(of: end, isStrict: false, keptPromises: true).status
    draft.expected["exitCode"] = .int(isFromOutside ? 130 : Int(code))
    if let failure = end.firstFailure { draft.expected["firstFailure"] = .string(failure.text) }
    let outputs = end.outputs.compactMap { output in output.value.map { (output.name, $0) } }
    if !outputs.isEmpty { draft.expected["outputs"] = .object(JSONObject(outputs)) }
  }

  // MARK: Steps

  private func planned(_ address: StepAddress) -> PlannedStep? {
    let known = Set(plan.steps.map(\.address))
    let place = address.planned { known.contains($0) }
    return plan.steps.first { $0.address == place }
  }

  private mutating func expect(_ step: StepAddress, _ end: StepEnd) {
    let isTolerated = end.outcome == .failure && end.conclusion == .success
    var expected: JSONObject = [
      "outcome": .string(isTolerated ? "tolerated" : end.outcome.rawValue)
    ]
    if let reason = end.failure?.classes.first(where: \.isExpectable) {
      expected["reason"] = .string(reason.name)
    }
    if end.attempts > 1 { expected["attempts"] = .int(end.attempts) }
    note(step, expected)
  }

  private mutating func note(_ step: StepAddress, _ expected: JSONObject) {
    let value = expected.members.count == 1 ? expected["outcome"]! : .object(expected)
    if let index = outcomes.firstIndex(where: { $0.address == step.text }) {
      outcomes[index].expected = value
    } else {
      outcomes.append((step.text, value))
    }
  }

  private mutating func add(
    _ address: StepAddress, _ exit: ProgramExit?, _ failure: StepFailure?,
    after duration: Duration, _ end: StepEnd? = nil, _ values: RecordedValues = RecordedValues()
  ) {
    guard let step = planned(address) else { return }
    var result = RecordedCase.ending(exit, failure, end, of: step.kind)
    switch step.kind {
    case .run:
      if case .text(let text)? = values.stdout { result["stdout"] = .string(text + "\n") }
      if case .text(let text)? = values.stderr { result["stderr"] = .string(text + "\n") }
      let written = step.outputs.filter { $0.value == nil }.map(\.name)
      let outputs = (end?.outputs ?? []).filter { written.contains($0.name) }
      if !outputs.isEmpty {
        result["outputs"] = .object(
          JSONObject(outputs.map { ($0.name, $0.value ?? "not-a-real-secret") }))
      }
    case .use:
      if failure == nil, case .value(let value)? = values.returned { result["returns"] = value }
    case .http:
      if let response = RecordedCase.response(end, values) {
        result = ["http": .object(response)]
      }
    case .approve:
      if end?.approvedBy != nil { result = ["approve": true] }
    case .wait, .compute, .workflow, .steps, .parallel, .race: return
    }
    if let takes = RecordedCase.text(of: duration), result["never"] == nil, step.kind != .http {
      result["takes"] = .string(takes)
    }
    draft.add(result, to: address.text)
  }

  private static func ending(
    _ exit: ProgramExit?, _ failure: StepFailure?, _ end: StepEnd?, of kind: ActionKind
  ) -> JSONObject {
    if end?.outcome == .cancelled { return ["never": true] }
    let classes = failure?.classes ?? []
    if classes.contains(.timeout) || classes.contains(.stall) { return ["never": true] }
    if classes.contains(.rejected) { return ["approve": false] }
    switch exit {
    case .code(let code)? where code != 0 || classes.contains(.exit): return ["exit": .int(code)]
    case .signal(let name)?: return ["signal": .string(name)]
    default: break
    }
    // The failure of outputs follows from what the step wrote.
    guard let first = classes.first, first != .output, first != .expression else { return [:] }
    return ["fails": .string(first.name)]
  }

  private static func response(_ end: StepEnd?, _ values: RecordedValues) -> JSONObject? {
    guard let status = end?.http?.status else { return nil }
    var response: JSONObject = ["status": .int(status)]
    guard let answer = values.answer else { return response }
    let text = answer.collected ?? answer.body
    if case .text(let text)? = text {
      if answer.isJSON || answer.collected != nil, let json = try? JSONValue(text: text) {
        response["json"] = json
      } else {
        response["body"] = .string(text)
      }
    }
    if case .value(.object(let headers)) = answer.headers {
      let kept = headers.members.filter { $0.value.isText }
      if !kept.isEmpty {
        response["headers"] = .object(JSONObject(kept.map { ($0.key, $0.value) }))
      }
    }
    return response
  }

  /// A duration as the file writes it, in whole milliseconds; `nil` for less than one.
  private static func text(of duration: Duration) -> String? {
    let (seconds, attoseconds) = duration.components
    let rounded = Duration.milliseconds(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    return rounded < .milliseconds(1) ? nil : DurationText.text(of: rounded)
  }
}

extension CancelReason {
  fileprivate var isFromOutside: Bool {
    switch self {
    case .requested, .signal: true
    default: false
    }
  }
}

extension SkipReason {
  /// Its name in a case, whose run no signal ends.
  fileprivate var caseWord: String {
    if case .cancelled(let reason) = self, reason.isFromOutside {
      return CancelReason.requested.word
    }
    return word
  }
}

extension ErrorClass {
  fileprivate var isExpectable: Bool {
    ErrorClass(name) != nil || StepExpectation.reasons.contains(name)
  }
}

extension JSONValue {
  fileprivate var isText: Bool { if case .string = self { true } else { false } }
}

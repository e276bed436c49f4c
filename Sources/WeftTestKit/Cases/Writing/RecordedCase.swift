import Weft
import WeftDefinition
package import WeftEvents
import WeftJSON
package import WeftPlanning

/// A case made from the journal of a run: each attempt gets the result that it had.
package struct RecordedCase {
  private var draft: DraftTestFile
  private let plan: Plan
  private let addresses: PlanAddresses
  private let lists: SecretLists
  private var outcomes: [(address: String, expected: JSONValue)] = []
  /// The first record of the current engine.
  private var begin: WallTime?
  /// The first record of the run.
  private var first: RecordOpening?
  private var lastMoment: WallTime?
  /// The time from the first record of the current engine to the one that cancelled the run.
  private var cancelledAfter: Duration?
  /// The time until the last end of a step that the cancellation stopped.
  private var stoppedAfter: Duration?
  /// Whether the current engine ended or suspended the run.
  private var hasEnded = true
  /// Whether a failure has another effect under the current engine than under the first one.
  private var respondsOtherwise = false
  private var rerun: [StepAddress] = []
  /// The services that are ready.
  private var ready: Set<StepAddress> = []
  /// The attempts that have begun under the current engine and not ended.
  private var running: [StepAddress] = []
  /// The reason why no case can do what the run did: a sentence.
  private var obstacle: String?
  /// The approvals that were asked for and not answered.
  private var asking: [StepAddress] = []

  /// - Parameters:
  ///   - recorded: The state of the run at its end.
  ///   - workflow: The path of the workflow, relative to that of the test file.
  package init(of run: RunID, _ plan: Plan, _ recorded: RunState, at workflow: String) {
    self.plan = plan
    lists = SecretLists(plan, recorded)
    addresses = PlanAddresses(plan)
    draft = DraftTestFile(of: plan, at: workflow)
    draft.name = "as in run \(run)"
    draft.expected = [:]
  }

  /// Returns the text of the file. The case passes: it was run.
  ///
  /// - Parameters:
  ///   - path: The path of the test file.
  ///   - definition: The plan before the values of the run's inputs are known.
  /// - Throws: The reason why no case can do what the run did.
  package func text(at path: String, of definition: Plan) throws(Obstacle) -> String {
    if let obstacle { throw Obstacle(sentence: obstacle) }
    var draft = draft
    RecordedCase.endEngine(of: &draft, asking)
    if !outcomes.isEmpty {
      draft.expected["steps"] = .object(JSONObject(outcomes.map { ($0.address, $0.expected) }))
    }
    do throws(Obstacle) {
      return try TriedCase(draft, of: definition, at: path).passing().text
    } catch {
      guard let loop = lists.loops.first else { throw error }
      throw Obstacle(
        sentence: "the elements of the loop \"\(loop)\" are secret, so they are not recorded, and "
          + "with others \(error.sentence)")
    }
  }

  /// A reason why no case can do what a run did: a sentence.
  package struct Obstacle: Error {
    package let sentence: String
  }

  /// Adds a record of the journal, in order.
  package mutating func take(_ record: RunRecord) {
    defer { lastMoment = record.at }
    switch record.kind {
    case .opened(let opening): open(opening, at: record.at)
    case .event(.runStarted(let start), _):
      draft.maxParallel = draft.maxParallel ?? start.maxParallel
    case .event(.runCancelling(let reason), _) where reason.isFromOutside:
      cancelledAfter = time(of: record)
      interrupt("cancel", at: time(of: record))
    case .event(.stepAsking(let step, _), _): if !asking.contains(step) { asking.append(step) }
    case .event(.stepStarted(let step, _, _), _): running.append(step)
    case .event(.stepReady(let step, let end), let values):
      running.removeAll { $0 == step }
      ready.insert(step)
      add(step, end.exit, end.failure, after: end.duration, end, values)
    case .event(.stepRetrying(let step, let retry), _):
      running.removeAll { $0 == step }
      if ready.remove(step) != nil {
        return endEarly(step, retry.exit, retry.failure, after: retry.duration)
      }
      add(step, retry.exit, retry.failure, after: retry.duration)
    case .event(.stepFinished(let step, let end), let values):
      asking.removeAll { $0 == step }
      running.removeAll { $0 == step }
      if let reason = end.cancellation, reason.isFromOutside {
        stoppedAfter = time(of: record)
        noteKill(step)
      }
      expect(step, end)
      if end.failure?.classes.contains(.inDoubt) == true {
        // Its attempt was one of a killed engine.
        if end.conclusion == .success { draft.engine.interrupted = "skip" }
        return
      }
      guard ready.remove(step) == nil else {
        if end.outcome == .failure { endEarly(step, end.exit, end.failure, after: end.duration) }
        return
      }
      add(
        step, end.exit, end.failure, after: end.duration, end, values,
        stoppedAfter: cancelledAfter.map { time(of: record) - $0 })
    case .event(.stepCached(let step, let end), let values):
      reportMissingCleanup(of: step)
      // Its duration is that of the run that made it.
      add(step, end.exit, nil, after: .zero, end, values)
      expect(step, end)
    case .event(.stepSkipped(let step, let reason), _):
      if case .cancelled(let cancelled) = reason, cancelled.isFromOutside { noteKill(step) }
      let outcome = reason.outcome == .cancelled ? "cancelled" : "skipped"
      note(step, ["outcome": .string(outcome), "reason": .string(reason.caseWord)])
    case .event(.runFinished(let end), _):
      endEngine(isSuccess: end.outcome == .success)
      close(end)
    case .event(.runWaiting, _):
      endEngine(isSuccess: false)
      draft.expected = ["outcome": "waiting", "exitCode": 75]
    case .outdated(let steps):
      let texts = Set(steps.map(StepPattern.text))
      outcomes.removeAll { texts.contains($0.address) }
    case .event, .spawned, .kept, .listed, .groupSkipped, .waiting: break
    }
  }

  private mutating func open(_ opening: RecordOpening, at moment: WallTime) {
    if let first { return resume(opening, first, at: moment) }
    (first, begin, hasEnded) = (opening, moment, false)
    // The value of a secret input is not recorded.
    draft.inputs = opening.inputs.map { ($0.name, $0.value ?? placeholder(of: $0.name)) }
    draft.arguments = opening.arguments
    draft.state = opening.state.compactMap { state in state.value.map { (state.name, $0) } }
    draft.skip = opening.excluded.map(\.text)
    draft.onFailure = opening.onFailure
    draft.timeout = opening.timeout.flatMap(RecordedCase.text)
  }

  private mutating func placeholder(of input: String) -> JSONValue {
    let declared = plan.workflow.inputs.first { $0.name == InputName(input) }
    let count = lists.count(ofInput: input)
    guard let declared else { return SecretSubstitute.value(for: nil, count: count) }
    let value =
      count.map { SecretSubstitute.value(for: declared.schema, count: $0) } ?? declared.placeholder
    if let value, declared.schema.faults(of: value).isEmpty { return value }
    obstacle =
      obstacle
      ?? "the value of the secret input \"\(input)\" is not recorded, and no other value was found "
      + "that fits its declaration"
    return .string(SecretSubstitute.text)
  }

  private mutating func resume(
    _ opening: RecordOpening, _ first: RecordOpening, at moment: WallTime
  ) {
    if !hasEnded { crash() }
    if opening.hash != first.hash || opening.nested != first.nested {
      obstacle = obstacle ?? "its workflow was changed before the run was resumed"
    } else if opening.timeout != first.timeout {
      obstacle = obstacle ?? "it was resumed with another --timeout than it began with"
    }
    respondsOtherwise = opening.onFailure != first.onFailure
    RecordedCase.endEngine(of: &draft, asking)
    var engine = DraftEngine()
    engine.pause = lastMoment.flatMap { RecordedCase.text(of: moment.since($0)) }
    engine.rerun = opening.rerun.filter { !rerun.contains($0) }.map(\.text)
    draft.resume(engine)
    (begin, hasEnded, rerun, ready, asking) = (moment, false, opening.rerun, [], [])
    (running, cancelledAfter, stoppedAfter) = ([], nil, nil)
  }

  /// Ends an engine that was killed: after its last record, as far as the journal knows.
  private mutating func crash() {
    for step in running {
      guard let planned = addresses.step(at: step).map({ plan.steps[$0] }) else { continue }
      if planned.step.control.onInterrupted == .adopt {
        obstacle =
          obstacle ?? "the command of \"\(step)\" could outlive its engine, which no case can do"
      }
      guard [.run, .use, .http].contains(planned.kind) else { continue }
      draft.add(["never": true], to: StepPattern.text(matching: step))
    }
    // Times of the case are cut to milliseconds, so all that was recorded has happened by then.
    let last = begin.flatMap { begin in lastMoment?.since(begin) } ?? .zero
    interrupt("crash", at: last + .milliseconds(1))
  }

  private mutating func endEngine(isSuccess: Bool) {
    hasEnded = true
    guard respondsOtherwise, !isSuccess else { return }
    obstacle =
      obstacle ?? "an engine that resumed it had another -k or --fail-fast, and did not succeed"
  }

  /// Lets the approvals that are open at the end of an engine have no answer from it.
  private static func endEngine(of draft: inout DraftTestFile, _ asking: [StepAddress]) {
    for step in asking { draft.add(["never": true], to: StepPattern.text(matching: step)) }
  }

  /// Lets a service that was ready end by itself.
  private mutating func endEarly(
    _ service: StepAddress, _ exit: ProgramExit?, _ failure: StepFailure?, after duration: Duration
  ) {
    guard let exit, failure?.classes.contains(.timeout) != true else {
      obstacle =
        obstacle
        ?? "the service \"\(service)\" was ended after it was ready, which no result can do"
      return
    }
    draft.changeLast(of: StepPattern.text(matching: service)) { result in
      result["readyAfter"] = result["takes"] ?? "0s"
      result["takes"] = .string(RecordedCase.text(of: duration) ?? "0s")
      switch exit {
      case .code(let code): result["exit"] = .int(code)
      case .signal(let name): result["signal"] = .string(name)
      }
    }
  }

  /// A step that is restored from the cache in the run, but runs in the case, would be cleaned up there.
  private mutating func reportMissingCleanup(of step: StepAddress) {
    guard let index = addresses.step(at: step), plan.bodies.cleanups[plan.steps[index].node] != nil
    else { return }
    obstacle =
      obstacle ?? "the step \"\(step)\" was restored from the cache, and not cleaned up"
  }

  private mutating func close(_ end: RunEnd) {
    draft.expected = ["outcome": .string(end.outcome.rawValue)]
    // A case cancels its run as `weft cancel` does, whatever signal it was.
    let isFromOutside = end.cancellation?.isFromOutside ?? false
    let code = ExitCode(of: end, keptPromises: true).status
    draft.expected["exitCode"] = .int(isFromOutside ? 130 : Int(code))
    if let failure = end.firstFailure {
      draft.expected["firstFailure"] = .string(StepPattern.text(matching: failure))
    }
    let outputs = end.outputs.compactMap { output in output.value.map { (output.name, $0) } }
    if !outputs.isEmpty { draft.expected["outputs"] = .object(JSONObject(outputs)) }
  }

  // MARK: Interruptions

  /// The time since the first record of the current engine, in whole milliseconds.
  private func time(of record: RunRecord) -> Duration {
    begin.map { record.at.since($0).inMilliseconds } ?? .zero
  }

  private mutating func interrupt(_ act: String, at time: Duration) {
    draft.engine.interruptions.append([
      "at": .string(RecordedCase.text(of: time) ?? "0s"), "do": .string(act),
    ])
  }

  /// A cancelled run still cleans up. It does not any more if it is killed, of which there is no record.
  private mutating func noteKill(_ step: StepAddress) {
    guard draft.engine.interruptions.count == 1, let index = addresses.step(at: step),
      let time = stoppedAfter ?? cancelledAfter
    else { return }
    let isFinal = plan.allEnclosingGroups(ofGroup: plan.steps[index].group)
      .contains(where: plan.bodies.finallyGroups.contains)
    if isFinal || plan.bodies.cleanupSteps.contains(index) { interrupt("kill", at: time) }
  }

  // MARK: Steps

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
    let address = StepPattern.text(matching: step)
    if let index = outcomes.firstIndex(where: { $0.address == address }) {
      outcomes[index].expected = value
    } else {
      outcomes.append((address, value))
    }
  }

  private mutating func add(
    _ address: StepAddress, _ exit: ProgramExit?, _ failure: StepFailure?,
    after duration: Duration, _ end: StepEnd? = nil, _ values: RecordedValues = RecordedValues(),
    stoppedAfter: Duration? = nil
  ) {
    guard let step = addresses.step(at: address).map({ plan.steps[$0] }) else { return }
    var result = RecordedCase.ending(exit, failure, end, of: step.kind)
    switch step.kind {
    case .run:
      switch values.stdout {
      case .text(let text)?: result["stdout"] = .string(text + "\n")
      case .secret?:
        let json = SecretSubstitute.json(for: step, lists)?.description
        result["stdout"] = .string((json ?? SecretSubstitute.text) + "\n")
      case .tooLong?, .notUTF8?, nil: break
      }
      if case .text(let text)? = values.stderr { result["stderr"] = .string(text + "\n") }
      let outputs = (end?.outputs ?? []).compactMap { output in
        step.outputs.first { $0.value == nil && $0.name == output.name }.map { declared in
          let count = lists.count(of: output.name, of: step)
          let substitute = SecretSubstitute.value(for: declared.schema, count: count)
          return (output.name, output.value ?? substitute)
        }
      }
      if !outputs.isEmpty { result["outputs"] = .object(JSONObject(outputs)) }
    case .use:
      if failure == nil, case .value(let value)? = values.returned { result["returns"] = value }
    case .http:
      let exchange = RecordedExchange(of: step, end, failure, values, lists)
      if exchange?.hidesPages == true {
        obstacle =
          obstacle
          ?? "the step \"\(address)\" collects the items of its pages by an expression, and the "
          + "pages are not recorded"
      }
      if var response = exchange?.response {
        response["takes"] = RecordedCase.text(of: duration).map(JSONValue.string)
        result = ["http": .object(response)]
      } else if result.members.isEmpty, let first = failure?.classes.first {
        result["fails"] = .string(first.name)
      }
    case .approve:
      if end?.approvedBy != nil { result = ["approve": true] }
      // An answer would have come later.
      if result["never"] != nil {
        result = ["approve": true, "takes": .string(DurationText.text(of: RecordedCase.late))]
      }
    case .wait, .compute, .workflow, .steps, .parallel, .race: return
    }
    if let takes = RecordedCase.text(of: duration), result["http"] == nil, result["never"] == nil,
      result["takes"] == nil
    {
      result["takes"] = .string(takes)
    }
    if let stops = stoppedAfter.flatMap(RecordedCase.text), [.run, .use].contains(step.kind),
      result["never"] != nil, end?.cancellation?.isFromOutside == true
    {
      result["stopsAfter"] = .string(stops)
    }
    draft.add(result, to: StepPattern.text(matching: address))
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

  /// Longer than a question stays open.
  private static let late = Duration.seconds(365 * 86_400)

  /// A duration as the file writes it, in whole milliseconds; `nil` for less than one.
  private static func text(of duration: Duration) -> String? {
    let rounded = duration.inMilliseconds
    return rounded < .milliseconds(1) ? nil : DurationText.text(of: rounded)
  }
}

extension Duration {
  /// The duration without fractions of a millisecond.
  fileprivate var inMilliseconds: Duration {
    let (seconds, attoseconds) = components
    return .milliseconds(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
  }
}

extension CancelReason {
  fileprivate var isFromOutside: Bool {
    switch self {
    case .requested, .filesChanged, .signal: true
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

import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftJSON
import WeftPlanning

/// Compares what a run has done with what its case expects. Each difference is a diagnostic at the line of the
/// expectation.
struct CaseJudge {
  let file: TestFile
  let plan: Plan
  let record: CaseRecord
  private let addresses: PlanAddresses
  var mismatches: [Diagnostic] = []

  /// All differences; if the run itself made no sense, only why.
  static func mismatches(
    of record: CaseRecord, with testCase: TestCase, in file: TestFile, _ plan: Plan
  ) -> [Diagnostic] {
    var judge = CaseJudge(
      file: file, plan: plan, record: record, addresses: PlanAddresses(plan))
    judge.checkRun(testCase)
    guard judge.mismatches.isEmpty else { return judge.mismatches }
    let expected = testCase.expected
    judge.checkInterruptions()
    judge.compareRun(expected)
    for step in expected.steps { judge.compare(step) }
    judge.compareOrder(expected)
    judge.checkScripts(testCase)
    return judge.mismatches.sortedByLocation()
  }

  mutating func report(
    _ message: String, at range: SourceRange, help: String? = nil,
    code: String = CaseCode.notMet
  ) {
    mismatches.append(
      Diagnostic(.error, code: code, message: message, place: file.place(range), help: help))
  }

  // MARK: The run

  private mutating func checkRun(_ testCase: TestCase) {
    if record.isStopped {
      return report(
        "the case was interrupted by a signal", at: testCase.name.range, code: CaseCode.noEnd)
    }
    for unscripted in record.unscripted {
      report(
        "step \"\(unscripted.address)\" has no scripted result, and would \(unscripted.act)",
        at: testCase.name.range, help: unscripted.help, code: CaseCode.unscripted)
    }
    if record.unscripted.isEmpty, let fault = record.fault {
      report(fault, at: testCase.name.range, code: CaseCode.noEnd)
    }
  }

  /// Reports interruptions whose moments never came.
  private mutating func checkInterruptions() {
    for missed in record.missedInterruptions {
      report(
        "the run ended after \(shown(record.duration)); nothing was interrupted",
        at: missed.range)
    }
  }

  private mutating func compareRun(_ expected: TestExpectations) {
    if let outcome = expected.outcome, outcome.value != record.outcome {
      report(
        "the run \(runText), expected \(outcome.value.rawValue)", at: outcome.range)
    }
    if let code = expected.exitCode, Int32(code.value) != record.exitCode {
      report(
        "the exit code is \(record.exitCode), because the run \(runText), expected "
          + "\(code.value)", at: code.range)
    }
    if let duration = expected.duration, !duration.value.contains(record.duration) {
      report(
        "the run takes \(shown(record.duration)), expected \(duration.value.text)",
        at: duration.range)
    }
    if let cause = expected.firstFailure, record.end?.firstFailure?.text != cause.value {
      let found = record.end?.firstFailure.map { "\"\($0)\"" } ?? "no step"
      report("the first failure is that of \(found), expected \"\(cause.value)\"", at: cause.range)
    }
    compare(expected.outputs, with: record.end?.outputs ?? [], of: "the run")
  }

  /// The end of the run as a verb phrase.
  private var runText: String {
    if let pause = record.pause {
      return "waits for an answer to "
        + QuotedList(pause.requests.map(\.step.text), conjunction: "and").description
    }
    guard let end = record.end else { return "has no end" }
    switch end.outcome {
    case .success, .skipped: return "succeeded"
    case .cancelled: return "was cancelled (\(end.cancellation?.word ?? "requested"))"
    case .failure:
      if let failure = end.failure { return "failed (\(failure.message))" }
      return "failed" + (end.firstFailure.map { " because of \"\($0)\"\(why($0))" } ?? "")
    }
  }

  /// The message of a failure, as `weft run` prints it.
  private func why(_ address: StepAddress) -> String {
    var failure = record.groups[address]?.end?.failure
    switch record.steps[address]?.state {
    case .finished(let end)?, .restored(let end)?, .cached(let end)?:
      failure = end.failure ?? failure
    default: break
    }
    return failure.map { " (\($0.message))" } ?? ""
  }

  mutating func compare(
    _ expected: [Named<JSONValue>], with outputs: [ReportedOutput], of subject: String
  ) {
    for output in expected {
      guard let found = outputs.first(where: { $0.name == output.name }) else {
        report(
          "\(subject) has no output \"\(output.name)\", expected \(shown(output.value))",
          at: output.range,
          help: NearestName(outputs.map(\.name)).nearest(to: output.name).asSuggestion)
        continue
      }
      guard let value = found.value else {
        report(
          "output \"\(output.name)\" of \(subject) is secret, so it cannot be compared",
          at: output.range)
        continue
      }
      if !value.isSame(as: output.value) {
        report(
          "output \"\(output.name)\" of \(subject) is \(shown(value)), expected "
            + shown(output.value), at: output.range)
      }
    }
  }

  // MARK: Order

  private mutating func compareOrder(_ expected: TestExpectations) {
    for pattern in expected.neverStarts {
      checkElement(pattern)
      for address in matching(pattern.value) where !record.spans(of: address).isEmpty {
        report(
          "\(subject(address)) started after \(shown(record.spans(of: address)[0].start)), "
            + "expected that it never starts", at: pattern.range)
      }
    }
    for chain in expected.before {
      for (first, second) in zip(chain, chain.dropFirst()) { compare(first, before: second) }
    }
    for limit in expected.notBefore {
      for address in started(limit.name, limit.range) {
        let start = record.spans(of: address)[0].start
        guard start < limit.value else { continue }
        report(
          "\(subject(address)) started after \(shown(start)), expected not before "
            + shown(limit.value), at: limit.range)
      }
    }
    for limit in expected.atMostAtOnce {
      let holders = started(limit.name, limit.range).filter(holdsSlot)
      let most = mostAtOnce(holders)
      guard most.steps.count > limit.value else { continue }
      let names = shortList(most.steps.map { "\"\($0)\"" })
      report(
        "\(Count(most.steps.count, "step")) ran at once after \(shown(most.time)): \(names), "
          + "expected at most \(limit.value)", at: limit.range)
    }
  }

  private mutating func compare(_ first: Placed<String>, before second: Placed<String>) {
    let (earlier, later) = (
      allStarted(first.value, first.range), allStarted(second.value, second.range)
    )
    for early in earlier {
      guard let end = record.spans(of: early).last else { continue }
      for late in later where late != early {
        let start = record.spans(of: late)[0]
        guard end.last.map({ $0 > start.first }) ?? true else { continue }
        let ending = end.end.map { "ended after \(shown($0))" } ?? "did not end"
        report(
          "\(subject(late)) started after \(shown(start.start)), and \"\(early)\" \(ending), "
            + "expected \"\(early)\" to end before", at: second.range)
        return
      }
    }
  }

  /// The matching steps that started; if there is none, that is reported.
  private mutating func started(_ pattern: String, _ range: SourceRange) -> [StepAddress] {
    let found = matching(pattern).filter { !record.spans(of: $0).isEmpty }
    if found.isEmpty {
      report("\"\(pattern)\" never started", at: range, help: neighbours(pattern))
    }
    return found
  }

  /// The matching steps, all of which must have started.
  private mutating func allStarted(_ pattern: String, _ range: SourceRange) -> [StepAddress] {
    let found = started(pattern, range)
    guard !found.isEmpty else { return found }
    let idle = matching(pattern).first { record.spans(of: $0).isEmpty }
    if let idle, let end = record.end(of: idle) {
      report("\(subject(idle)) \(end.text), expected that it starts", at: range)
    }
    return found
  }

  /// A step or group in a message.
  func subject(_ address: StepAddress) -> String {
    "\(record.groups[address] == nil ? "step" : "group") \"\(address)\""
  }

  /// The elements that a loop had, as help for one that it did not have.
  func neighbours(_ pattern: String) -> String? {
    guard let element = StepAddress(pattern).innermostElement, let loop = element.loop else {
      return nil
    }
    let others = record.addresses.filter { $0.isInElement(of: loop) }.map { "\"\($0)\"" }
    return others.isEmpty ? nil : "the loop has \(shortList(others))"
  }

  func matching(_ text: String) -> [StepAddress] {
    let pattern = StepPattern(text)
    if pattern.isExact {
      let address = StepAddress(pattern.text)
      return record.steps[address] != nil || record.groups[address] != nil ? [address] : []
    }
    return record.addresses.filter { pattern.matches($0) }
  }

  /// Whether a step counts for `maxParallel`: neither a group or a loop, nor one that only waits, asks or computes.
  private func holdsSlot(_ address: StepAddress) -> Bool {
    guard record.groups[address] == nil, let step = addresses.step(at: address) else {
      return false
    }
    return CaseChecker.kindsWithSlots.contains(plan.steps[step].kind)
  }

  /// The most steps that ran at once, and the time at which they first did.
  private func mostAtOnce(_ steps: [StepAddress]) -> (steps: [StepAddress], time: Duration) {
    let spans = steps.flatMap { step in record.spans(of: step).map { (step: step, span: $0) } }
    let changes =
      spans.map { ($0.span.first, 1, $0.span.start) }
      + spans.compactMap { item in item.span.last.map { ($0, -1, Duration.zero) } }
    var (now, most, peak, time) = (0, 0, 0, Duration.zero)
    for (position, change, start) in changes.sorted(by: { $0.0 < $1.0 }) {
      now += change
      if now > most { (most, peak, time) = (now, position, start) }
    }
    let running = spans.filter { $0.span.first <= peak && ($0.span.last ?? .max) > peak }
    return (most > 0 ? running.map(\.step) : [], time)
  }

  // MARK: Scripts

  /// Reports scripts of single elements that a loop did not have although it ended.
  private mutating func checkScripts(_ testCase: TestCase) {
    for script in testCase.settings.steps {
      let pattern = StepPattern(script.pattern.value)
      guard pattern.isExact, !record.usedScripts.contains(script.pattern.value) else { continue }
      checkElement(script.pattern)
    }
  }

  /// Reports the address of a single element that its loop did not have although it ended.
  private mutating func checkElement(_ name: Placed<String>) {
    let pattern = StepPattern(name.value)
    guard pattern.isExact, let element = StepAddress(pattern.text).innermostElement,
      let loop = element.loop, let end = record.groups[loop]?.end, end.notStarted == nil,
      record.steps[element] == nil, record.groups[element] == nil,
      !record.addresses.contains(where: { $0.isInside(element) })
    else { return }
    let others = record.addresses.filter { $0.isInElement(of: loop) }
    report(
      "the loop \"\(loop)\" has no element \"\(element)\"", at: name.range,
      help: NearestName(others.map(\.text)).nearest(to: element.text).asSuggestion,
      code: CaseCode.unused)
  }
}

// MARK: Wording

/// A duration in a message: in the units of the file, in whole milliseconds.
func shown(_ duration: Duration) -> String {
  let (seconds, attoseconds) = duration.components
  if seconds == 0, attoseconds == 0 { return "0s" }
  let isShort = seconds == 0 && attoseconds < 1_000_000_000_000_000
  return isShort ? "less than 1ms" : DurationText.text(of: duration)
}

/// A value in a message.
func shown(_ value: JSONValue) -> String {
  if case .string(let text) = value { return quoted(text) }
  return shortened(value.description)
}

extension DurationBounds {
  var text: String {
    switch (atLeast, atMost) {
    case (let least?, let most?) where least == most: shown(least)
    case (let least?, let most?): "\(shown(least)) to \(shown(most))"
    case (let least?, nil): "at least \(shown(least))"
    case (nil, let most?): "at most \(shown(most))"
    case (nil, nil): "any duration"
    }
  }
}

extension JSONValue {
  /// Whether the values are equal but for the order of members and the spelling of numbers.
  func isSame(as other: JSONValue) -> Bool {
    switch (self, other) {
    case (.number(let one), .number(let two)):
      return one == two || one.asDouble != nil && one.asDouble == two.asDouble
    case (.array(let one), .array(let two)):
      return one.count == two.count && zip(one, two).allSatisfy { $0.isSame(as: $1) }
    case (.object(let one), .object(let two)):
      return one.members.count == two.members.count
        && one.members.allSatisfy { member in
          two[member.key].map { member.value.isSame(as: $0) } ?? false
        }
    default: return self == other
    }
  }
}

extension SkipReason {
  /// Its name in expectations.
  var word: String {
    switch self {
    case .dependencyFailed: "dependencyFailed"
    case .heldBack: "heldBack"
    case .condition: "condition"
    case .notSelected: "notSelected"
    case .cancelled(let reason): reason.word
    }
  }

  var sentence: String {
    switch self {
    case .dependencyFailed(let step): "dependencyFailed: \"\(step)\""
    case .heldBack(let step): "heldBack by \"\(step)\""
    case .condition(let step): "condition of \"\(step)\""
    case .notSelected: "notSelected"
    case .cancelled(let reason): "cancelled: \(reason.word)"
    }
  }
}

extension CancelReason {
  /// Its name in expectations.
  var word: String {
    switch self {
    case .requested: "requested"
    case .signal: "signal"
    case .runTimeout: "runTimeout"
    case .groupTimeout: "groupTimeout"
    case .failure: "failure"
    case .raceWon: "raceWon"
    case .joined: "joined"
    case .recordLost: "recordLost"
    }
  }
}

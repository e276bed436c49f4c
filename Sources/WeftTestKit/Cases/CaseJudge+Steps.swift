import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftJSON
import WeftPlanning
import WeftPlatform

/// The end of a step or group, as an expectation sees it.
struct CaseStepEnd {
  var outcome: StepExpectation.Outcome?
  /// The names by which its reason may be expected.
  var reasons: [String] = []
  var attempts = 0
  var exit: ProgramExit?
  var outputs: [ReportedOutput] = []
  /// The reason why it is not retried.
  var notRetried: String?
  /// A verb phrase.
  var text: String
}

/// Expectations of single steps.
extension CaseJudge {
  mutating func compare(_ expected: StepExpectation) {
    let addresses = matching(expected.pattern.value)
    guard !addresses.isEmpty else { return compareAbsent(expected) }
    for address in addresses { compare(expected, with: address) }
  }

  /// A pattern that nothing in the run matches: what it means was skipped as a part of something else, or did not come
  /// about.
  private mutating func compareAbsent(_ expected: StepExpectation) {
    let address = StepAddress(expected.pattern.value)
    if let end = endOfSkippedGroup(address) {
      return compare(expected, end, of: "group \"\(address)\"", at: address)
    }
    guard expected.outcome?.value != .absent else { return }
    report(
      "\"\(expected.pattern.value)\" never started", at: expected.pattern.range,
      help: neighbours(expected.pattern.value))
  }

  /// A group that never started: only its members are reported.
  private func endOfSkippedGroup(_ address: StepAddress) -> CaseStepEnd? {
    guard let group = plan.groups.firstIndex(where: { $0.address == address && !$0.isTopLevel })
    else { return nil }
    let members = plan.steps(inGroup: group).map { record.end(of: plan.steps[$0].address) }
    guard let end = members.first, let end,
      members.allSatisfy({ $0?.outcome == .skipped || $0?.outcome == .cancelled })
    else { return nil }
    return end
  }

  private mutating func compare(_ expected: StepExpectation, with address: StepAddress) {
    guard let end = record.end(of: address) else { return }
    compare(expected, end, of: subject(address), at: address)
    compareCommand(expected, address)
    compareTimes(expected, address)
    if let requests = expected.requests { compare(requests, of: address) }
  }

  private mutating func compare(
    _ expected: StepExpectation, _ end: CaseStepEnd, of subject: String, at address: StepAddress
  ) {
    if let outcome = expected.outcome, outcome.value != end.outcome {
      report("\(subject) \(end.text), expected \(outcome.value.rawValue)", at: outcome.range)
    }
    if let reason = expected.reason, !end.reasons.contains(reason.value) {
      let found = end.reasons.isEmpty ? "" : ", for \(listed(end.reasons, conjunction: "or"))"
      report("\(subject) \(end.text)\(found), expected \(reason.value)", at: reason.range)
    }
    if let attempts = expected.attempts, attempts.value != end.attempts {
      report(
        "\(subject) has \(Count(end.attempts, "attempt"))"
          + (end.notRetried.map { " (\($0))" } ?? "") + ", expected \(attempts.value)",
        at: attempts.range)
    }
    if let exit = expected.exit, end.exit != .code(exit.value) {
      let found =
        switch end.exit {
        case .code(let code)?: "exited with code \(code)"
        case .signal(let name)?: "was ended by signal \(name)"
        case nil: "has no exit code"
        }
      report("\(subject) \(found), expected code \(exit.value)", at: exit.range)
    }
    compare(expected.outputs, with: end.outputs, of: subject)
  }

  private mutating func compareTimes(_ expected: StepExpectation, _ address: StepAddress) {
    let spans = record.spans(of: address)
    if let start = expected.startsAt {
      guard let first = spans.first else {
        return report("step \"\(address)\" did not start", at: start.range)
      }
      if !start.value.contains(first.start) {
        report(
          "step \"\(address)\" started after \(shown(first.start)), expected "
            + start.value.text, at: start.range)
      }
    }
    if let duration = expected.duration {
      guard let last = spans.last, let end = last.end else {
        return report("step \"\(address)\" has no duration", at: duration.range)
      }
      if !duration.value.contains(end - last.start) {
        report(
          "step \"\(address)\" took \(shown(end - last.start)), expected "
            + duration.value.text, at: duration.range)
      }
    }
  }

  // MARK: Commands

  private mutating func compareCommand(_ expected: StepExpectation, _ address: StepAddress) {
    guard let range = expected.commandRange else { return }
    guard let attempt = record.attempts.last(where: { $0.address == address }),
      let command = attempt.command
    else {
      let why = record.end(of: address).map { ": it \($0.text)" } ?? ""
      return report("step \"\(address)\" ran no command\(why)", at: range)
    }
    if let run = expected.run, run.value != command.text {
      report(
        "step \"\(address)\" ran \(command.text.shown), expected \(run.value.shown)",
        at: run.range)
    }
    if let cwd = expected.cwd, cwd.value != command.directory ?? "." {
      report(
        "step \"\(address)\" ran in \(quoted(command.directory ?? ".")), expected "
          + quoted(cwd.value), at: cwd.range)
    }
    if let stdin = expected.stdin, stdin.value != command.stdin {
      report(
        "the standard input of step \"\(address)\" is "
          + (command.stdin.map { quoted($0) } ?? "not a text") + ", expected "
          + quoted(stdin.value), at: stdin.range)
    }
    for variable in expected.environment {
      let found = command.environment[variable.name]
      guard found != variable.value else { continue }
      report(
        "step \"\(address)\" ran \(phrase(variable.name, found)), expected "
          + phrase(variable.name, variable.value), at: variable.range)
    }
  }

  private func phrase(_ name: String, _ value: String?) -> String {
    value.map { "with \(name)=\(quoted($0))" } ?? "without \(name)"
  }

  // MARK: Requests

  private mutating func compare(
    _ expected: Placed<[RequestExpectation]>, of address: StepAddress
  ) {
    let sent = record.attempts.filter { $0.address == address }.flatMap(\.requests)
    if sent.count != expected.value.count {
      let list = sent.map { "\($0.method) \($0.url)" }
      report(
        "step \"\(address)\" sent \(Count(sent.count, "request"))"
          + (list.isEmpty ? "" : ": \(shortList(list))")
          + ", expected \(expected.value.count)", at: expected.range)
    }
    for (number, (wanted, request)) in zip(expected.value, sent).enumerated() {
      compare(wanted, request, "request \(number + 1) of step \"\(address)\"")
    }
  }

  private mutating func compare(
    _ expected: RequestExpectation, _ request: CaseRecord.Request, _ subject: String
  ) {
    if let method = expected.method, method.value != request.method {
      report("\(subject) is \(request.method), expected \(method.value)", at: method.range)
    }
    if let url = expected.url, url.value != request.url {
      report(
        "\(subject) goes to \(quoted(request.url)), expected \(quoted(url.value))", at: url.range)
    }
    for header in expected.headers {
      let found = request.headers.first { $0.name.lowercased() == header.name.lowercased() }
      guard found?.value != header.value else { continue }
      report(
        "\(subject) has " + (found.map { "\($0.name): \($0.value)" } ?? "no \(header.name)")
          + ", expected " + (header.value ?? "none"), at: header.range)
    }
    let text = String(decoding: request.body, as: UTF8.self)
    if let body = expected.body, body.value != text {
      report(
        "the body of \(subject) is \(quoted(text)), expected \(quoted(body.value))", at: body.range)
    }
    if let json = expected.json {
      let found = try? JSONValue(text: text)
      guard found?.isSame(as: json.value) != true else { return }
      report(
        "the body of \(subject) is \(found.map { shown($0) } ?? quoted(text)), expected "
          + shown(json.value), at: json.range)
    }
  }
}

extension StepExpectation {
  /// The location of something that only a command has.
  fileprivate var commandRange: SourceRange? {
    run?.range ?? cwd?.range ?? stdin?.range ?? environment.first?.range
  }
}

extension StepExpectation.RunText {
  fileprivate var shown: String {
    switch self {
    case .script(let script): quoted(script)
    case .arguments(let arguments): JSONValue.array(arguments.map(JSONValue.string)).description
    }
  }
}

extension CaseRecord {
  /// The end of a step or group; `nil` if there is none of that address.
  func end(of address: StepAddress) -> CaseStepEnd? {
    if let step = steps[address], step.state != nil || groups[address] == nil {
      return CaseRecord.end(of: step)
    }
    return groups[address].map { CaseRecord.end(of: $0) }
  }

  private static func end(of step: StepRecord) -> CaseStepEnd {
    switch step.state {
    case .finished(let end)?, .restored(let end)?, .cached(let end)?:
      let verdict = CaseRecord.verdict(
        end.outcome, end.conclusion, end.failure, end.cancellation)
      return CaseStepEnd(
        outcome: verdict.outcome, reasons: verdict.reasons, attempts: end.attempts,
        exit: end.exit, outputs: end.outputs, notRetried: end.notRetried, text: verdict.text)
    case .skipped(let reason)?:
      let isCancelled = reason.outcome == .cancelled
      return CaseStepEnd(
        outcome: isCancelled ? .cancelled : .skipped,
        reasons: [reason.word] + (isCancelled ? ["cancelled"] : []),
        text: (isCancelled ? "was cancelled (" : "was skipped (") + reason.sentence + ")")
    default:
      return CaseStepEnd(
        outcome: nil, attempts: step.spans.count,
        text: step.spans.isEmpty ? "never started" : "has not ended")
    }
  }

  private static func end(of group: GroupRecord) -> CaseStepEnd {
    guard let end = group.end else {
      return CaseStepEnd(outcome: nil, attempts: group.spans.count, text: "has not ended")
    }
    let verdict = verdict(end.outcome, end.conclusion, end.failure, nil)
    return CaseStepEnd(
      outcome: verdict.outcome, reasons: verdict.reasons, attempts: end.attempts,
      outputs: end.outputs, text: verdict.text)
  }

  private static func verdict(
    _ outcome: Outcome, _ conclusion: Outcome, _ failure: StepFailure?,
    _ cancellation: CancelReason?
  ) -> (outcome: StepExpectation.Outcome, reasons: [String], text: String) {
    switch outcome {
    case .success: return (.success, [], "succeeded")
    case .skipped: return (.skipped, [], "was skipped")
    case .cancelled:
      let reason = cancellation?.word
      return (
        .cancelled, [reason, "cancelled"].compactMap(\.self),
        "was cancelled" + (reason.map { " (\($0))" } ?? "")
      )
    case .failure:
      let isTolerated = conclusion == .success
      let why = failure.map { " (\($0.message))" } ?? ""
      return (
        isTolerated ? .tolerated : .failure, failure?.classes.map(\.name) ?? [],
        (isTolerated ? "failed, which is tolerated" : "failed") + why
      )
    }
  }
}

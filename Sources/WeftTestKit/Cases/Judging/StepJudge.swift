import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftJSON
import WeftPlanning
import WeftPlatform

/// Compares single steps and groups: their ends, commands, requests and times.
struct StepJudge {
  private(set) var findings: CaseFindings
  private var record: CaseRecord { findings.record }
  private var plan: Plan { findings.plan }

  init(_ findings: CaseFindings) { self.findings = findings }

  mutating func compare(_ expected: StepExpectation) {
    let addresses = findings.matching(expected.pattern.value)
    guard !addresses.isEmpty else { return compareAbsent(expected) }
    for address in addresses { compare(expected, with: address) }
  }

  /// A pattern that nothing in the run matches: what it means was skipped as a part of something else, or did not come
  /// about.
  private mutating func compareAbsent(_ expected: StepExpectation) {
    let address = StepAddress(StepPattern(expected.pattern.value).text)
    if let end = endOfSkippedGroup(address) {
      return compare(expected, end, of: "group \"\(address)\"", at: address)
    }
    guard expected.outcome?.value != .absent else { return }
    if let (group, end) = findings.skippedWhole(around: address) {
      return findings.report(
        "\"\(address)\" is absent, because \"\(group)\" \(end) as a whole",
        at: expected.pattern.range,
        help: "expect \"absent\", or the end of \(quoted(StepPattern.text(matching: group)))")
    }
    findings.report(
      "\"\(expected.pattern.value)\" never started", at: expected.pattern.range,
      help: findings.neighbours(expected.pattern.value))
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
    compare(expected, end, of: findings.subject(address), at: address)
    compareCommand(expected, address)
    compareTimes(expected, address)
    if let requests = expected.requests { compare(requests, of: address) }
  }

  private mutating func compare(
    _ expected: StepExpectation, _ end: CaseStepEnd, of subject: String, at address: StepAddress
  ) {
    if let outcome = expected.outcome, outcome.value != end.outcome {
      let tolerant = end.outcome == .failure ? findings.toleration(around: address) : nil
      // What a loop or group around it accepts is tolerated, too, as in `weft show`.
      if outcome.value != .tolerated || tolerant == nil {
        let toleration = tolerant.map { ", which \"\($0)\" tolerates" } ?? ""
        findings.report(
          "\(subject) \(end.text)\(toleration), expected \(outcome.value.rawValue)",
          at: outcome.range)
      }
    }
    if let reason = expected.reason, !end.reasons.contains(reason.value) {
      let found = end.reasons.isEmpty ? "" : ", for \(listed(end.reasons, conjunction: "or"))"
      findings.report("\(subject) \(end.text)\(found), expected \(reason.value)", at: reason.range)
    }
    if let attempts = expected.attempts, attempts.value != end.attempts {
      findings.report(
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
      findings.report("\(subject) \(found), expected code \(exit.value)", at: exit.range)
    }
    findings.compare(expected.outputs, with: end.outputs, of: subject)
  }

  private mutating func compareTimes(_ expected: StepExpectation, _ address: StepAddress) {
    let spans = record.spans(of: address)
    if let start = expected.startsAt {
      guard let first = spans.first else {
        return findings.report("step \"\(address)\" did not start", at: start.range)
      }
      if !start.value.contains(first.start) {
        findings.report(
          "step \"\(address)\" started after \(shown(first.start)), expected "
            + start.value.text, at: start.range)
      }
    }
    if let duration = expected.duration {
      guard let last = spans.last, let end = last.end else {
        return findings.report("step \"\(address)\" has no duration", at: duration.range)
      }
      if !duration.value.contains(end - last.start) {
        findings.report(
          "step \"\(address)\" took \(shown(end - last.start)), expected "
            + duration.value.text, at: duration.range)
      }
    }
  }

  // MARK: Commands

  private mutating func compareCommand(_ expected: StepExpectation, _ address: StepAddress) {
    guard let range = expected.commandRange else { return }
    guard let command = findings.attempts(of: address).last?.command
    else {
      let why = record.end(of: address).map { ": it \($0.text)" } ?? ""
      return findings.report("step \"\(address)\" ran no command\(why)", at: range)
    }
    if let run = expected.run, run.value != command.text {
      findings.report(
        "step \"\(address)\" ran \(command.text.shown), expected \(run.value.shown)",
        at: run.range)
    }
    if let cwd = expected.cwd, cwd.value != command.directory ?? "." {
      findings.report(
        "step \"\(address)\" ran in \(quoted(command.directory ?? ".")), expected "
          + quoted(cwd.value), at: cwd.range)
    }
    if let stdin = expected.stdin, command.stdin != .text(stdin.value) {
      let found =
        switch command.stdin {
        case .none: "has no standard input"
        case .text(let text): "reads \(quoted(text)) from its standard input"
        case .file(let path): "reads its standard input from the file \(quoted(path))"
        }
      findings.report(
        "step \"\(address)\" \(found), expected \(quoted(stdin.value))", at: stdin.range)
    }
    for variable in expected.environment {
      let found = command.environment[variable.name]
      guard found != variable.value else { continue }
      findings.report(
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
    let sent = findings.attempts(of: address).flatMap(\.requests)
    if sent.count != expected.value.count {
      let list = sent.map { "\($0.method) \($0.url)" }
      findings.report(
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
      findings.report("\(subject) is \(request.method), expected \(method.value)", at: method.range)
    }
    if let url = expected.url, url.value != request.url {
      findings.report(
        "\(subject) goes to \(quoted(request.url)), expected \(quoted(url.value))", at: url.range)
    }
    for header in expected.headers {
      let found = request.headers.first { $0.name.lowercased() == header.name.lowercased() }
      guard found?.value != header.value else { continue }
      findings.report(
        "\(subject) has " + (found.map { "\($0.name): \($0.value)" } ?? "no \(header.name)")
          + ", expected " + (header.value ?? "none"), at: header.range)
    }
    let text = String(decoding: request.body, as: UTF8.self)
    if let body = expected.body, body.value != text {
      findings.report(
        "the body of \(subject) is \(quoted(text)), expected \(quoted(body.value))", at: body.range)
    }
    if let json = expected.json {
      let found = try? JSONValue(text: text)
      guard found?.isSame(as: json.value) != true else { return }
      findings.report(
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

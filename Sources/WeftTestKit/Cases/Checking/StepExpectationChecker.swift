import WeftDefinition
import WeftDiagnostics
import WeftPlanning

/// Checks what a case expects of single steps, or of all that a pattern matches: such an expectation cannot hold if none
/// of them can meet it.
struct StepExpectationChecker {
  private let expected: StepExpectation
  private let facts: CaseFacts
  private let found: [AddressShapes.Shape]
  private var findings: CheckFindings

  static func check(
    _ step: StepExpectation, _ facts: CaseFacts, _ findings: inout CheckFindings
  ) {
    let found = findings.find(step.pattern)
    guard !found.isEmpty else { return }
    var checker = StepExpectationChecker(
      expected: step, facts: facts, found: found, findings: findings)
    checker.check()
    findings = checker.findings
  }

  private var name: String { quoted(expected.pattern.value) }

  private mutating func check() {
    checkStart()
    checkKind()
    checkOutcome()
    checkReason()
    checkNumbers()
    checkOutputs()
  }

  private mutating func report(
    _ message: String, at range: SourceRange?, help: String? = nil,
    related: (message: String, range: SourceRange)? = nil
  ) {
    guard let range else { return }
    findings.reportImpossible("\(name) \(message)", at: range, help: help, related: related)
  }

  // MARK: Start

  /// The locations of expectations that only hold for a step that starts.
  private var ofStarted: [SourceRange] {
    let success = expected.outcome.flatMap { $0.value == .success ? $0.range : nil }
    return [success, expected.attempts?.range, expected.exit?.range].compactMap(\.self) + ofRun
  }

  /// The locations of expectations of what a step does.
  private var ofRun: [SourceRange] {
    let command = [expected.run?.range, expected.cwd?.range, expected.stdin?.range]
    let requests = expected.requests.flatMap { $0.value.isEmpty ? nil : $0.range }
    return (command + [requests, expected.startsAt?.range, expected.duration?.range])
      .compactMap(\.self) + expected.environment.map(\.range) + expected.outputs.map(\.range)
  }

  private mutating func checkStart() {
    guard let range = ofStarted.first else { return }
    if found.allSatisfy(facts.isExcluded) {
      return report("is not selected in this case, so it does not start", at: range)
    }
    let isIdle = expected.outcome.map { [.skipped, .absent].contains($0.value) } ?? false
    if let outcome = expected.outcome, isIdle {
      return report(
        "does not start if it is \(outcome.value == .skipped ? "skipped" : "absent")", at: range,
        related: ("here", outcome.range))
    }
    let pattern = StepPattern(expected.pattern.value)
    let never = facts.expected.neverStarts.first { StepPattern($0.value).includes(pattern) }
    if let never {
      findings.reportImpossible(
        "\(name) is also expected to start", at: never.range, related: ("here", range))
    }
  }

  // MARK: Kinds

  private func isAny(_ kinds: Set<ActionKind>) -> Bool {
    found.contains { findings.kind(of: $0).map(kinds.contains) ?? false }
  }

  private mutating func checkKind() {
    let command =
      [expected.exit?.range, expected.run?.range, expected.cwd?.range]
      + [expected.stdin?.range, expected.environment.first?.range]
    if let range = command.compactMap(\.self).first, !isAny([.run]) {
      report("runs no command", at: range, help: members("expect it of its steps"))
    }
    if let requests = expected.requests, !requests.value.isEmpty, !isAny([.http]) {
      report("sends no requests", at: requests.range, help: members("expect them of its steps"))
    }
  }

  private func members(_ remedy: String) -> String? {
    findings.members(of: found[0]).map { "\(remedy): \($0)" }
  }

  // MARK: Outcomes and reasons

  private mutating func checkOutcome() {
    guard let outcome = expected.outcome else { return }
    if outcome.value == .tolerated, !facts.skipsInterrupted, !found.contains(where: mayBeTolerated)
    {
      report(
        "has no \"allowFailure\", nor has a group around it, so its failure is not tolerated",
        at: outcome.range,
        help: "expect \"failure\"")
    }
    if outcome.value == .success, let exit = expected.exit, isAny([.run]),
      !found.contains(where: { successCodes(of: $0).contains(exit.value) })
    {
      report("does not succeed with exit code \(exit.value)", at: exit.range)
    }
  }

  private func successCodes(of shape: AddressShapes.Shape) -> [Int] {
    guard case .step(let index) = findings.plan.nodes[shape.node] else { return [] }
    return findings.plan.steps[Int(index)].successCodes
  }

  /// Whether something may accept the failure of a step: itself, its loop, or a group around it.
  private func mayBeTolerated(_ shape: AddressShapes.Shape) -> Bool {
    guard let step = findings.step(of: shape) else { return true }
    let groups = findings.groups(around: shape)
    return step.allowFailure != .none || step.computed[.allowFailure] != nil
      || step.control.fanOut != nil
      || groups.contains { group in
        guard let step = group.step else { return group.endsEarly }
        return step.control.fanOut != nil || group.endsEarly || step.allowFailure != .none
          || step.computed[.allowFailure] != nil
      }
  }

  private mutating func checkReason() {
    guard let reason = expected.reason else { return }
    if let outcome = expected.outcome, let wrong = reason.value.contradiction(to: outcome.value) {
      return report(
        "has no reason \"\(reason.value)\" if it \(wrong)", at: reason.range,
        related: ("here", outcome.range))
    }
    let obstacles = found.map { obstacle(to: reason.value, for: $0) }
    guard let first = obstacles.first, let (message, help) = first,
      obstacles.allSatisfy({ $0 != nil })
    else { return }
    report("cannot have the reason \"\(reason.value)\": \(message)", at: reason.range, help: help)
  }

  /// The reason why a step cannot end for a reason, and what to do; `nil` if it can.
  private func obstacle(
    to reason: String, for shape: AddressShapes.Shape
  ) -> (message: String, help: String?)? {
    let groups = findings.groups(around: shape)
    guard let step = findings.step(of: shape) else { return nil }
    switch reason {
    case "condition"
    where step.control.condition == nil
      && !groups.contains { $0.step?.control.condition != nil }:
      return ("neither it nor a group around it has an \"if\"", nil)
    case "notSelected" where !facts.hasSelection:
      return ("this case has no \"only\", \"skip\" or \"from\"", nil)
    case "notSelected" where findings.kind(of: shape) != nil && !facts.isExcluded(shape):
      return ("this case selects it", nil)
    case "requested" where facts.acts.isDisjoint(with: [.cancel, .kill]):
      return ("nothing cancels the run", "\"interrupt\" it with \"cancel\"")
    case "signal": return ("no signal ends the run of a case", "\"cancel\" is \"requested\"")
    case "runTimeout" where !facts.hasTimeLimit(findings.plan):
      return ("neither this case nor the workflow has a \"timeout\"", nil)
    case "groupTimeout" where !groups.contains { $0.step?.hasTimeLimit == true }:
      return ("no group around it has a \"timeout\"", nil)
    case "raceWon" where !groups.contains { $0.order == .race }:
      return ("it is not in a race", nil)
    case "joined" where !groups.contains(where: \.joinsEarly):
      return ("no group around it has a \"join\"", nil)
    case "recordLost" where !facts.acts.contains(.fullDisk):
      return ("the journal is not lost", "\"interrupt\" the run with \"fullDisk\"")
    case "inDoubt" where !facts.leavesDoubt:
      return (
        "no engine that is followed by another one crashes",
        "\"interrupt\" the run with \"crash\", and \"resume\" it"
      )
    default:
      guard let single = findings.single(shape) else { return nil }
      return ErrorClass(reason == "exit:0" ? "exit" : reason)
        .flatMap { $0.obstacle(in: single, of: findings.plan) }.map { ($0, nil) }
    }
  }

  // MARK: Numbers

  private mutating func checkNumbers() {
    if let attempts = expected.attempts,
      let most = found.map({ findings.mostAttempts(of: $0) }).max(), attempts.value > most
    {
      report("has at most \(Count(most, "attempt"))", at: attempts.range)
    }
    if let longest = facts.longest {
      for (bounds, verb) in [(expected.startsAt, "start after"), (expected.duration, "take")] {
        guard let bounds, let least = bounds.value.atLeast, least > longest else { continue }
        report(
          "cannot \(verb) \(shown(least)), because the run takes at most \(shown(longest))",
          at: bounds.range)
      }
    }
    let earliest = facts.expected.notBefore.first { $0.name == expected.pattern.value }
    if let earliest, let start = expected.startsAt, let most = start.value.atMost,
      most < earliest.value
    {
      report(
        "is also expected not to start before \(shown(earliest.value))", at: start.range,
        related: ("here", earliest.range))
    }
  }

  // MARK: Outputs

  private mutating func checkOutputs() {
    guard !expected.outputs.isEmpty else { return }
    // One step that has them all is enough.
    var first: [Diagnostic]?
    for shape in found {
      var trial = findings
      let before = trial.diagnostics.count
      RunExpectationChecker.check(
        expected.outputs, of: name, declared: findings.outputs(of: shape), &trial)
      guard trial.diagnostics.count > before else { return }
      first = first ?? Array(trial.diagnostics[before...])
    }
    findings.add(first ?? [])
  }
}

extension CaseFacts {
  /// Whether interrupted steps count as done.
  fileprivate var skipsInterrupted: Bool {
    testCase.resumptions.contains { $0.interrupted == .skip }
  }
}

extension Step {
  fileprivate var hasTimeLimit: Bool { timeout != nil || computed[.timeout] != nil }
}

extension PlannedGroup {
  /// Whether it may end before all of its members, or although some have failed.
  fileprivate var endsEarly: Bool { order == .race || joinsEarly }

  fileprivate var joinsEarly: Bool {
    if case .group(let group)? = step?.action, case .atLeast = group.join { true } else { false }
  }
}

extension String {
  private static let ofSkips: Set = ["condition", "dependencyFailed", "heldBack", "notSelected"]
  private static let ofCancellations: Set = [
    "cancelled", "requested", "signal", "runTimeout", "groupTimeout", "failure", "raceWon",
    "joined", "recordLost",
  ]

  /// The outcome, as a verb, with which a step cannot have this reason; `nil` if it can.
  fileprivate func contradiction(to outcome: StepExpectation.Outcome) -> String? {
    let (isSkip, isCancel) = (String.ofSkips.contains(self), String.ofCancellations.contains(self))
    return switch outcome {
    case .success: "succeeds"
    case .absent: "is absent"
    case .skipped where !isSkip: "is skipped"
    case .cancelled where !isCancel: "is cancelled"
    case .failure where isSkip || isCancel: "fails"
    case .tolerated where isSkip || isCancel: "fails"
    default: nil
    }
  }
}

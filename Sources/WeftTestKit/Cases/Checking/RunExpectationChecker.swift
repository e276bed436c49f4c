import WeftDefinition
import WeftDiagnostics
import WeftJSON
import WeftPlanning

/// Checks expectations of the run as a whole: its outcome, exit code, cause and outputs.
enum RunExpectationChecker {
  static func check(_ facts: CaseFacts, _ findings: inout CheckFindings) {
    checkOutcome(facts, &findings)
    checkExitCode(facts, &findings)
    checkCause(facts, &findings)
    let expected = facts.expected
    if facts.lastActs.contains(.crash) {
      // The engine is gone, and with it whatever a run has at its end.
      let ends = [
        expected.outcome.map { ($0.range, "outcome") },
        expected.firstFailure.map { ($0.range, "first failure") },
        expected.outputs.first.map { ($0.range, "outputs") },
      ]
      for (range, noun) in ends.compactMap(\.self) {
        findings.reportImpossible(
          "a run whose engine crashes has no \(noun)", at: range,
          help: "add \"resume\": true to the case, or expect \"exitCode\": 137")
      }
    }
    check(
      expected.outputs, of: "the workflow", declared: findings.plan.workflow.outputs, &findings)
  }

  private static func checkOutcome(_ facts: CaseFacts, _ findings: inout CheckFindings) {
    guard let outcome = facts.expected.outcome else { return }
    let reason: (message: String, help: String)? =
      switch outcome.value {
      case .waiting where !findings.plan.asksForApproval:
        ("the workflow asks for no approval, so its run cannot wait", "a run waits at \"approve\"")
      case .cancelled where !facts.mayBeCancelled(findings.plan):
        (
          "nothing cancels the run",
          "write \"interrupt\": { \"at\": \"10s\", \"do\": \"cancel\" }"
        )
      default: nil
      }
    if let reason {
      findings.reportImpossible(reason.message, at: outcome.range, help: reason.help)
    }
  }

  // MARK: Exit codes

  private static func checkExitCode(_ facts: CaseFacts, _ findings: inout CheckFindings) {
    guard let code = facts.expected.exitCode else { return }
    if let (message, help) = obstacle(to: code.value, facts, findings.plan) {
      return findings.reportImpossible(message, at: code.range, help: help)
    }
    let possible: Set<Int>
    switch facts.expected.outcome?.value {
    case .success?: possible = [0, 4]
    case .failure?: possible = [1, 4]
    case .cancelled?: possible = [4, 124, 130]
    case .waiting?: possible = [75, 4]
    case nil: return
    }
    if let outcome = facts.expected.outcome, !possible.contains(code.value) {
      findings.reportImpossible(
        "no run with the outcome \"\(outcome.value.rawValue)\" has the exit code \(code.value)",
        at: code.range)
    }
  }

  /// The reason why no run of the case has an exit code, and what to do.
  private static func obstacle(
    to code: Int, _ facts: CaseFacts, _ plan: Plan
  ) -> (message: String, help: String?)? {
    let meanings =
      "0 success, 1 failure, 4 the journal is lost, 75 waiting, 124 the run's time limit, "
      + "130 cancelled, 137 a crash"
    let subject = "no run of this case has the exit code \(code)"
    if facts.lastActs.contains(.crash), code != 137 {
      return ("\(subject), because its last engine crashes", "expect 137, or resume the run")
    }
    switch code {
    case 0, 1: return nil
    case 4 where !facts.lastActs.contains(.fullDisk):
      return ("\(subject), because its journal is not lost", "interrupt it with \"fullDisk\"")
    case 75 where !plan.asksForApproval:
      return ("\(subject), because the workflow asks for no approval", nil)
    case 124 where !facts.hasTimeLimit(plan):
      return ("\(subject), because neither it nor the workflow has a \"timeout\"", nil)
    case 130 where facts.lastActs.isDisjoint(with: [.cancel, .kill]):
      return ("\(subject), because nothing cancels it", "interrupt it with \"cancel\"")
    case 137 where !facts.lastActs.contains(.crash):
      return ("\(subject), because its last engine does not crash", nil)
    case 4, 75, 124, 130, 137: return nil
    case 129, 131, 143:
      return ("\(subject), because no signal ends it", "\"cancel\" ends it with 130")
    default: return ("no run has the exit code \(code)", meanings)
    }
  }

  // MARK: The cause

  private static func checkCause(_ facts: CaseFacts, _ findings: inout CheckFindings) {
    guard let cause = facts.expected.firstFailure else { return }
    let found = findings.find(cause)
    guard !found.isEmpty else { return }
    let name = quoted(cause.value)
    if !StepPattern(cause.value).isExact {
      return findings.reportImpossible(
        "one step is the cause of a failure, and \(name) is a pattern", at: cause.range,
        help: "write an address; \"steps\" may expect the outcome of several")
    }
    if let outcome = facts.expected.outcome, [.success, .waiting].contains(outcome.value) {
      return findings.reportImpossible(
        "a run with the outcome \"\(outcome.value.rawValue)\" has no first failure",
        at: cause.range)
    }
    if found.allSatisfy(facts.isExcluded) {
      return findings.reportImpossible(
        "\(name) is not selected in this case, so it cannot fail", at: cause.range)
    }
    let success = facts.expected.steps.first {
      $0.pattern.value == cause.value && $0.outcome.map { $0.value != .failure } ?? false
    }
    if let success, let outcome = success.outcome {
      findings.reportImpossible(
        "\(name) is also expected to end with \(quoted(outcome.value.rawValue))", at: cause.range,
        related: ("here", outcome.range))
    }
  }

  // MARK: Outputs

  /// Reports outputs that are not declared, or never have the expected value.
  static func check(
    _ expected: [Named<JSONValue>], of subject: String, declared: [OutputDeclaration],
    _ findings: inout CheckFindings
  ) {
    for output in expected {
      guard let declaration = declared.first(where: { $0.name == output.name }) else {
        findings.reportImpossible(
          "\(subject) has no output \(quoted(output.name))", at: output.range,
          help: NearestName(declared.map(\.name)).nearest(to: output.name).asSuggestion)
        continue
      }
      if declaration.isSecret {
        findings.reportImpossible(
          "output \"\(output.name)\" of \(subject) is secret, so it cannot be compared",
          at: output.range)
      } else if let schema = declaration.schema, !schema.faults(of: output.value).isEmpty {
        findings.reportImpossible(
          "output \"\(output.name)\" of \(subject) cannot be \(shown(output.value)): it must be "
            + schema.summary, at: output.range)
      }
    }
  }
}

extension CaseFacts {
  /// Whether the run as a whole has a time limit.
  func hasTimeLimit(_ plan: Plan) -> Bool {
    let workflow = plan.workflow
    return testCase.timeout != nil || workflow.timeout != nil || workflow.computed[.timeout] != nil
  }

  fileprivate func mayBeCancelled(_ plan: Plan) -> Bool {
    hasTimeLimit(plan) || !lastActs.isDisjoint(with: [.cancel, .kill, .fullDisk])
  }
}

extension Plan {
  var asksForApproval: Bool { steps.contains { $0.kind == .approve } }
}

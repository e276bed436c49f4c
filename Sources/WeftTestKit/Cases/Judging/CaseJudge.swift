import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftJSON
import WeftPlanning

/// Compares what a run has done with what its case expects.
enum CaseJudge {
  /// All differences; if the run itself made no sense, only why.
  static func mismatches(
    of record: CaseRecord, with testCase: TestCase, in file: TestFile, _ plan: Plan,
    _ addresses: PlanAddresses
  ) -> [Diagnostic] {
    let findings = CaseFindings(of: record, in: file, plan, addresses)
    var run = RunJudge(findings)
    run.checkSense(of: testCase)
    guard run.findings.mismatches.isEmpty else { return run.findings.mismatches }
    run.compare(testCase)
    var steps = StepJudge(findings)
    for step in testCase.expected.steps { steps.compare(step) }
    var order = OrderJudge(findings)
    order.compare(testCase.expected)
    let all = [run.findings, steps.findings, order.findings].flatMap(\.mismatches)
    return all.sortedByLocation()
  }
}

/// Compares the run as a whole: its end, its outputs, and whether everything in the case came about.
struct RunJudge {
  private(set) var findings: CaseFindings
  private var record: CaseRecord { findings.record }

  init(_ findings: CaseFindings) { self.findings = findings }

  /// Reports a run that says nothing about the expectations.
  mutating func checkSense(of testCase: TestCase) {
    if record.isStopped {
      return findings.report(
        "the case was interrupted by a signal", at: testCase.name.range, code: CaseCode.noEnd)
    }
    for unscripted in record.unscripted {
      findings.report(
        "step \"\(unscripted.address)\" has no scripted result, and would \(unscripted.act)",
        at: testCase.name.range, help: unscripted.help, code: CaseCode.unscripted)
    }
    if record.unscripted.isEmpty, let fault = record.fault {
      findings.report(
        fault.message, at: fault.range ?? testCase.name.range, code: CaseCode.noEnd)
    }
  }

  mutating func compare(_ testCase: TestCase) {
    checkInterruptions()
    compare(testCase.expected)
    checkScripts(testCase)
  }

  /// Reports interruptions whose moments never came.
  private mutating func checkInterruptions() {
    for missed in record.missed {
      var end = "the run ended after \(shown(missed.endedAfter))"
      if case .record = missed.interruption.moment {
        end = "the engine wrote \(Count(missed.records, "record"))"
      }
      findings.report("\(end); nothing was interrupted", at: missed.interruption.range)
    }
  }

  private mutating func compare(_ expected: TestExpectations) {
    if let outcome = expected.outcome, outcome.value != record.outcome {
      findings.report(
        "the run \(runText), expected \(outcome.value.rawValue)", at: outcome.range)
    }
    if let code = expected.exitCode, Int32(code.value) != record.exitCode {
      findings.report(
        "the exit code is \(record.exitCode), because the run \(runText), expected "
          + "\(code.value)", at: code.range)
    }
    if let duration = expected.duration, !duration.value.contains(record.duration) {
      findings.report(
        "the run takes \(shown(record.duration)), expected \(duration.value.text)",
        at: duration.range)
    }
    if let cause = expected.firstFailure,
      record.end?.firstFailure?.text != StepPattern(cause.value).text
    {
      let found = record.end?.firstFailure.map { "\"\($0)\"" } ?? "no step"
      findings.report(
        "the first failure is that of \(found), expected \"\(cause.value)\"", at: cause.range)
    }
    findings.compare(expected.outputs, with: record.end?.outputs ?? [], of: "the run")
    findings.compare(expected.state, with: record.state, of: "the run", noun: "kept state")
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

  /// Reports scripts of single elements that a loop did not have although it ended.
  private mutating func checkScripts(_ testCase: TestCase) {
    for script in testCase.settings.steps {
      let pattern = StepPattern(script.pattern.value)
      guard pattern.isExact, !record.usedScripts.contains(script.pattern.value) else { continue }
      findings.checkElement(script.pattern)
    }
  }
}

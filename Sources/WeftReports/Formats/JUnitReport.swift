import WeftDefinition
import WeftDrawing
import WeftEvents
import WeftPlanning
import WeftPlatform
import WeftRecord
import WeftReporting

/// The steps of a run as test cases, valid against the schemas of Surefire (surefire-test-report-3.0.xsd) and of
/// Jenkins' xUnit plugin (junit-10.xsd).
///
/// A case is a step or an element's step. Of a step that failed, the first attempt is the failure, and others are
/// reruns, as Surefire writes them; attempts before a success are flaky failures. A tolerated failure is a skipped case.
struct JUnitReport {
  /// The part of the log of a failed step.
  private static let lineLimit = 200
  private static let logBytes = 64 << 10

  private let run: ReportedRun
  private var xml = Markup()

  init(_ run: ReportedRun) {
    self.run = run
  }

  func rendered() -> [UInt8] {
    var report = self
    report.write()
    return report.xml.bytes
  }

  // MARK: The suite

  private struct Case {
    enum Result { case passed, failed, error, skipped }

    let address: StepAddress
    var step: RecordedStep?
    var result: Result
    var attempts: [TimelineSpan] = []

    /// The time of the last attempt.
    var time: Int? {
      attempts.lastIndex(where: \.beginsAttempt).map {
        attempts[$0...].reduce(0) { $0 + $1.duration }
      }
    }
  }

  private var cases: [Case] {
    let places = run.places
    let known = run.detail.steps.map { address, step in
      Case(
        address: address, step: step,
        result: result(of: step, at: address, run.verdict(of: step, at: address)),
        attempts: places[address].map { run.timeline.steps[$0].spans.filter(\.kind.isAttempt) }
          ?? [])
    }
    return known + run.notReached.map { Case(address: $0, result: .skipped) }
  }

  private func result(
    of step: RecordedStep, at address: StepAddress, _ verdict: Verdict
  ) -> Case.Result {
    switch verdict {
    case .succeeded, .cached: return .passed
    case .failed: return .failed
    case .interrupted: return .error
    case .tolerated, .skipped, .running, .waiting, .notStarted, .terminated: return .skipped
    case .cancelled:
      guard case .finished(let end, _) = step.state else { return .skipped }
      switch run.cancellation(of: end, at: address) {
      // Another step has done the work.
      case .raceWon, .joined, nil: return .skipped
      case .groupTimeout(let cause, _), .failure(of: let cause):
        return run.tolerates(cause) ? .skipped : .error
      case .requested, .filesChanged, .signal, .runTimeout, .recordLost: return .error
      }
    }
  }

  private mutating func write() {
    let cases = cases
    var own = run.ownFailures
    if own.isEmpty, !cases.contains(where: { $0.result == .failed || $0.result == .error }),
      let failure = run.endFailure
    {
      own = [failure]
    }
    let count = { (result: Case.Result) in cases.count { $0.result == result } }
    xml.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"")
    xml.append(text: run.masked(run.title))
    xml.append("\" time=\"")
    xml.append(text: seconds(run.recorded.duration.wholeMicroseconds))
    xml.append("\"")
    xml.append("tests", cases.count + own.count)
    xml.append("errors", count(.error) + own.count)
    xml.append("skipped", count(.skipped))
    xml.append("failures", count(.failed))
    xml.append(">\n  <properties>\n")
    writeProperties()
    xml.append("  </properties>\n")
    for known in cases { write(known) }
    for failure in own { write(failure) }
    xml.append("</testsuite>\n")
  }

  private mutating func writeProperties() {
    property("weft.run", run.detail.run.text)
    property("weft.state", run.detail.state.rawValue)
    property("weft.file", run.recorded.opening?.file.map(run.shown))
    property("weft.startedAt", run.recorded.startedAt.map(WireClock.text(of:)))
    property("weft.resumptions", "\(run.recorded.resumptions)")
    for gap in run.gaps { property("weft.incomplete", run.shown(gap)) }
  }

  private mutating func property(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    xml.append("    <property name=\"")
    xml.append(name)
    xml.append("\" value=\"")
    xml.append(text: value)
    xml.append("\"/>\n")
  }

  // MARK: Cases

  private mutating func write(_ known: Case) {
    let time = known.time ?? known.step.flatMap(run.duration(of:)) ?? 0
    xml.append("  <testcase name=\"")
    xml.append(text: run.shown(known.address.text))
    xml.append("\" classname=\"")
    xml.append(text: className(of: known.address))
    xml.append("\" time=\"")
    xml.append(text: seconds(known.step == nil ? 0 : time))
    xml.append("\"")
    let body = body(of: known)
    if body.bytes.isEmpty { return xml.append("/>\n") }
    xml.append(">\n")
    xml.append(body)
    xml.append("  </testcase>\n")
  }

  /// Writes the failure of a group or of the run as a case of its own.
  private mutating func write(_ failure: ReportedRun.OwnFailure) {
    xml.append("  <testcase name=\"")
    xml.append(text: failure.address.map { run.shown($0.text) } ?? "the run")
    xml.append("\" classname=\"")
    xml.append(text: failure.address.map(className(of:)) ?? run.masked(run.title))
    xml.append("\" time=\"0.000\">\n")
    var body = Markup()
    body.element(
      "error", type: failure.type, message: run.shown(failure.message),
      help: failure.help.map(run.shown))
    xml.append(body)
    xml.append("  </testcase>\n")
  }

  /// The workflow, and the loop of an element: readers group cases by it.
  private func className(of address: StepAddress) -> String {
    let title = run.masked(run.title)
    return address.outermostLoop.map { "\(title).\(run.shown($0.text))" } ?? title
  }

  /// The elements in the order that Surefire's schema has.
  private func body(of known: Case) -> Markup {
    var body = Markup()
    let reason = known.step.flatMap { run.reason(of: $0, at: known.address) }
    let failed = known.attempts.filter { $0.verdict == .failed }
    switch known.result {
    case .failed:
      // Under `failure` is the first attempt; the last one's end is the step's.
      let first = failed.first?.failure ?? known.step?.failure
      body.element("failure", first, reason ?? "failed")
      for span in failed.dropFirst() { body.rerun("rerunFailure", span.failure) }
    case .passed:
      for span in failed { body.rerun("flakyFailure", span.failure) }
    case .skipped: body.skipped(skipReason(of: known, reason))
    case .error:
      let type = known.step.map { run.verdict(of: $0, at: known.address) }?.rawValue ?? "error"
      body.element("error", type: type, message: reason ?? type, help: nil)
    }
    if known.result == .failed || known.result == .error { append(logOf: known.address, to: &body) }
    return body
  }

  private func skipReason(of known: Case, _ reason: String?) -> String {
    guard let step = known.step else { return "not started" }
    let verdict = run.verdict(of: step, at: known.address)
    let clause = run.shown(reason ?? verdict.rawValue)
    return verdict == .tolerated ? "failed, which is tolerated: \(clause)" : clause
  }

  private func append(logOf step: StepAddress, to body: inout Markup) {
    let lines = run.lastLines(
      of: step, atMost: JUnitReport.lineLimit, bytes: JUnitReport.logBytes)
    guard !lines.isEmpty else { return }
    body.append("    <system-out>")
    for line in lines {
      body.append(text: line)
      body.append("\n")
    }
    body.append("</system-out>\n")
  }

  /// Seconds with three digits, without grouping.
  private func seconds(_ microseconds: Int) -> String {
    let milliseconds = max(0, microseconds) / 1000
    let rest = String(milliseconds % 1000)
    return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }
}

extension RecordedStep {
  fileprivate var failure: StepFailure? {
    if case .finished(let end, _) = state { end.failure } else { nil }
  }
}

extension Markup {
  fileprivate mutating func element(
    _ name: StaticString, _ failure: StepFailure?, _ message: String
  ) {
    element(
      name, type: failure?.type ?? "failure", message: failure?.message ?? message,
      help: failure?.help)
  }

  fileprivate mutating func element(
    _ name: StaticString, type: String, message: String, help: String?
  ) {
    begin(name, type, message)
    append(">")
    append(text: message)
    if let help {
      append("\nhelp: ")
      append(text: help)
    }
    append("</")
    append(name)
    append(">\n")
  }

  fileprivate mutating func rerun(_ name: StaticString, _ failure: StepFailure?) {
    let message = failure?.message ?? "failed"
    begin(name, failure?.type ?? "failure", message)
    append("><stackTrace>")
    append(text: message)
    append("</stackTrace></")
    append(name)
    append(">\n")
  }

  fileprivate mutating func skipped(_ reason: String) {
    append("    <skipped message=\"")
    append(text: reason)
    append("\"/>\n")
  }

  private mutating func begin(_ name: StaticString, _ type: String, _ message: String) {
    append("    <")
    append(name)
    append(" message=\"")
    append(text: message)
    append("\" type=\"")
    append(text: type)
    append("\"")
  }
}

extension StepFailure {
  /// The narrowest class.
  fileprivate var type: String { classes.first?.name ?? "failure" }
}

import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftPlanning
import WeftRecord
import WeftReporting

/// A summary of a run in Markdown, as GitHub and GitLab show it in comments and job summaries.
struct MarkdownReport {
  private static let failureLimit = 20
  private static let chainLimit = 30
  private static let lineLimit = 20

  private let run: ReportedRun
  private var text = ""

  init(_ run: ReportedRun) {
    self.run = run
  }

  func rendered() -> [UInt8] {
    var report = self
    report.write()
    return Array(report.text.utf8)
  }

  private mutating func write() {
    line("# \(escaped(run.masked(run.title))): \(escaped(run.verdictText))")
    writeFacts()
    for gap in run.gaps { line("> **Incomplete:** \(escaped(run.shown(gap)))", isBlock: true) }
    writeCounts()
    writeFailures()
    writeSlowSteps()
    writeChain()
  }

  private mutating func line(_ line: String, isBlock: Bool = false) {
    if isBlock || line.hasPrefix("#") { if !text.isEmpty { text += "\n" } }
    text += line + "\n"
  }

  private mutating func writeFacts() {
    line("")
    line("* Run `\(run.detail.run)`")
    if let file = run.recorded.opening?.file { line("* File \(code(run.shown(file)))") }
    if let start = run.recorded.startedAt { line("* Started \(ShownMoment.text(start)) UTC") }
    if run.recorded.resumptions > 0 {
      let parts = run.timeline.parts.map { part in
        "\(ShownDuration.precise(.microseconds(part.length))) from \(ShownMoment.text(part.startedAt))"
      }
      line(
        "* Resumed \(Count(run.recorded.resumptions, "time")), so in \(Count(parts.count, "part")): "
          + parts.joined(separator: ", "))
    }
    for input in run.recorded.opening?.inputs ?? [] {
      let value = input.value.map { code(run.shown($0.shownText)) } ?? "secret"
      line("* Input \(code(run.shown(input.name))): \(value)")
    }
    for warning in run.recorded.warnings {
      line("* Warning: \(escaped(run.shown(warning.message)))")
    }
  }

  private mutating func writeCounts() {
    let counts = run.counts
    guard !counts.isEmpty else { return }
    line("| \(counts.map(\.name).joined(separator: " | ")) |", isBlock: true)
    line("|\(counts.map { _ in " ---: |" }.joined())")
    line("| \(counts.map { "\($0.count)" }.joined(separator: " | ")) |")
  }

  // MARK: Failures

  private mutating func writeFailures() {
    let (own, failed) = (run.ownFailures, run.failures)
    for failure in own where failure.address == nil {
      line("**The run failed:** \(escaped(run.shown(failure.message)))", isBlock: true)
    }
    let groups = own.filter { $0.address != nil }
    guard !failed.isEmpty || !groups.isEmpty else { return }
    line("## Failures")
    for failure in groups.prefix(MarkdownReport.failureLimit) { write(failure) }
    for (address, step) in failed.prefix(MarkdownReport.failureLimit) { write(step, at: address) }
    if failed.count > MarkdownReport.failureLimit {
      let rest = failed.count - MarkdownReport.failureLimit
      line("… and \(rest) more: `weft show \(run.words)`", isBlock: true)
    }
  }

  private mutating func write(_ failure: ReportedRun.OwnFailure) {
    guard let address = failure.address else { return }
    line("### \(code(run.shown(address.text)))")
    line("")
    let place = run.location(of: address).map { " (\(code($0)))" } ?? ""
    line(escaped(run.shown(failure.message)) + place)
    if let help = failure.help { line("Help: \(escaped(run.shown(help)))", isBlock: true) }
  }

  private mutating func write(_ step: RecordedStep, at address: StepAddress) {
    line("### \(code(run.shown(address.text)))")
    line("")
    var sentence = escaped(run.shown(run.reason(of: step, at: address) ?? "failed"))
    if let duration = run.duration(of: step) {
      sentence += " after \(ShownDuration.precise(.microseconds(duration)))"
    }
    if let place = run.location(of: address) { sentence += " (\(code(place)))" }
    line(sentence)
    if case .finished(let end, _) = step.state, let help = end.failure?.help {
      line("Help: \(escaped(run.shown(help)))", isBlock: true)
    }
    let lines = run.lastLines(of: address, atMost: MarkdownReport.lineLimit)
    guard !lines.isEmpty else { return }
    let longest = lines.flatMap { $0.split(whereSeparator: { $0 != "`" }) }.map(\.count).max() ?? 0
    let fence = String(repeating: "`", count: max(3, longest + 1))
    line(fence, isBlock: true)
    for text in lines { line(text) }
    line(fence)
  }

  // MARK: Times

  private mutating func writeSlowSteps() {
    let slow = run.slowestSteps()
    guard !slow.isEmpty else { return }
    line("## Slowest steps")
    line("")
    line("| Step | Time | Attempts | Held up |")
    line("| --- | ---: | ---: | --- |")
    for step in slow {
      let known = run.timeline.steps[step.step]
      let time = ShownDuration.precise(.microseconds(known.runningTime))
      line(
        "| \(code(run.shown(known.address.text))) | \(time) | \(known.attempts) "
          + "| \(escaped(step.cause ?? "")) |")
    }
  }

  private mutating func writeChain() {
    guard run.chain.count > 1 else { return }
    line("## Critical path")
    line("")
    for link in run.links.suffix(MarkdownReport.chainLimit) {
      let name = code(run.shown(run.timeline.steps[link.step].address.text))
      let time = ShownDuration.precise(.microseconds(link.ran))
      let wait = ShownDuration.precise(.microseconds(link.waited))
      line("1. \(name) \(time)" + (link.waited >= 10_000 ? " after \(wait) of waiting" : ""))
    }
  }

  private func code(_ text: String) -> String { MarkdownText.code(text) }

  private func escaped(_ text: String) -> String { MarkdownText.escaped(text) }
}

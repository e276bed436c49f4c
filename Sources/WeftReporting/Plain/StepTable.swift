import WeftDefinition
import WeftDiagnostics
package import WeftEvents
import WeftPlanning

/// The steps of a run as a table in Markdown, for the job summary of GitHub Actions (`GITHUB_STEP_SUMMARY`).
package struct StepTable {
  /// The maximum number of rows: a job summary may have 1 MiB.
  static let rowLimit = 200
  private static let textLimit = 300

  private let report: RunReport
  private let labels: StepLabels
  private let run: RunReference
  private let text = DisplayText(passesSGR: false, passesUnicode: true)

  package init(_ report: RunReport, labels: StepLabels, run: RunReference) {
    self.report = report
    self.labels = labels
    self.run = run
  }

  /// Returns the table; those of the steps that do not fit are counted, and failed ones come first then.
  package func rendered() -> String {
    let title = report.start.workflow ?? report.start.file ?? "weft"
    var lines = [
      "### \(MarkdownText.escaped(text.name(title))): \(MarkdownText.escaped(verdict))", "",
    ]
    let steps = report.steps.filter { $0.state != .skipped(.notSelected) }
    if !steps.isEmpty { lines += ["| Step | Result | Time |", "| --- | --- | ---: |"] }
    lines += chosen(steps).map(row)
    if steps.count > StepTable.rowLimit {
      lines += ["", "… and \(Count(steps.count - StepTable.rowLimit, "more step"))"]
    }
    if let details = run.details { lines += ["", "Details: \(MarkdownText.code(details))"] }
    return lines.map { $0 + "\n" }.joined() + "\n"
  }

  private var verdict: String {
    guard let end = report.end else { return "waits for approval" }
    let unselected = report.steps.count { $0.state == .skipped(.notSelected) }
    return RunSummary.sentence(on: end, unselected: unselected)
  }

  private func chosen(_ steps: [StepReport]) -> [StepReport] {
    guard steps.count > StepTable.rowLimit else { return steps }
    let failed = steps.filter(\.state.isFailure)
    let others = steps.filter { !$0.state.isFailure }
    return Array((failed + others).prefix(StepTable.rowLimit))
  }

  private func row(_ step: StepReport) -> String {
    let title = labels.title(of: step.address).map { " \(shown($0))" } ?? ""
    let name = MarkdownText.code(text.name(step.address.text))
    return "| \(name)\(title) | \(result(step)) | \(time(step.state)) |"
  }

  private func shown(_ sentence: String) -> String {
    MarkdownText.escaped(text.beginning(of: sentence, characters: StepTable.textLimit))
  }

  private func result(_ step: StepReport) -> String {
    switch step.state {
    case .finished(let end), .restored(let end): result(end)
    case .cached: "✅ cached"
    case .skipped(let reason):
      (reason.outcome == .cancelled ? "🚫 " : "⏭️ ") + shown(reason.phrase(of: step.address))
    case .asking(_, let message): "⏸️ waits for approval: \(shown(message))"
    case .pending, .queued, .running, .waiting, .retrying: "not finished"
    }
  }

  private func result(_ end: StepEnd) -> String {
    let attempt = end.attempts > 1 ? " (attempt \(end.attempts))" : ""
    switch end.outcome {
    case .success: return "✅ succeeded\(attempt)"
    case .failure:
      let sign = end.conclusion == .success ? "⚠️ tolerated: " : "❌ "
      return sign + shown(end.failure?.message ?? "failed") + attempt
    case .cancelled: return "🚫 cancelled: \(shown(end.cancellation?.sentence ?? "on request"))"
    case .skipped: return "⏭️ skipped"
    }
  }

  private func time(_ state: StepState) -> String {
    switch state {
    case .finished(let end), .restored(let end): ShownDuration.precise(end.duration)
    default: ""
    }
  }
}

extension StepState {
  /// Whether it failed the run.
  fileprivate var isFailure: Bool {
    switch self {
    case .finished(let end), .restored(let end):
      end.outcome == .failure && end.conclusion != .success
    default: false
    }
  }
}

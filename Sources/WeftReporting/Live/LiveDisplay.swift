import WeftExecution
import WeftPlanning

/// What a terminal shows of a run: lines that scroll away, and an area that is drawn anew.
struct LiveDisplay: Sendable {
  private let text: DisplayText
  private let palette: Palette
  private let labels: StepLabels
  private let howToSeeMore: String?
  private var progress = RunProgress()
  private var scrolled = ScrolledLines()

  init(_ settings: DisplaySettings, labels: StepLabels) {
    text = DisplayText(passesSGR: settings.usesColour, passesUnicode: settings.usesUnicode)
    palette = Palette(usesColour: settings.usesColour, usesUnicode: settings.usesUnicode)
    self.labels = labels
    howToSeeMore = settings.howToSeeMore
  }

  var hasEnded: Bool { progress.end != nil }

  mutating func apply(_ event: RunEvent, log: Reporter.ReadLog) {
    progress.apply(event, log: log)
    switch event.kind {
    case .stepRetrying(let address, let retry): scrolled.add(retrying(label(address), retry))
    case .groupRetrying(let address, let retry):
      scrolled.add(retrying("group \(address)", retry))
    case .runStarted, .stepQueued, .stepStarted, .stepOutput, .groupStarted, .outputDropped: break
    case .snapshot(let report): for warning in report.warnings { add(warning) }
    case .stepFinished(let address, let end): scrolled.add(finished(address, end))
    case .stepSkipped(let address, let reason):
      if scrolled.add(skipped: reason) { scrolled.add(lineOfSkipped: skipped(address, reason)) }
    case .groupFinished(let address, let end):
      if end.outcome == .failure, end.cause == nil { scrolled.add(failedGroup(address, end)) }
    case .runWarning(let warning): add(warning)
    case .runCancelling(let reason):
      scrolled.add(palette.painted("cancelling: \(text.name(reason.sentence))", .doubtful))
    case .runFinished:
      let summary = RunSummary(
        text: text, palette: palette, labels: labels, howToSeeMore: howToSeeMore)
      for line in summary.lines(progress) { scrolled.add(line) }
    }
  }

  /// The lines that have not been shown yet.
  mutating func takeScrolled() -> [String] {
    scrolled.take { count, reason in
      "\(palette.skipped) and \(counted(count, "more step")) \(reason.verb) "
        + text.name(reason.sentence)
    }
  }

  /// The area below them: a line for each running step as far as there is room, then the counter.
  func area(size: DisplaySize, now: Duration) -> [String] {
    LiveArea(text: text, palette: palette, label: label, size: size, now: now).lines(progress)
  }

  private func label(_ address: StepAddress) -> String {
    guard let title = labels.title(of: address) else { return address.text }
    return "\(address): \(text.name(title))"
  }
}

extension LiveDisplay {
  private func finished(_ address: StepAddress, _ end: StepEnd) -> String {
    let (sign, reason) =
      switch end.outcome {
      case .success: (palette.succeeded, nil as String?)
      case .failure where end.conclusion == .success:
        (palette.tolerated, (end.failure?.message ?? "failed") + " (tolerated)")
      case .failure: (palette.failed, end.failure?.message ?? "failed")
      case .cancelled: (palette.cancelled, end.cancellation?.sentence)
      case .skipped: (palette.skipped, nil)
      }
    return line(sign, label(address), end.duration, reason) + leftovers(end)
  }

  private func retrying(_ label: String, _ retry: Retry) -> String {
    let next = "attempt \(retry.attempt + 1) in \(ShownDuration.precise(retry.delay))"
    return line(palette.tolerated, label, retry.duration, "\(retry.failure.message); \(next)")
  }

  private mutating func add(_ warning: RunWarning) {
    scrolled.add(palette.painted("warning: \(text.name(warning.message))", .doubtful))
    if let help = warning.help { scrolled.add("  help: \(text.name(help))") }
  }

  private func failedGroup(_ address: StepAddress, _ end: GroupEnd) -> String {
    let isTolerated = end.conclusion == .success
    let reason = (end.failure?.message ?? "failed") + (isTolerated ? " (tolerated)" : "")
    return line(
      isTolerated ? palette.tolerated : palette.failed, "group \(address)", end.duration, reason)
  }

  private func skipped(_ address: StepAddress, _ reason: SkipReason) -> String {
    let sign = reason.outcome == .cancelled ? palette.cancelled : palette.skipped
    return "\(sign) \(label(address))  \(text.name(reason.verb + " " + reason.sentence))"
  }

  private func line(
    _ sign: String, _ label: String, _ duration: Duration, _ reason: String?
  ) -> String {
    let time = palette.painted(ShownDuration.precise(duration), .faint)
    return "\(sign) \(label)  \(time)" + (reason.map { "  \(text.name($0))" } ?? "")
  }

  private func leftovers(_ end: StepEnd) -> String {
    guard !end.leftovers.isEmpty else { return "" }
    let count = end.leftovers.count
    return "  (ended \(count == 1 ? "1 process" : "\(count) processes") that it left running)"
  }
}

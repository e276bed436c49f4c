import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftPlanning

/// The content that a terminal shows of a run: scrolling lines, and an area that is redrawn.
struct LiveDisplay: Sendable {
  private let text: DisplayText
  private let palette: Palette
  private let labels: StepLabels
  private let moreHint: String?
  private var progress: RunProgress
  private var scrolled = ScrolledLines()

  init(_ settings: DisplaySettings, labels: StepLabels) {
    text = DisplayText(passesSGR: settings.usesColour, passesUnicode: settings.usesUnicode)
    palette = Palette(usesColour: settings.usesColour, usesUnicode: settings.usesUnicode)
    self.labels = labels
    progress = RunProgress(shape: labels.shape)
    moreHint = settings.moreHint
  }

  var hasEnded: Bool { progress.run.end != nil || progress.run.pause != nil }

  mutating func apply(_ event: RunEvent, log: Reporter.ReadLog) {
    let prior = progress.prior(ofGroupEndedBy: event)
    progress.apply(event, log: log)
    switch event.kind {
    case .stepRetrying(let address, let retry): scrolled.add(retrying(label(address), retry))
    case .groupRetrying(let address, let retry):
      scrolled.add(retrying("group \(text.name(address.text))", retry))
    case .runStarted, .stepQueued, .stepStarted, .stepAsking, .stepWaiting, .stepOutput,
      .stepRestored, .groupStarted, .outputDropped:
      break
    case .snapshot(let report): for warning in report.warnings { add(warning) }
    case .stepFinished(let address, let end):
      if end.outcome != .success || !isInLoop(address) {
        scrolled.add(finished(address, end))
      }
    case .stepCached(let address, let end):
      if !isInLoop(address) { scrolled.add(cached(address, end)) }
    case .stepSkipped(_, .notSelected): break
    case .stepSkipped(let address, let reason):
      if scrolled.add(skipped: reason) { scrolled.add(lineOfSkipped: skipped(address, reason)) }
    case .groupFinished(let address, let end):
      if let line = finished(address, end, prior) { scrolled.add(line) }
    case .runWarning(let warning): add(warning)
    case .runCancelling(let reason):
      scrolled.add(palette.painted("cancelling: \(text.name(reason.sentence))", .doubtful))
    case .runFinished, .runWaiting:
      let summary = RunSummary(
        text: text, palette: palette, labels: labels, moreHint: moreHint)
      for line in summary.lines(progress) { scrolled.add(line) }
    }
  }

  /// Returns the lines that have not been shown yet.
  mutating func takeScrolled() -> [String] {
    scrolled.take { count, reason in
      let more = "and \(Count(count, "more step"))"
      return "\(palette.skipped) \(more) \(text.name("\(reason.verb) \(reason.sentence)"))"
    }
  }

  /// Returns the area below them: a line for each running step as far as there is room, then the counter.
  ///
  /// - Parameter remaining: The estimated remaining time of the run, if known.
  func area(size: DisplaySize, now: Duration, remaining: Duration? = nil) -> [String] {
    LiveArea(
      text: text, palette: palette, label: label, size: size, now: now, remaining: remaining
    ).lines(progress)
  }

  private func label(_ address: StepAddress) -> String {
    guard let title = labels.title(of: address) else { return text.name(address.text) }
    return "\(text.name(address.text)): \(text.name(title))"
  }
}

extension LiveDisplay {
  /// The number of elements above which only unsuccessful ones get lines; the others are counted.
  private static let elementLimit = 10

  private func isInLoop(_ step: StepAddress) -> Bool {
    progress.tally.scopes(around: step).contains { scope in
      (progress.tally.open[scope]?.elements?.all ?? 0) > LiveDisplay.elementLimit
    }
  }

  private func finished(_ address: StepAddress, _ end: StepEnd) -> String {
    let reason: String? =
      switch end.outcome {
      case .success: success(end)
      case .failure: failure(end) + (end.conclusion == .success ? " (tolerated)" : "")
      case .cancelled: end.cancellation?.sentence
      case .skipped: nil
      }
    let sign = palette.sign(end.outcome, end.conclusion)
    return line(sign, label(address), end.duration, reason) + leftovers(end)
  }

  private func cached(_ address: StepAddress, _ end: StepEnd) -> String {
    let time = palette.painted("(\(ShownDuration.precise(end.duration)) when it last ran)", .faint)
    return "\(palette.succeeded) \(label(address))  cached \(time)"
  }

  private func success(_ end: StepEnd) -> String? {
    let parts = [end.attempts > 1 ? "at attempt \(end.attempts)" : nil, end.http?.phrase]
      .compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ": ")
  }

  private func failure(_ end: StepEnd) -> String {
    let message = end.failure?.message ?? "failed"
    let attempt = end.attempts > 1 ? " (attempt \(end.attempts))" : ""
    return message + attempt + (end.notRetried.map { "; not retried: \($0)" } ?? "")
  }

  private func retrying(_ label: String, _ retry: Retry) -> String {
    line(
      palette.tolerated, label, retry.duration, "\(retry.failure.message); \(retry.sentence)")
  }

  private mutating func add(_ warning: RunWarning) {
    scrolled.add(palette.painted("warning: \(text.name(warning.message))", .doubtful))
    if let help = warning.help { scrolled.add("  help: \(text.name(help))") }
  }

  /// Returns the line of an ended group; `nil` if its members' lines say it all.
  private func finished(
    _ address: StepAddress, _ end: GroupEnd, _ prior: GroupSentence.Prior
  ) -> String? {
    guard let sentence = GroupSentence(end, prior).text else { return nil }
    let sign = palette.sign(end.outcome, end.conclusion)
    let name = (prior.elements == nil ? "group " : "") + text.name(address.text)
    return "\(sign) \(name)  \(text.name(sentence))"
  }

  private func skipped(_ address: StepAddress, _ reason: SkipReason) -> String {
    let sign = reason.outcome == .cancelled ? palette.cancelled : palette.skipped
    return "\(sign) \(label(address))  \(text.name(reason.phrase(of: address)))"
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

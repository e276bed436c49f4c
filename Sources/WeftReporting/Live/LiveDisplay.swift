import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftPlanning

/// The content that a terminal shows of a run: scrolling lines, and an area that is redrawn.
struct LiveDisplay: Sendable {
  private let text: DisplayText
  private let palette: Palette
  private let labels: StepLabels
  private let run: RunReference?
  private var progress: RunProgress
  private var scrolled = ScrolledLines()
  private var output: LiveOutput
  /// The steps whose output was shown last, with the number of lines up to it.
  private var shownTails: [(step: StepAddress, lineCount: Int)] = []

  init(_ settings: DisplaySettings, labels: StepLabels) {
    text = DisplayText(passesSGR: settings.usesColour, passesUnicode: settings.usesUnicode)
    palette = Palette(usesColour: settings.usesColour, usesUnicode: settings.usesUnicode)
    self.labels = labels
    progress = RunProgress(shape: labels.shape)
    run = settings.run
    output = LiveOutput(settings.outputPolicy, text, palette)
  }

  var hasEnded: Bool { progress.run.end != nil || progress.run.pause != nil }

  mutating func apply(_ event: RunEvent, log: @escaping Reporter.ReadLog) {
    let prior = progress.prior(ofGroupEndedBy: event)
    let excerpt = endOutput(at: event, log: log)
    progress.apply(event, log: log)
    output.update(progress, after: event)
    switch event.kind {
    case .stepRetrying(let address, let retry):
      scrolled.add(retrying(label(address), retry))
      add(excerpt, of: address)
    case .groupRetrying(let address, let retry):
      scrolled.add(retrying("group \(text.name(address.text))", retry))
    case .stepOutput(let address, let line):
      output.take(
        line, of: address, lineCount: progress.running[address]?.tail.lineCount, at: event.elapsed,
        to: &scrolled)
    case .runStarted, .stepQueued, .stepStarted, .stepBegun, .stepAsking, .stepWaiting,
      .stepProgress,
      .stepRestored, .groupStarted, .outputDropped:
      break
    case .snapshot(let report): for warning in report.warnings { add(warning) }
    case .stepFinished(let address, let end):
      if end.outcome != .success || excerpt != nil || !isInLoop(address) {
        scrolled.add(finished(address, end))
      }
      add(excerpt, of: address)
    case .stepReady(let address, let end):
      scrolled.add(line(palette.succeeded, label(address), end.duration, "ready"))
    case .stepCached(let address, let end):
      if excerpt != nil || !isInLoop(address) { scrolled.add(cached(address, end)) }
      add(excerpt, of: address)
    case .stepSkipped(_, .notSelected): break
    case .stepSkipped(let address, let reason):
      if scrolled.add(skipped: reason) { scrolled.add(lineOfSkipped: skipped(address, reason)) }
    case .groupFinished(let address, let end):
      if let line = finished(address, end, prior) { scrolled.add(line) }
    case .runWarning(let warning): add(warning)
    case .runCancelling(let reason):
      scrolled.add(palette.painted("cancelling: \(text.name(reason.sentence))", .doubtful))
    case .runFinished, .runWaiting:
      let recent = recentTails
      let summary = RunSummary(
        text: text, palette: palette, labels: labels, run: run, omitsTail: recent.contains)
      for line in summary.lines(progress) { scrolled.add(line) }
    }
  }

  /// Returns the lines that have not been shown yet.
  mutating func takeScrolled() -> [UInt8] {
    scrolled.take { count, reason in
      let more = "and \(Count(count, "more step"))"
      return "\(palette.skipped) \(more) \(text.name("\(reason.verb) \(reason.sentence)"))"
    }
  }

  /// Returns the area below them: the line that the step alone has not ended, a line for each running step as far as
  /// there is room, then the counter.
  ///
  /// - Parameters:
  ///   - remaining: The estimated remaining time of the run, if known.
  ///   - waiting: The steps that wait, and for what, as far as that is known.
  mutating func area(
    size: DisplaySize, now: Duration, remaining: Duration? = nil,
    waiting: WaitingSteps = WaitingSteps()
  ) -> [String] {
    progress.observeLoops(at: now)
    let open = size.fitsLiveDisplay ? output.openLine(at: now) : nil
    let room = DisplaySize(columns: size.columns, rows: max(1, size.rows - (open == nil ? 0 : 1)))
    let lines = LiveArea(
      text: text, palette: palette, label: label, size: room, now: now, remaining: remaining,
      shownAlone: output.stepAlone, waiting: waiting
    ).lines(progress)
    return (open.map { [text.line($0[...], columns: size.columns - 1)] } ?? []) + lines
  }

  private func label(_ address: StepAddress) -> String {
    guard let title = labels.title(of: address) else { return text.name(address.text) }
    return "\(text.name(address.text)): \(text.name(title))"
  }
}

// MARK: Step output

extension LiveDisplay {
  /// Whether the display may not write.
  var isHidden: Bool {
    get { output.isHidden }
    set { output.isHidden = newValue }
  }

  /// The size of the output that waits to be shown.
  var waitingBytes: Int { scrolled.outputBytes }

  /// The step that is shown line by line without prefix; `nil` if there is none.
  var stepAlone: StepAddress? { output.stepAlone }

  /// See ``LiveOutput/backlog(before:)``.
  func backlog(before event: RunEvent) -> (step: StepAddress, end: UInt64)? {
    output.backlog(before: event)
  }

  /// See ``LiveOutput/backlog``.
  var backlog: (step: StepAddress, end: UInt64)? { output.backlog }

  /// - Returns: Whether there is more to read.
  mutating func readBacklog(
    of step: StepAddress, upTo end: UInt64, at now: Duration, log: Reporter.ReadLog
  ) -> Bool {
    output.read(step, upTo: end, at: now, log: log, to: &scrolled)
  }

  /// Prepares a frame.
  mutating func settle(_ now: Duration, log: Reporter.ReadLog) {
    output.settle(progress, at: now, log: log, to: &scrolled)
  }

  mutating func note(open line: [UInt8]?, at now: Duration) { output.note(open: line, at: now) }

  /// Shows the rest of the output of a step or attempt that the event ends.
  ///
  /// - Returns: Lines to show below the line of the step.
  private mutating func endOutput(
    at event: RunEvent, log: Reporter.ReadLog
  ) -> OutputExcerpt? {
    guard let end = OutputEnd(event, progress) else { return nil }
    let before = scrolled.outputBytes
    let isJustAbove = output.hasNoCompany(end.step) && (end.running?.tail.lineCount ?? 0) > 0
    let excerpt = output.end(end, at: event.elapsed, log: log, to: &scrolled)
    let isShown = isJustAbove || excerpt != nil || before < scrolled.outputBytes
    if end.moment == .end(.failure), isShown {
      noteTail(of: end.step)
    }
    return excerpt.flatMap { $0.isEmpty ? nil : $0 }
  }

  private mutating func add(_ excerpt: OutputExcerpt?, of step: StepAddress) {
    guard let excerpt else { return }
    scrolled.add(
      excerpt, text.filter, palette, margin: "  \(palette.margin) ", command: run?.logs(of: step))
  }

  /// The number of lines after which the summary repeats the last lines of a failed step.
  private static let nearbyLines = 10

  private mutating func noteTail(of step: StepAddress) {
    shownTails = shownTails.suffix(LiveDisplay.nearbyLines - 1) + [(step, scrolled.lineCount)]
  }

  private var recentTails: Set<StepAddress> {
    let oldest = scrolled.lineCount - LiveDisplay.nearbyLines
    return Set(shownTails.filter { $0.lineCount >= oldest }.map(\.step))
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

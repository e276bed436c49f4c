import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftPlanning

/// Reports a run line by line, for logs, pipes and simple terminals.
///
/// Step output is prefixed with `[step] `, and messages about a step with `weft: [step] `, so that output cannot be
/// mistaken for messages. Every line is complete, the lines of one step are in order, and none of those that are to be
/// shown is missing: events that a slow reader missed are read from the step's log.
struct PlainReporter: Sendable {
  private let style: PlainStyle
  private let labels: StepLabels
  private let run: RunReference?
  private var progress: RunProgress
  private var output: PlainOutput
  private var pending: [UInt8] = []

  init(_ settings: DisplaySettings, labels: StepLabels) {
    style = PlainStyle(settings)
    self.labels = labels
    run = settings.run
    output = PlainOutput(settings.outputPolicy, style, labels)
    progress = RunProgress(shape: labels.shape)
  }

  /// The size of one write.
  private static let writeBytes = 64 << 10
  mutating func handle(_ events: [RunEvent], log: Reporter.ReadLog, write: Reporter.Write) {
    for event in events {
      if case .stepOutput(let address, let line) = event.kind {
        progress.apply(event, log: log)
        show(line, of: address, at: event.elapsed, log: log, write: write)
      } else {
        handle(event, log: log, write: write)
      }
      if pending.count >= PlainReporter.writeBytes { flush(write) }
    }
    flush(write)
  }

  private mutating func handle(
    _ event: RunEvent, log: Reporter.ReadLog, write: Reporter.Write
  ) {
    // Computed before the event is applied, which removes the state of an ended step or group.
    let isUndecided = isUndecided(event)
    let prior = progress.prior(ofGroupEndedBy: event)
    let excerpt = endOutput(at: event, log: log, write: write)
    progress.apply(event, log: log)
    output.update(progress, after: event)
    if event.kind.isShown { output.closeGroup(&pending) }
    report(event, isUndecided: isUndecided, prior, excerpt)
  }

  private mutating func flush(_ write: Reporter.Write) {
    guard !pending.isEmpty else { return }
    write(pending)
    pending.removeAll(keepingCapacity: true)
  }

  /// Whether it is not yet known if a failure counts.
  private func isUndecided(_ event: RunEvent) -> Bool {
    switch event.kind {
    case .stepFinished(let address, let end):
      end.outcome == .failure && progress.tally.scope(around: address) != nil
    case .groupFinished(let address, let end):
      end.outcome == .failure && progress.tally.scope(around: address) != nil
    default: false
    }
  }

  private mutating func report(
    _ event: RunEvent, isUndecided: Bool, _ prior: GroupSentence.Prior, _ excerpt: OutputExcerpt?
  ) {
    switch event.kind {
    case .runStarted(let start): say(style.header(start))
    case .stepQueued, .stepWaiting, .stepProgress, .stepRestored, .stepOutput, .outputDropped: break
    case .groupStarted(let address, let start):
      // A loop without elements may have failed before they were known: its end says which.
      if start.elements != 0, let line = style.started(address, start) { say(line) }
    case .stepRetrying(let address, let retry):
      style.append(retrying: address, retry, to: &pending)
      add(excerpt, of: address)
    case .groupRetrying(let address, let retry):
      style.append(retrying: address, ofGroup: true, retry, to: &pending)
    case .stepStarted(let address, let attempt, let job):
      style.append(
        started: address, attempt: attempt, job: job, title: labels.title(of: address),
        to: &pending)
    case .stepBegun(let address, let attempt):
      style.append(started: address, attempt: attempt, job: nil, title: nil, to: &pending)
    case .stepAsking(let address, let message): say(style.asking(address, message))
    case .stepReady(let address, let end): say(style.ready(address, end))
    case .stepFinished(let address, let end):
      style.append(finished: address, end, to: &pending)
      if !isUndecided, let annotation = style.annotation(address, end) {
        style.append(annotation, to: &pending)
      }
      add(excerpt, of: address)
    case .stepCached(let address, let end):
      say(style.cached(address, end))
      add(excerpt, of: address)
    case .stepSkipped(_, .notSelected): break
    case .stepSkipped(let address, let reason): say(style.skipped(address, reason))
    case .groupFinished(let address, let end):
      reportGroup(address, end, prior, isUndecided: isUndecided)
    case .runWarning(let warning): report(warning)
    case .runCancelling(let reason): say(style.cancelling(reason))
    case .runFinished, .runWaiting: reportEnd()
    case .snapshot(let report): join(report)
    }
  }

  private mutating func report(_ warning: RunWarning) {
    for line in style.warning(warning) { say(line) }
    if let annotation = style.annotation(warning) { style.append(annotation, to: &pending) }
  }

  private mutating func reportGroup(
    _ address: StepAddress, _ end: GroupEnd, _ prior: GroupSentence.Prior, isUndecided: Bool
  ) {
    if prior.elements?.all == 0, end.outcome != .failure,
      let line = style.started(address, GroupStart(elements: 0))
    {
      say(line)
    }
    if let line = style.finished(address, end, prior) { say(line) }
    guard end.outcome == .failure, end.cause == nil, !isUndecided else { return }
    if let annotation = style.annotation(group: address, end) {
      style.append(annotation, to: &pending)
    }
  }

  private mutating func reportEnd() {
    for failure in progress.failures.undecidedEntries {
      if let annotation = style.annotation(failure) { style.append(annotation, to: &pending) }
    }
    let summary = RunSummary(
      text: style.text, palette: style.palette, labels: labels, run: run)
    for line in summary.lines(progress) { style.append(sentence: line, to: &pending) }
  }

  private mutating func join(_ report: RunReport) {
    say(style.header(report.start))
    for warning in report.warnings { self.report(warning) }
  }

  private mutating func say(_ line: String) {
    style.append(sentence: "weft: " + line, to: &pending)
  }
}

// MARK: Step output

extension PlainReporter {
  private mutating func show(
    _ line: StepOutput, of step: StepAddress, at now: Duration, log: Reporter.ReadLog,
    write: Reporter.Write
  ) {
    // A display without redrawing shows a line only when it is final.
    guard line.ending != .transient else { return }
    while output.readBacklog(of: step, upTo: line.logOffset, at: now, log: log, to: &pending) {
      if pending.count >= PlainReporter.writeBytes { flush(write) }
    }
    output.take(
      line, of: step, lineCount: progress.running[step]?.tail.lineCount, at: now, to: &pending)
  }

  /// Shows the rest of the output of a step or attempt that the event ends.
  ///
  /// - Returns: Lines to show below the line of the step.
  private mutating func endOutput(
    at event: RunEvent, log: Reporter.ReadLog, write: Reporter.Write
  ) -> OutputExcerpt? {
    guard let end = OutputEnd(event, progress) else { return nil }
    output.prepare(end)
    while let logEnd = end.logEnd,
      output.readBacklog(of: end.step, upTo: logEnd, at: event.elapsed, log: log, to: &pending)
    {
      if pending.count >= PlainReporter.writeBytes { flush(write) }
    }
    return output.end(end, at: event.elapsed, log: log, to: &pending)
  }

  private mutating func add(_ excerpt: OutputExcerpt?, of step: StepAddress) {
    guard let excerpt else { return }
    let prefix = style.prefix(of: step)
    for line in excerpt.first { style.append(output: line[...], prefix: prefix, to: &pending) }
    if let omission = excerpt.omission {
      let sentence = omission.sentence(style.palette.ellipsis, run?.logs(of: step))
      say("[\(style.text.name(step.text))] \(sentence)")
    }
    for line in excerpt.last { style.append(output: line[...], prefix: prefix, to: &pending) }
  }
}

extension RunEvent.Kind {
  /// Whether it may be reported in a line of its own.
  fileprivate var isShown: Bool {
    switch self {
    case .stepQueued, .stepWaiting, .stepProgress, .stepRestored, .stepOutput, .outputDropped: false
    default: true
    }
  }
}

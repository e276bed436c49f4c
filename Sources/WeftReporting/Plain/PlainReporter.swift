import WeftEvents
import WeftPlanning

/// Reports a run line by line, for logs, pipes and simple terminals.
///
/// Step output is prefixed with `[step] `, and messages about a step with `weft: [step] `, so that output cannot be
/// mistaken for messages. Every line is complete, the lines of one step are in order, and none is missing: events
/// that a slow reader missed are read from the step's log.
struct PlainReporter: Sendable {
  private let style: PlainStyle
  private let labels: StepLabels
  private var progress: RunProgress
  /// The output of running steps that have written something or may have dropped events.
  private var outputs: [StepAddress: PlainOutput] = [:]
  private var pending: [UInt8] = []

  init(_ settings: DisplaySettings, labels: StepLabels) {
    style = PlainStyle(settings)
    self.labels = labels
    progress = RunProgress(shape: labels.shape)
  }

  /// The size of one write.
  private static let writeBytes = 64 << 10
  /// The size of one read from a log. Small because short lines take more memory than their bytes.
  private static let readBytes: UInt64 = 32 << 10

  mutating func handle(_ events: [RunEvent], log: Reporter.ReadLog, write: Reporter.Write) {
    for event in events {
      // Computed before the event is applied, which removes the state of an ended group.
      let isUndecided = isUndecided(event)
      let prior = progress.prior(ofGroupEndedBy: event)
      progress.apply(event, log: log)
      report(event, isUndecided: isUndecided, prior, log: log, write: write)
      if pending.count >= PlainReporter.writeBytes { flush(write) }
    }
    flush(write)
  }

  private mutating func flush(_ write: Reporter.Write) {
    guard !pending.isEmpty else { return }
    write(.output, pending)
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
    _ event: RunEvent, isUndecided: Bool, _ prior: GroupSentence.Prior, log: Reporter.ReadLog,
    write: Reporter.Write
  ) {
    switch event.kind {
    case .runStarted(let start): say(style.header(start))
    case .stepQueued, .stepWaiting, .stepRestored: break
    case .groupStarted(let address, let start):
      if let line = style.started(address, start) { say(line) }
    case .stepRetrying(let address, let retry):
      endOutput(of: address, nil, log: log, write: write)
      style.append(retrying: address, retry, to: &pending)
    case .groupRetrying(let address, let retry):
      style.append(retrying: address, ofGroup: true, retry, to: &pending)
    case .stepStarted(let address, let attempt):
      style.append(
        started: address, attempt: attempt, title: labels.title(of: address), to: &pending)
    case .stepAsking(let address, let message): say(style.asking(address, message))
    case .stepOutput(let address, let output):
      showOutput(output, of: address, log: log, write: write)
    case .stepFinished(let address, let end):
      endOutput(of: address, end, log: log, write: write)
      style.append(finished: address, end, to: &pending)
      if !isUndecided, let annotation = style.annotation(address, end) {
        style.append(annotation, to: &pending)
      }
    case .stepCached(let address, let end):
      endReplay(of: address, end, log: log, write: write)
      say(style.cached(address, end))
    case .stepSkipped(_, .notSelected): break
    case .stepSkipped(let address, let reason): say(style.skipped(address, reason))
    case .groupFinished(let address, let end):
      reportGroup(address, end, prior, isUndecided: isUndecided)
    case .runWarning(let warning): report(warning)
    case .runCancelling(let reason): say(style.cancelling(reason))
    case .runFinished(let end): reportEnd(end.outcome == .success ? .output : .errors, write: write)
    case .runWaiting: reportEnd(.output, write: write)
    case .outputDropped: recordGaps()
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
    if let line = style.finished(address, end, prior) { say(line) }
    guard end.outcome == .failure, end.cause == nil, !isUndecided else { return }
    if let annotation = style.annotation(group: address, end) {
      style.append(annotation, to: &pending)
    }
  }

  /// Writes the summary. A failure goes to standard error, as in make, so that it is visible when the output goes to
  /// a file.
  private mutating func reportEnd(_ channel: Reporter.Channel, write: Reporter.Write) {
    for failure in progress.failures.undecidedEntries {
      if let annotation = style.annotation(failure) { style.append(annotation, to: &pending) }
    }
    flush(write)
    let summary = RunSummary(
      text: style.text, palette: style.palette, labels: labels, moreHint: nil)
    var bytes: [UInt8] = []
    for line in summary.lines(progress) { style.append(sentence: line, to: &bytes) }
    write(channel, bytes)
  }

  private mutating func join(_ report: RunReport) {
    say(style.header(report.start))
    for warning in report.warnings { self.report(warning) }
    recordGaps()
  }

  /// Notes that any running step may have written the dropped output.
  private mutating func recordGaps() {
    for address in progress.running.keys {
      let fresh = PlainOutput(address, prefix: style.prefix(of: address))
      outputs[address, default: fresh].hasGaps = true
    }
  }

  private mutating func say(_ line: String) {
    style.append(sentence: "weft: " + line, to: &pending)
  }
}

extension PlainReporter {
  private mutating func showOutput(
    _ output: StepOutput, of address: StepAddress, log: Reporter.ReadLog, write: Reporter.Write
  ) {
    // A display without redrawing shows a line only when it is final.
    guard output.ending != .transient, let index = index(ofOutput: address) else { return }
    if outputs.values[index].hasGaps {
      var state = outputs.values[index]
      readSkipped(of: &state, upTo: output.logOffset, log: log, write: write)
      outputs.values[index] = state
    }
    let prefix = outputs.values[index].prefix
    for line in outputs.values[index].take(output) {
      style.append(output: line, prefix: prefix, to: &pending)
    }
  }

  /// Shows the output of a cached step as it was when it ran.
  private mutating func endReplay(
    of address: StepAddress, _ end: StepEnd, log: Reporter.ReadLog, write: Reporter.Write
  ) {
    guard end.logBytes > 0 else { return }
    var output = outputs[address] ?? PlainOutput(address, prefix: style.prefix(of: address))
    output.hasGaps = output.shown < end.logBytes
    outputs[address] = output
    endOutput(of: address, end, log: log, write: write)
  }

  /// Returns the output state of a step, creating it on demand: most steps write nothing.
  private mutating func index(ofOutput address: StepAddress) -> [StepAddress: PlainOutput].Index? {
    if let known = outputs.index(forKey: address) { return known }
    outputs[address] = PlainOutput(address, prefix: style.prefix(of: address))
    return outputs.index(forKey: address)
  }

  private mutating func endOutput(
    of address: StepAddress, _ end: StepEnd?, log: Reporter.ReadLog, write: Reporter.Write
  ) {
    guard !outputs.isEmpty, var state = outputs.removeValue(forKey: address) else { return }
    if let end { readSkipped(of: &state, upTo: end.logBytes, log: log, write: write) }
    for line in state.takeRest() { style.append(output: line, prefix: state.prefix, to: &pending) }
  }

  /// Shows dropped output piece by piece, so that neither a large log nor a slow reader needs memory.
  private mutating func readSkipped(
    of state: inout PlainOutput, upTo end: UInt64, log: Reporter.ReadLog, write: Reporter.Write
  ) {
    guard state.hasGaps else { return }
    state.hasGaps = false
    while state.shown < end {
      let part = log(
        state.address, state.shown..<min(end, state.shown + PlainReporter.readBytes))
      // A log truncated at its limit has no more, and that of an element is not kept for long.
      guard !part.isEmpty else { break }
      for line in state.takeSkipped(part) {
        style.append(output: line, prefix: state.prefix, to: &pending)
      }
      if pending.count >= PlainReporter.writeBytes { flush(write) }
    }
  }
}

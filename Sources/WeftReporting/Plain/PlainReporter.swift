import WeftDefinition
import WeftDiagnostics
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

/// The wording of the plain display, and its treatment of step output.
struct PlainStyle: Sendable {
  let text: DisplayText
  let palette: Palette
  private let isTerminal: Bool
  private let gitHub: GitHubCommands?

  init(_ settings: DisplaySettings) {
    isTerminal = settings.isTerminal
    gitHub = settings.annotatesForGitHub ? GitHubCommands() : nil
    text = DisplayText(passesSGR: settings.usesColour, passesUnicode: settings.usesUnicode)
    // Plain lines are also read by programs: no colours, and words instead of symbols.
    palette = Palette(usesColour: false, usesUnicode: false)
  }

  func header(_ start: RunStart) -> String {
    let workflow = start.workflow.map { "\(text.name($0)): " } ?? ""
    return "\(workflow)\(Count(start.stepCount, "step")), at most \(start.maxParallel) at once"
  }

  /// Appends the line of a step that starts. Built from bytes, because most steps only print two such lines.
  func append(
    started address: StepAddress, attempt: Int, title: String?, to bytes: inout [UInt8]
  ) {
    append(about: address, to: &bytes) { line in
      line += "started".utf8
      if attempt > 1 { line += " (attempt \(attempt))".utf8 }
      if let title { line += ": \(text.name(title))".utf8 }
    }
  }

  func append(finished address: StepAddress, _ end: StepEnd, to bytes: inout [UInt8]) {
    append(about: address, to: &bytes) { line in
      let duration = ShownDuration.precise(end.duration)
      switch end.outcome {
      case .success:
        line += "succeeded in ".utf8
        line += duration.utf8
        line += attempt(end.attempts).utf8
        if let phrase = end.http?.phrase { line += ": \(text.name(phrase))".utf8 }
      case .failure:
        line += "failed\(tolerance(end.conclusion)) after \(duration)".utf8
        line += "\(attempt(end.attempts)): \(reason(end))".utf8
        if let why = end.notRetried {
          line += "; not retried: \(text.name(why))".utf8
        }
      case .cancelled: line += "cancelled after \(duration): \(reason(end))".utf8
      case .skipped: line += "skipped".utf8
      }
      if !end.leftovers.isEmpty { line += leftovers(end).utf8 }
      line += orphans(end).utf8
    }
  }

  func append(
    retrying address: StepAddress, ofGroup isGroup: Bool = false, _ retry: Retry,
    to bytes: inout [UInt8]
  ) {
    append(about: address, to: &bytes) { line in
      let duration = ShownDuration.precise(retry.duration)
      let subject = isGroup ? "group failed" : "failed"
      line += "\(subject) after \(duration): \(text.name(retry.failure.message))".utf8
      line += "; \(retry.sentence)".utf8
    }
  }

  private func attempt(_ attempts: Int) -> String { attempts > 1 ? " (attempt \(attempts))" : "" }

  private func append(
    about address: StepAddress, to bytes: inout [UInt8], _ rest: (inout [UInt8]) -> Void
  ) {
    guard gitHub == nil else {
      var line = Array("weft: [\(text.name(address.text))] ".utf8)
      rest(&line)
      return append(inert: line[...], to: &bytes)
    }
    bytes += "weft: [".utf8
    bytes += text.name(address.text).utf8
    bytes += "] ".utf8
    rest(&bytes)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Returns the line of a cached step, with its original duration.
  func cached(_ address: StepAddress, _ end: StepEnd) -> String {
    "[\(text.name(address.text))] cached (\(ShownDuration.precise(end.duration)) when it last ran)"
  }

  func skipped(_ address: StepAddress, _ reason: SkipReason) -> String {
    "[\(text.name(address.text))] \(text.name(reason.phrase(of: address)))"
  }

  /// Returns the line of a loop or a retry that starts; `nil` for other groups.
  func started(_ group: StepAddress, _ start: GroupStart) -> String? {
    if let elements = start.elements {
      return "[\(text.name(group.text))] started for \(Count(elements, "element"))"
    }
    guard start.attempt > 1 else { return nil }
    return "[\(text.name(group.text))] group started (attempt \(start.attempt))"
  }

  /// Returns the line of an ended group; `nil` if its members' lines say it all.
  func finished(_ group: StepAddress, _ end: GroupEnd, _ prior: GroupSentence.Prior) -> String? {
    guard let sentence = GroupSentence(end, prior).text else { return nil }
    let name = text.name(group.text)
    return "[\(name)] \(prior.elements == nil ? "group " : "")\(text.name(sentence))"
  }

  func warning(_ warning: RunWarning) -> [String] {
    let help = warning.help.map { "help: \(text.name($0))" }
    return ["warning: \(text.name(warning.message))"] + [help].compactMap(\.self)
  }

  func asking(_ step: StepAddress, _ message: String) -> String {
    "[\(text.name(step.text))] waits for approval: \(text.name(message))"
  }

  func cancelling(_ reason: CancelReason) -> String { "cancelling: \(text.name(reason.sentence))" }

  private func reason(_ end: StepEnd) -> String {
    text.name(end.failure?.message ?? end.cancellation?.sentence ?? end.outcome.rawValue)
  }

  private func tolerance(_ conclusion: Outcome) -> String {
    conclusion == .success ? " (tolerated)" : ""
  }

  private func leftovers(_ end: StepEnd) -> String {
    let processes = end.leftovers.map { "\($0.process) (\(text.name($0.command)))" }
    return "; ended processes that it left running: \(processes.joined(separator: ", "))"
  }

  private func orphans(_ end: StepEnd) -> String {
    guard !end.unkillable.isEmpty else { return "" }
    let processes = end.unkillable.map { "\($0.process) (\(text.name($0.command)))" }
    return "; could not end: \(processes.joined(separator: ", "))"
  }
}

extension PlainStyle {
  func annotation(_ address: StepAddress, _ end: StepEnd) -> String? {
    guard let gitHub, end.outcome == .failure else { return nil }
    return gitHub.annotation(
      isTolerated: end.conclusion == .success, title: text.name(address.text), message: reason(end))
  }

  func annotation(group address: StepAddress, _ end: GroupEnd) -> String? {
    guard let gitHub else { return nil }
    return gitHub.annotation(
      isTolerated: end.conclusion == .success, title: text.name(address.text),
      message: text.name(end.failure?.message ?? "failed"))
  }

  /// Returns the annotation of a failure once it is known whether it counts.
  func annotation(_ failure: FailureList.Entry) -> String? {
    gitHub?.annotation(
      isTolerated: failure.tolerate != nil, title: text.name(failure.address.text),
      message: text.name(failure.message + (failure.tolerate.map { " (\($0))" } ?? "")))
  }

  func annotation(_ warning: RunWarning) -> String? {
    gitHub?.annotation(
      isTolerated: true, title: "weft",
      message: text.name(warning.message) + (warning.help.map { " (\(text.name($0)))" } ?? ""))
  }

  /// Appends a line that a GitHub Actions runner may execute.
  func append(_ annotation: String, to bytes: inout [UInt8]) {
    bytes += annotation.utf8
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Appends a message line, which may quote names and output.
  func append(sentence: String, to bytes: inout [UInt8]) {
    append(inert: Array(sentence.utf8)[...], to: &bytes)
  }

  /// Appends one line of a step's output. A pipe gets the bytes as they are, except text overwritten by a progress
  /// bar: many readers treat a lone `\r` as a new line, which would lack the prefix.
  func append(output line: ArraySlice<UInt8>, prefix: [UInt8], to bytes: inout [UInt8]) {
    let shown =
      isTerminal ? Array(text.line(line).utf8)[...] : DisplayText.lastState(of: line)
    // A GitHub Actions runner interprets prefix and output as one text.
    if gitHub != nil { return append(inert: (prefix + shown)[...], to: &bytes) }
    bytes += prefix
    append(inert: shown, to: &bytes)
  }

  /// Returns `[step] `, the prefix of each line of a step.
  func prefix(of step: StepAddress) -> [UInt8] { Array("[\(text.name(step.text))] ".utf8) }

  private func append(inert line: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
    if let gitHub {
      gitHub.append(inert: line, to: &bytes)
    } else {
      bytes += line
    }
    bytes.append(UInt8(ascii: "\n"))
  }
}

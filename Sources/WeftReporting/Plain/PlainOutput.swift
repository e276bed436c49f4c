import WeftEvents
import WeftPlanning

/// The output of steps on its way to a display of lines that follow each other.
///
/// Lines are shown as they arrive, or when their step ends: ``OutputPolicy`` decides. For GitHub Actions, all lines of a step
/// are in groups. A group is open only while its step runs alone; the lines of others wait for their end, or until there
/// are many.
struct PlainOutput: Sendable {
  private let policy: OutputPolicy
  private let style: PlainStyle
  private let labels: StepLabels
  private var solitude = Solitude()
  /// The steps that have written something or may have dropped events.
  private var lines: [StepAddress: StepLines] = [:]
  /// The first lines of each step, for excerpts.
  private var heads: [StepAddress: OutputHead] = [:]
  /// The formatted lines of steps that will be in groups.
  private var waiting: [StepAddress: [UInt8]] = [:]
  /// The steps that have had a group.
  private var grouped: Set<StepAddress> = []
  private var openGroup: StepAddress?
  /// The ends of earlier attempts in the logs of steps.
  private var attemptEnds: [StepAddress: UInt64] = [:]

  /// The size of the lines that wait for the end of one step.
  private static let waitingLimit = 256 << 10

  init(_ policy: OutputPolicy, _ style: PlainStyle, _ labels: StepLabels) {
    self.policy = policy
    self.style = style
    self.labels = labels
  }

  private var folds: Bool { policy.form(at: .cached, isStreaming: false) == .folded }
  private var showsLines: Bool { policy.streamsAll || folds }

  /// Records the steps that run after an event.
  mutating func update(_ progress: RunProgress, after event: RunEvent) {
    var started: StepAddress?
    if case .stepStarted(let step, _, _) = event.kind { started = step }
    if folds {
      solitude.update(
        count: progress.running.count, started: started, first: progress.running.first?.key,
        at: event.elapsed)
    }
    switch event.kind {
    case .outputDropped, .snapshot: recordGaps(progress)
    default: break
    }
  }

  /// Notes that any running step may have written the dropped output.
  private mutating func recordGaps(_ progress: RunProgress) {
    for (step, running) in progress.running {
      if showsLines {
        if lines[step] == nil { lines[step] = fresh(step) }
        lines[step]?.hasGaps = true
      } else if heads[step] == nil {
        heads[step] = OutputHead(after: running.tail.lineCount, bytes: attemptEnds[step] ?? 0)
      }
    }
  }

  private func fresh(_ step: StepAddress) -> StepLines {
    StepLines(step, prefix: style.prefix(of: step), from: attemptEnds[step] ?? 0)
  }

  // MARK: Lines

  /// Takes a line after the log before it was read: see ``readBacklog(of:upTo:at:log:to:)``.
  ///
  /// - Parameter lineCount: The number of lines of the step up to these; `nil` if it does not run.
  mutating func take(
    _ output: StepOutput, of step: StepAddress, lineCount: Int?, at now: Duration,
    to bytes: inout [UInt8]
  ) {
    guard showsLines else {
      if let lineCount, policy.mode != .none {
        heads[step, default: OutputHead(after: lineCount - 1, bytes: output.logOffset)]
          .append(output)
      }
      return
    }
    if lines[step] == nil { lines[step] = fresh(step) }
    guard let index = lines.index(forKey: step) else { return }
    if policy.streamsAll {
      let (style, prefix) = (style, lines.values[index].prefix)
      lines.values[index].take(output) { style.append(output: $0, prefix: prefix, to: &bytes) }
    } else {
      var added: [UInt8] = []
      let (style, prefix) = (style, lines.values[index].prefix)
      lines.values[index].take(output) { style.append(output: $0, prefix: prefix, to: &added) }
      fold(added, of: step, at: now, to: &bytes)
    }
  }

  /// Reads a piece of a log in place of missing events.
  ///
  /// - Returns: Whether there is more to read up to `end`.
  mutating func readBacklog(
    of step: StepAddress, upTo end: UInt64, at now: Duration, log: Reporter.ReadLog,
    to bytes: inout [UInt8]
  ) -> Bool {
    guard !lines.isEmpty, let index = lines.index(forKey: step), lines.values[index].hasGaps else {
      return false
    }
    var added: [UInt8] = []
    let (style, prefix) = (style, lines.values[index].prefix)
    let hasMore = lines.values[index].read(upTo: end, log: log) {
      style.append(output: $0, prefix: prefix, to: &added)
    }
    if policy.streamsAll { bytes += added } else { fold(added, of: step, at: now, to: &bytes) }
    return hasMore
  }

  // MARK: Groups

  /// Shows lines in the group of their step if that runs alone, otherwise when there are many.
  private mutating func fold(
    _ added: [UInt8], of step: StepAddress, at now: Duration, to bytes: inout [UInt8]
  ) {
    guard !added.isEmpty else { return }
    if policy.streams(solitude.company(of: step, at: now)), solitude.step == step {
      open(step, &bytes)
      bytes += added
      return
    }
    waiting[step, default: []] += added
    if waiting[step, default: []].count >= PlainOutput.waitingLimit {
      showWaiting(of: step, &bytes)
    }
  }

  private mutating func showWaiting(of step: StepAddress, _ bytes: inout [UInt8]) {
    guard let lines = waiting.removeValue(forKey: step) else { return }
    open(step, &bytes)
    bytes += lines
    closeGroup(&bytes)
  }

  private mutating func open(_ step: StepAddress, _ bytes: inout [UInt8]) {
    guard openGroup != step else { return }
    closeGroup(&bytes)
    style.append(
      group: step, title: labels.title(of: step), isContinued: grouped.contains(step), to: &bytes)
    grouped.insert(step)
    openGroup = step
  }

  /// Ends the open group, before anything else is shown.
  mutating func closeGroup(_ bytes: inout [UInt8]) {
    guard openGroup != nil else { return }
    style.append(groupEndTo: &bytes)
    openGroup = nil
  }

  // MARK: Ends

  /// Finds out whether the log must be read. Called before ``end(_:at:log:to:)``.
  mutating func prepare(_ end: OutputEnd) {
    guard showsLines, end.moment == .cached, let logEnd = end.logEnd, logEnd > 0 else { return }
    // The output of a cached step may be reported in part.
    if lines[end.step] == nil { lines[end.step] = fresh(end.step) }
    guard let index = lines.index(forKey: end.step) else { return }
    lines.values[index].hasGaps = lines.values[index].shown < logEnd
  }

  /// Shows the rest of the lines of a step or attempt.
  ///
  /// - Returns: Lines to show below the line of the step itself.
  mutating func end(
    _ end: OutputEnd, at now: Duration, log: Reporter.ReadLog, to bytes: inout [UInt8]
  ) -> OutputExcerpt? {
    let head = heads.removeValue(forKey: end.step)
    var state = lines.removeValue(forKey: end.step)
    defer {
      let isOver = end.moment != .retry
      attemptEnds[end.step] =
        isOver ? nil : state?.known ?? head?.end ?? attemptEnds[end.step]
      if isOver { grouped.remove(end.step) }
    }
    switch policy.form(at: end.moment, isStreaming: false) {
    case .nothing: return nil
    case .excerpt:
      guard let head, let running = end.running else {
        let isMissing = end.running?.hasGaps ?? true
        return isMissing ? end.excerpt(from: attemptEnds[end.step] ?? 0, log: log) : nil
      }
      return head.excerpt(
        of: end.step, before: running.tail, readingUpTo: running.hasGaps ? end.logEnd : nil,
        log: log)
    case .lines, .folded:
      var rest: [UInt8] = []
      if let prefix = state?.prefix {
        let style = style
        state?.takeRest { style.append(output: $0, prefix: prefix, to: &rest) }
      }
      if policy.streamsAll {
        bytes += rest
      } else {
        fold(rest, of: end.step, at: now, to: &bytes)
        showWaiting(of: end.step, &bytes)
      }
      return nil
    }
  }
}

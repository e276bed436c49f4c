import WeftDefinition
import WeftEvents
import WeftPlanning

/// Lays out one frame of the live area for a terminal size.
///
/// Every line is at least one column narrower than the terminal, so that none wraps; the area is at least two rows
/// lower, for the cursor and for one scrolled line.
struct LiveArea {
  let text: DisplayText
  let palette: Palette
  let label: (StepAddress) -> String
  let size: DisplaySize
  let now: Duration
  /// The estimated remaining time of the run, if known.
  let remaining: Duration?
  /// The step whose lines are shown above, so that its last one is not repeated.
  var shownAlone: StepAddress?
  /// The steps that wait, and for what, as far as that is known.
  var waiting = WaitingSteps()

  /// The maximum width: wider lines would add nothing, and wrap sooner when the terminal is made narrower.
  static let widthLimit = 120
  /// The maximum number of rows for steps that wait for something other than a slot.
  private static let waitingLimit = 5

  private var columns: Int { min(size.columns - 1, LiveArea.widthLimit) }
  private var rows: Int { max(1, size.rows - 2) }

  /// Returns the lines; none before the run has begun.
  func lines(_ progress: RunProgress) -> [String] {
    guard progress.run.start != nil else { return [] }
    let all = makeRows(progress)
    let shown = shown(all)
    let hidden = all.count - shown.count
    var lines = lines(of: shown)
    if hidden > 0, rows > 1 {
      lines.append(text.cut("  \(text.ellipsis) and \(hidden) more", columns: columns))
    }
    return lines + [counter(progress)]
  }

  /// A row for something in progress.
  private struct Row {
    enum Remark {
      /// A line of the step's output, as it was written.
      case output([UInt8])
      case text(String)
      case progress(ProgressLine)
    }

    let address: StepAddress
    let order: Int
    /// `nil` if it waits.
    var since: Duration?
    /// A step's last line of output, its progress, or its state.
    var remark: Remark
  }

  private func makeRows(_ progress: RunProgress) -> [Row] {
    let steps = progress.running.values.map { step in
      Row(address: step.address, order: step.order, since: step.since, remark: remark(on: step))
    }
    let running = progress.runningElements
    let loops = progress.loops.values.map { loop in
      Row(
        address: loop.address, order: loop.order, since: loop.since,
        remark: remark(on: loop, running: running[loop.address] ?? 0, progress))
    }
    let retrying = progress.retrying.values.map { waiter in
      Row(address: waiter.address, order: waiter.order, remark: remark(on: waiter))
    }
    return steps + loops + retrying + waitingRows
  }

  /// The steps that wait for something other than a slot of the run, last and not many. The bars of loops cover
  /// their elements.
  private var waitingRows: [Row] {
    waiting.first.filter { $0.reason != .slot && !$0.step.hasElement }
      .prefix(LiveArea.waitingLimit).enumerated().map { index, waiter in
        Row(
          address: waiter.step, order: .max - LiveArea.waitingLimit + index,
          remark: .text(waiter.reason.phrase))
      }
  }

  private func remark(on step: RunProgress.RunningStep) -> Row.Remark {
    if let question = step.question { return .text("waits for approval: \(question)") }
    if let end = step.waitsUntil { return .text("waits, \(left(until: end)) left") }
    if let progress = step.progress { return .progress(ProgressLine(progress, step.pace, at: now)) }
    return .output(step.address == shownAlone ? [] : step.tail.latest)
  }

  private func remark(
    on loop: RunProgress.OpenLoop, running: Int, _ progress: RunProgress
  ) -> Row.Remark {
    guard let elements = progress.tally.open[loop.address]?.elements else { return .text("") }
    var line = ProgressLine(elements, running: running, loop.pace, at: now)
    if running == 0 { line.note = reason(ofWaitIn: loop.address) }
    return .progress(line)
  }

  /// The reason why the first element waits.
  private func reason(ofWaitIn loop: StepAddress) -> String? {
    waiting.first.first { $0.step.isInside(loop) }?.reason.phrase
  }

  /// Returns a remark such as `attempt 2 of 5 in 3 s`.
  private func remark(on waiter: RunProgress.Waiter) -> Row.Remark {
    let limit = waiter.attemptLimit.map { " of \($0)" } ?? ""
    return .text("attempt \(waiter.attempt)\(limit) in \(left(until: waiter.until))")
  }

  /// Rounds up, so that it shows zero only when no time is left.
  private func left(until end: Duration) -> String {
    ShownDuration.coarse(max(.zero, end - now) + .milliseconds(999))
  }

  /// Returns all rows if they fit next to the counter, otherwise the oldest ones.
  private func shown(_ all: [Row]) -> [Row] {
    let sorted = all.sorted { $0.order < $1.order }
    if sorted.count <= rows - 1 { return sorted }
    return Array(sorted.prefix(max(0, rows - 2)))
  }

  /// Formats `  label   1 m 05 s  last line of output`, with aligned columns.
  private func lines(of shown: [Row]) -> [String] {
    let labelLimit = max(8, columns / 3)
    let labels = shown.map { text.cut(label($0.address), columns: labelLimit) }
    let ages = shown.map { row in row.since.map { ShownDuration.coarse(now - $0) } ?? "" }
    let widths = labels.map(DisplayText.columns)
    let labelWidth = widths.max() ?? 0
    let ageWidth = ages.map(\.count).max() ?? 0
    return shown.indices.map { index in
      let left =
        "  \(labels[index])" + spaces(labelWidth - widths[index]) + "  "
        + spaces(ageWidth - ages[index].count)
      let used = 4 + labelWidth + ageWidth
      guard used <= columns else { return text.cut(left + ages[index], columns: columns) }
      return left + palette.painted(ages[index], .faint)
        + self.shown(shown[index].remark, columns: columns - used - 2)
    }
  }

  private func shown(_ remark: Row.Remark, columns: Int) -> String {
    guard columns > 0 else { return "" }
    let plain = DisplayText(passesSGR: false, passesUnicode: text.passesUnicode)
    let shown =
      switch remark {
      case .output(let line): plain.line(line[...], columns: columns)
      case .text(let words): plain.cut(words, columns: columns)
      case .progress(let line): line.text(columns: columns, palette: palette, text: plain)
      }
    return shown.isEmpty ? "" : "  " + shown
  }

  private func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

  /// Formats `12/40 done · 3 running · 1 failed · 00:12 · about 1 m 05 s left`.
  private func counter(_ progress: RunProgress) -> String {
    let counts = progress.counts
    var parts = ["\(counts.done)/\(progress.stepCount) done"]
    if !progress.running.isEmpty {
      parts.append(
        "\(progress.running.count) \(progress.run.cancellation == nil ? "running" : "stopping")")
    }
    if waiting.count > 0 { parts.append("\(waiting.count) waiting") }
    if !progress.retrying.isEmpty { parts.append("\(progress.retrying.count) to be retried") }
    if counts.failed > 0 { parts.append("\(counts.failed) failed") }
    parts.append(ShownDuration.clock(now))
    if let remaining, remaining >= .milliseconds(500), progress.run.cancellation == nil {
      parts.append("about \(ShownDuration.coarse(remaining + .milliseconds(500))) left")
    }
    if case .signal("INT") = progress.run.cancellation { parts.append("^C again kills now") }
    return text.cut(parts.joined(separator: palette.separator), columns: columns)
  }
}

/// Lines on their way to the scrolling part of the screen; many steps skipped at once for the same reason are
/// grouped.
struct ScrolledLines: Sendable {
  /// The number of consecutive steps skipped for one reason that get their own lines.
  static let skipLimit = 3

  private enum Entry: Sendable {
    case line(String)
    /// Lines of steps, with their ends.
    case output([UInt8])
    case moreSkipped(Int, SkipReason)
  }

  private var entries: [Entry] = []
  /// The output after them.
  private var output: [UInt8] = []
  private var lastSkip: (reason: SkipReason, count: Int)?
  /// The number of all lines so far, except those of steps.
  private(set) var lineCount = 0

  /// The size of the output among them.
  private(set) var outputBytes = 0

  mutating func add(_ line: String) {
    append(.line(line))
    lastSkip = nil
  }

  /// Adds lines of steps, with their ends.
  mutating func add(output lines: [UInt8]) {
    if !lines.isEmpty { lastSkip = nil }
    output += lines
    outputBytes += lines.count
  }

  /// Appends one line of a step.
  mutating func append(_ line: (inout [UInt8]) -> Void) {
    lastSkip = nil
    let before = output.count
    line(&output)
    output += "\r\n".utf8
    outputBytes += output.count - before
  }

  private mutating func append(_ entry: Entry) {
    if !output.isEmpty {
      entries.append(.output(output))
      output = []
    }
    entries.append(entry)
    lineCount += 1
  }

  /// Counts a skipped step.
  ///
  /// - Returns: Whether the caller must add a line for it.
  mutating func add(skipped reason: SkipReason) -> Bool {
    let count = lastSkip?.reason == reason ? lastSkip!.count + 1 : 1
    lastSkip = (reason, count)
    guard count > ScrolledLines.skipLimit else { return true }
    if case .moreSkipped(let more, reason)? = entries.last {
      entries[entries.count - 1] = .moreSkipped(more + 1, reason)
    } else {
      append(.moreSkipped(1, reason))
    }
    return false
  }

  mutating func add(lineOfSkipped line: String) { append(.line(line)) }

  /// Returns everything added since the last call, each line with its end.
  mutating func take(moreSkipped: (Int, SkipReason) -> String) -> [UInt8] {
    var bytes: [UInt8] = []
    for entry in entries {
      switch entry {
      case .output(let output): bytes += output
      case .line(let line): bytes += "\(line)\r\n".utf8
      case .moreSkipped(let count, let reason): bytes += "\(moreSkipped(count, reason))\r\n".utf8
      }
    }
    bytes += output
    entries = []
    output = []
    outputBytes = 0
    return bytes
  }
}

import WeftEvents
import WeftPlanning

/// The output of steps on its way to the scrolling part of the screen.
///
/// Lines are shown as they arrive, or a few of them when their step ends: ``OutputPolicy`` decides. A step that runs alone
/// from its start is a candidate until the next frame, because steps that start with it may be a moment late.
struct LiveOutput: Sendable {
  private let policy: OutputPolicy
  private let filter: ScreenFilter
  private let names: DisplayText
  private let palette: Palette
  private var solitude = Solitude()
  /// The step that is shown line by line because it runs alone.
  private var streaming: StepAddress?
  /// The lines of steps that are shown line by line, and of the candidate.
  private var lines: [StepAddress: StepLines] = [:]
  /// The first lines of the other steps.
  private var heads: [StepAddress: OutputHead] = [:]
  /// The filtered lines of the candidate, and the offset of the first one in its log.
  private var held: [UInt8] = []
  private var heldFrom: UInt64 = 0
  /// The ends of earlier attempts in the logs of steps.
  private var attemptEnds: [StepAddress: UInt64] = [:]
  private var open = OpenLine()
  /// Whether the display may not write. Then nothing is kept that the log has.
  var isHidden = false

  private static let heldLimit = 256 << 10

  init(_ policy: OutputPolicy, _ text: DisplayText, _ palette: Palette) {
    self.policy = policy
    self.palette = palette
    filter = text.filter
    names = text
  }

  /// The step whose lines are shown without prefix.
  var stepAlone: StepAddress? { policy.streamsAll ? solitude.step : streaming }

  /// Whether no other lines are between those of a step that is shown line by line.
  func hasNoCompany(_ step: StepAddress) -> Bool {
    policy.streamsAll
      ? solitude.company(of: step, at: .zero) == .noneFromTheStart : streaming == step
  }

  /// Records the steps that run after an event.
  mutating func update(_ progress: RunProgress, after event: RunEvent) {
    var started: StepAddress?
    if case .stepStarted(let step, _, _) = event.kind { started = step }
    solitude.update(
      count: progress.running.count, started: started, first: progress.running.first?.key,
      at: event.elapsed)
    if case .outputDropped = event.kind { recordGaps(progress) }
    guard solitude.step == nil else { return }
    open = OpenLine()
    if !policy.streamsAll, streaming != nil || !lines.isEmpty { stopStreaming(progress) }
  }

  /// Keeps further lines for the end of their step, because another step has started.
  private mutating func stopStreaming(_ progress: RunProgress) {
    if let step = streaming, let running = progress.running[step], let state = lines[step] {
      heads[step] = OutputHead(
        after: running.tail.lineCount, bytes: state.hasGaps ? state.shown : state.known)
    }
    streaming = nil
    lines.removeAll()
    held.removeAll()
  }

  /// Notes that any running step may have written the dropped output.
  private mutating func recordGaps(_ progress: RunProgress) {
    for (step, running) in progress.running {
      if policy.streamsAll || streaming == step {
        if lines[step] == nil { lines[step] = fresh(step, from: attemptEnds[step] ?? 0) }
        lines[step]?.hasGaps = true
        continue
      }
      if lines[step] != nil || isCandidate(step) { holdInLog(step) }
      if heads[step] == nil {
        heads[step] = OutputHead(after: running.tail.lineCount, bytes: attemptEnds[step] ?? 0)
      }
    }
  }

  /// Whether a step will be shown line by line from the next frame on, as it has run alone from its start.
  private func isCandidate(_ step: StepAddress) -> Bool {
    let company = solitude.company(of: step, at: .zero)
    return company == .noneFromTheStart && policy.streams(company)
  }

  private func fresh(_ step: StepAddress, from offset: UInt64) -> StepLines {
    let prefix = palette.painted("[\(names.name(step.text))]", .faint) + " "
    return StepLines(step, prefix: Array(prefix.utf8), from: offset)
  }
}

// MARK: Lines as they arrive

extension LiveOutput {
  /// - Parameter lineCount: The number of lines of the step up to these; `nil` if it does not run.
  mutating func take(
    _ output: StepOutput, of step: StepAddress, lineCount: Int?, at now: Duration,
    to scrolled: inout ScrolledLines
  ) {
    if stepAlone == step || isCandidate(step) { open.take(output) }
    guard output.ending != .transient else { return }
    let company = solitude.company(of: step, at: now)
    if policy.streamsAll || streaming == step {
      return show(output, of: step, prefixed: policy.prefixes(company), to: &scrolled)
    }
    guard let lineCount, policy.form(at: .end(.failure), isStreaming: false) == .excerpt else {
      return
    }
    heads[step, default: OutputHead(after: lineCount - 1, bytes: output.logOffset)].append(output)
    if isCandidate(step) { hold(output, of: step) }
  }

  private mutating func show(
    _ output: StepOutput, of step: StepAddress, prefixed: Bool, to scrolled: inout ScrolledLines
  ) {
    if lines[step] == nil { lines[step] = fresh(step, from: output.logOffset) }
    guard let index = lines.index(forKey: step) else { return }
    if isHidden { lines.values[index].hasGaps = true }
    if lines.values[index].hasGaps { return lines.values[index].note(output) }
    let filter = filter
    let prefix = prefixed ? lines.values[index].prefix : []
    lines.values[index].take(output) { scrolled.add(output: $0, prefix: prefix, filter) }
  }

  private mutating func hold(_ output: StepOutput, of step: StepAddress) {
    if lines[step] == nil {
      lines[step] = fresh(step, from: output.logOffset)
      heldFrom = output.logOffset
      held.removeAll()
    }
    guard let index = lines.index(forKey: step) else { return }
    if lines.values[index].hasGaps { return lines.values[index].note(output) }
    let filter = filter
    var added: [UInt8] = []
    lines.values[index].take(output) { line in
      filter.append(StepOutput.lastState(of: line), to: &added)
      added += "\r\n".utf8
    }
    held += added
    if held.count > LiveOutput.heldLimit { holdInLog(step) }
  }

  /// Leaves the lines of the candidate to its log.
  private mutating func holdInLog(_ step: StepAddress) {
    held.removeAll()
    var state = fresh(step, from: lines[step] == nil ? attemptEnds[step] ?? 0 : heldFrom)
    state.hasGaps = true
    lines[step] = state
  }

  /// Returns a step whose log must be read before the event is shown, and the end of that part.
  func backlog(before event: RunEvent) -> (step: StepAddress, end: UInt64)? {
    guard !lines.isEmpty, !isHidden else { return nil }
    switch event.kind {
    case .stepOutput(let step, let output)
    where lines[step]?.hasGaps == true && (policy.streamsAll || streaming == step):
      return output.ending == .transient ? nil : (step, output.logOffset)
    case .stepFinished(let step, let end), .stepCached(let step, let end):
      return lines[step]?.hasGaps == true ? (step, end.logBytes) : nil
    case .stepRetrying(let step, _):
      return lines[step].flatMap { $0.hasGaps ? (step, $0.known) : nil }
    default: return nil
    }
  }

  /// Returns a step of which events have come while the display was hidden, and the end of that part.
  var backlog: (step: StepAddress, end: UInt64)? {
    guard !isHidden else { return nil }
    let state = lines.values.first { state in
      state.hasGaps && state.shown < state.known
        && (policy.streamsAll || streaming == state.address)
    }
    return state.map { ($0.address, $0.known) }
  }

  /// Reads a piece of a log in place of missing events.
  ///
  /// - Returns: Whether there is more to read up to `end`.
  mutating func read(
    _ step: StepAddress, upTo end: UInt64, at now: Duration, log: Reporter.ReadLog,
    to scrolled: inout ScrolledLines
  ) -> Bool {
    guard let index = lines.index(forKey: step) else { return false }
    let isPrefixed = policy.prefixes(solitude.company(of: step, at: now))
    let prefix = isPrefixed ? lines.values[index].prefix : []
    let filter = filter
    return lines.values[index].read(upTo: end, log: log) {
      scrolled.add(output: $0, prefix: prefix, filter)
    }
  }
}

// MARK: Frames and ends

extension LiveOutput {
  /// Begins to show the lines of a step that runs alone. Called before each frame.
  mutating func settle(
    _ progress: RunProgress, at now: Duration, log: Reporter.ReadLog,
    to scrolled: inout ScrolledLines
  ) {
    guard !policy.streamsAll, !isHidden, let step = solitude.step, streaming != step,
      policy.streams(solitude.company(of: step, at: now)), let running = progress.running[step]
    else { return }
    let head = heads.removeValue(forKey: step)
    if lines[step] == nil {
      if let head {
        let end = running.hasGaps ? head.end : nil
        let excerpt = head.excerpt(of: step, before: running.tail, readingUpTo: end, log: log)
        scrolled.add(excerpt, filter, palette, margin: "", command: nil)
      }
      lines[step] = fresh(step, from: head?.end ?? attemptEnds[step] ?? 0)
      lines[step]?.hasGaps = running.hasGaps
    }
    scrolled.add(output: held)
    held.removeAll()
    streaming = step
  }

  /// Shows the rest of the lines of a step or attempt. Called before the event is applied.
  ///
  /// - Returns: Lines to show below the line of the step itself.
  mutating func end(
    _ end: OutputEnd, at now: Duration, log: Reporter.ReadLog, to scrolled: inout ScrolledLines
  ) -> OutputExcerpt? {
    let step = end.step
    let isCandidate = !policy.streamsAll && streaming != step && lines[step] != nil
    let state = lines.removeValue(forKey: step)
    let head = heads.removeValue(forKey: step)
    defer { forget(step, known: state?.known ?? head?.end, isOver: end.moment != .retry) }
    let isStreaming = isCandidate ? !isHidden : streaming == step
    switch policy.form(at: end.moment, isStreaming: isStreaming) {
    case .nothing: return nil
    case .lines, .folded:
      guard var state else { return nil }
      if isCandidate { scrolled.add(output: held) }
      let isPrefixed = policy.prefixes(solitude.company(of: step, at: now))
      let prefix = isPrefixed ? state.prefix : []
      state.takeRest { scrolled.add(output: $0, prefix: prefix, filter) }
      let isMissing = state.hasGaps || state.shown < state.known
      return isMissing ? end.excerpt(from: state.shown, log: log) : nil
    case .excerpt:
      guard let head, let running = end.running else {
        let isMissing = end.running?.hasGaps ?? true
        return isMissing ? end.excerpt(from: attemptEnds[step] ?? 0, log: log) : nil
      }
      return head.excerpt(
        of: step, before: running.tail, readingUpTo: running.hasGaps ? end.logEnd : nil, log: log)
    }
  }

  private mutating func forget(_ step: StepAddress, known: UInt64?, isOver: Bool) {
    attemptEnds[step] = isOver ? nil : known ?? attemptEnds[step]
    guard streaming == step || solitude.step == step else { return }
    streaming = nil
    held.removeAll()
    open = OpenLine()
  }

  /// Notes the text of the line that the step alone has begun and not ended.
  mutating func note(open line: [UInt8]?, at now: Duration) { open.note(line, at: now) }

  /// The line to show below all others, because it has not ended: the present state of a progress line, or a prompt.
  func openLine(at now: Duration) -> [UInt8]? { stepAlone == nil ? nil : open.shown(at: now) }
}

/// The line of a step that has not ended.
struct OpenLine: Sendable {
  /// The present content of a progress line.
  private var state: [UInt8] = []
  private var begun: [UInt8] = []
  private var since = Duration.zero

  /// The time for which a line must stay as it is: most lines end a moment after they begin.
  static let patience = Duration.milliseconds(200)

  mutating func take(_ output: StepOutput) {
    state = output.ending == .transient ? Array(output.bytes) : []
    begun = []
  }

  mutating func note(_ line: [UInt8]?, at now: Duration) {
    let line = line ?? []
    if line != begun { (begun, since) = (line, now) }
  }

  func shown(at now: Duration) -> [UInt8]? {
    if !begun.isEmpty, now - since >= OpenLine.patience { return begun }
    return state.isEmpty ? nil : state
  }
}

extension ScrolledLines {
  mutating func add(output line: ArraySlice<UInt8>, prefix: [UInt8], _ filter: ScreenFilter) {
    append { bytes in
      bytes += prefix
      filter.append(StepOutput.lastState(of: line), to: &bytes)
    }
  }

  /// - Parameter command: The command that prints all lines.
  mutating func add(
    _ excerpt: OutputExcerpt, _ filter: ScreenFilter, _ palette: Palette, margin: String,
    command: String?
  ) {
    let prefix = Array(margin.utf8)
    for line in excerpt.first { add(output: line[...], prefix: prefix, filter) }
    if let omission = excerpt.omission {
      add(margin + palette.painted(omission.sentence(palette.ellipsis, command), .faint))
    }
    for line in excerpt.last { add(output: line[...], prefix: prefix, filter) }
  }
}

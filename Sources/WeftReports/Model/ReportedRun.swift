import WeftDefinition
import WeftDiagnostics
import WeftDrawing
package import WeftEvents
package import WeftExecution
package import WeftPlanning
import WeftPlatform
package import WeftRecord
import WeftReporting

/// A recorded run as reports show it: its state, its times, and how to read its logs.
///
/// Made from what a run's folder holds, so a run that ended last week has the same report as one that has just ended.
/// The record has no secrets; only the workflow file can, in default values, so what is shown of it is masked.
package final class ReportedRun {
  package let detail: RunDetail
  package let timeline: RunTimeline
  /// `nil` if the workflow was not recorded or is not valid any more.
  package let plan: Plan?
  /// The plan before the values of the run's inputs were known; `nil` if nothing is to be compared with it.
  let definition: Plan?
  /// The durations of earlier runs.
  package let history: DurationHistory
  /// The arguments that identify the run to a command.
  package let words: String
  /// The missing parts of the record, as sentences without a full stop.
  package let gaps: [String]
  let mask: SecretMask
  /// The steps that determined when the run ended, in order, as indices into the timeline.
  let chain: [Int]
  let causes: CriticalChain?
  /// The failures of steps, groups and loops that something around them tolerates, as the counts of the run have it.
  private let tolerated: Set<StepAddress>
  /// The losers of races and joins among the steps that a previous engine cancelled for a different reason.
  private let decided: [StepAddress: CancelReason]
  private let readEnd: (StepAddress, Int) -> LogEnd?

  /// - Parameters:
  ///   - now: The time up to which a run that an engine holds is shown; `nil` for that of its last record.
  ///   - isChanged: Whether the recorded workflow file is not the one that the run read.
  ///   - hasLog: Whether there is a log of a step.
  ///   - readEnd: Returns at most this many of the last bytes of a step's log; `nil` if there is none.
  package init(
    _ detail: RunDetail, _ builder: TimelineBuilder, _ plan: Plan?, mask: SecretMask = .none,
    definition: Plan? = nil, history: DurationHistory = DurationHistory(), words: String,
    now: WallTime? = nil, isChanged: Bool = false,
    hasLog: (StepAddress) -> Bool = { _ in true },
    readEnd: @escaping (StepAddress, Int) -> LogEnd? = { _, _ in nil }
  ) {
    (self.detail, self.plan, self.mask, self.history) = (detail, plan, mask, history)
    (self.words, self.readEnd, self.definition) = (words, readEnd, definition)
    tolerated = ReportedRun.toleratedFailures(in: detail.recorded, plan)
    decided = ReportedRun.decidedSteps(in: detail, plan)
    let pools = plan?.files.flatMap(\.workflow.pools) ?? []
    let timeline = RunTimeline(
      builder, isLive: detail.state == .running, now: now,
      capacities: Dictionary(pools.map { ($0.name, $0.slots) }, uniquingKeysWith: { $1 }),
      rates: Set(pools.filter { $0.rate != nil }.map(\.name)), tolerated: tolerated)
    causes = plan.map { CriticalChain(timeline, $0, detail.recorded.groups) }
    chain = causes?.steps ?? []
    self.timeline = timeline
    var gaps: [String] = []
    if let damage = detail.damage {
      gaps.append("the journal is damaged, and what follows is missing: \(damage.message)")
    }
    if plan == nil {
      gaps.append(
        "the recorded workflow file \(isChanged ? "was changed" : "is not readable any more"): "
          + "there is neither a graph nor a critical path")
    }
    let missing = detail.steps.count { $0.step.hasWritten && !hasLog($0.address) }
    if missing > 0 { gaps.append("the logs of \(Count(missing, "step")) are missing") }
    self.gaps = gaps
  }

  package var recorded: RunState { detail.recorded }

  /// Whether a part of the record could not be read.
  package var isDamaged: Bool { detail.damage != nil }

  /// The workflow's name, or its file.
  var title: String {
    recorded.opening?.workflow ?? recorded.opening?.file ?? recorded.start?.workflow ?? "workflow"
  }

  /// Text of one line, in which nothing controls a terminal or reorders characters.
  func shown(_ text: String) -> String { TerminalText.harmless(text) }

  /// Text of one line from the workflow file, without its secrets.
  func masked(_ text: String) -> String { TerminalText.harmless(mask.masked(text)) }

  // MARK: Steps

  func verdict(of step: RecordedStep, at address: StepAddress) -> Verdict {
    let verdict = Verdict(step, in: detail.state)
    let isFailure = verdict == .failed || step.isLeftInDoubt
    return isFailure && tolerated.contains(address) ? .tolerated : verdict
  }

  func verdict(of end: GroupEnd, at address: StepAddress) -> Verdict {
    let verdict = Verdict(end)
    return verdict == .failed && tolerated.contains(address) ? .tolerated : verdict
  }

  /// Whether the step, group or loop failed, and something around it, or it itself, tolerates that.
  func tolerates(_ failed: StepAddress) -> Bool {
    if tolerated.contains(failed) { return true }
    if let end = recorded.groups[failed]?.end { return Verdict(end) == .tolerated }
    return recorded.steps[failed].map { Verdict($0, in: detail.state) == .tolerated } ?? false
  }

  private static func toleratedFailures(in recorded: RunState, _ plan: Plan?) -> Set<StepAddress> {
    var ends: [StepAddress: GroupEnd] = [:]
    for (address, group) in recorded.groups {
      if let end = group.end { ends[address] = end }
    }
    let failed =
      recorded.steps.filter {
        Verdict($0.step, in: .interrupted) == .failed || $0.step.isLeftInDoubt
      }.map(\.address)
      + ends.filter { Verdict($0.value) == .failed }.map(\.key)
    // Without the plan, what encloses a step is not known; a run that succeeded has tolerated whatever failed.
    if recorded.end?.outcome == .success { return Set(failed) }
    guard let plan else { return [] }
    var tolerance = EnclosingTolerance(plan, ends)
    return Set(failed.filter { tolerance.absorbs($0) })
  }

  private static func decidedSteps(
    in detail: RunDetail, _ plan: Plan?
  ) -> [StepAddress: CancelReason] {
    guard detail.recorded.resumptions > 0, let plan else { return [:] }
    var forecast = ResumeForecast(plan, detail.recorded)
    var decided: [StepAddress: CancelReason] = [:]
    for (address, step) in detail.recorded.steps {
      decided[address] = forecast.decision(against: address, step)
    }
    return decided
  }

  /// The reason why a step was cancelled, by what is known now; `nil` if it was not.
  func cancellation(of end: StepEnd, at address: StepAddress) -> CancelReason? {
    end.cancellation.map { decided[address] ?? $0 }
  }

  /// The index into the timeline of each step.
  var places: [StepAddress: Int] {
    Dictionary(
      timeline.steps.enumerated().map { ($1.address, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The steps of the plan that no engine has mentioned, in a run that has not ended; without those in loops, whose
  /// number is not known.
  var notReached: [StepAddress] {
    guard let plan, recorded.end == nil else { return [] }
    return plan.steps.filter { step in
      recorded.steps[step.address] == nil && recorded.groups[step.address] == nil
        && !plan.isInLoop(group: step.group) && !step.isLoop
        && !plan.bodies.cleanupSteps.contains(where: { plan.steps[$0].address == step.address })
    }.map(\.address)
  }

  /// A clause about how the step ended: `exited with code 3`, `skipped because "a" failed`; `nil` if there is nothing
  /// to say.
  func reason(of step: RecordedStep, at address: StepAddress) -> String? {
    switch step.state {
    case .finished(let end, _) where step.isServing:
      detail.state == .running
        ? nil
        : "\(ReadyService(in: detail.state).rawValue), was ready after "
          + ShownDuration.precise(end.duration)
    case .finished(let end, _):
      end.failure?.message
        ?? cancellation(of: end, at: address).map { "cancelled: \($0.sentence)" }
    case .skipped(let reason): reason.phrase(of: address)
    case .retrying(let retry): retry.failure.message
    case .started where step.isAsking: step.question.map { "waits for approval: \($0)" }
    case .started: detail.state == .running ? nil : step.interruption
    case .queued: nil
    }
  }

  /// The time that a step took in the last attempt that ended, as its event says.
  func duration(of step: RecordedStep) -> Int? {
    switch step.state {
    case .finished where step.isServing: nil
    case .finished(let end, _): end.duration.wholeMicroseconds
    case .retrying(let retry): retry.duration.wholeMicroseconds
    case .queued, .started, .skipped: nil
    }
  }

  /// The durations of each step of the plan in other runs; `nil` without a plan.
  var earlierDurations: [MeasuredStep?]? {
    guard let plan else { return nil }
    var own = RunMeasures(stepCount: plan.steps.count)
    let addresses = PlanAddresses(plan)
    for (address, step) in detail.steps where step.engine == recorded.resumptions {
      guard let index = addresses.step(at: address), let duration = step.measured else { continue }
      own.ended(index, after: duration)
    }
    return zip(history.steps(of: plan), own.means).map { known, own in
      own.map { known?.without($0) } ?? known
    }
  }

  // MARK: Counts

  /// The numbers of steps by outcome, without zeros. For a run that has not ended also the number of all others, those
  /// of elements that have not begun included.
  var counts: [(name: String, count: Int)] {
    let counts = recorded.end?.counts ?? recorded.counts
    let others = recorded.end == nil ? (recorded.stepCount(plan) ?? 0) - counts.done : 0
    return [
      ("succeeded", counts.succeeded), ("failed", counts.failed), ("tolerated", counts.tolerated),
      ("cancelled", counts.cancelled), ("skipped", counts.skipped), ("cached", counts.cached),
      ("restored", counts.restored), ("not finished", others),
    ].filter { $0.1 > 0 }
  }

  // MARK: Logs

  /// The last lines of a step's log, harmless to show; empty if it wrote nothing.
  func lastLines(of step: StepAddress, atMost count: Int, bytes: Int = 16 << 10) -> [String] {
    guard let end = readEnd(step, bytes) else { return [] }
    return end.lines(atMost: count)
  }
}

extension RecordedStep {
  /// The duration, if it shows how long the step takes; for a service, the time until it was ready.
  var measured: Duration? {
    guard !isCached, case .finished(let end, _) = state, end.outcome == .success else {
      return nil
    }
    return readyAfter ?? end.duration
  }
}

/// The end of a log.
package struct LogEnd: Sendable, Hashable {
  let bytes: [UInt8]
  /// Whether the log has nothing before it.
  let isWhole: Bool

  package init(_ bytes: [UInt8], isWhole: Bool) {
    (self.bytes, self.isWhole) = (bytes, isWhole)
  }

  private static let text = DisplayText(passesSGR: false, passesUnicode: true)
  /// The maximum length of a line.
  private static let columns = 1000

  /// Returns the last lines, each in the state in which a terminal would have left it.
  func lines(atMost count: Int) -> [String] {
    var pieces = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if pieces.last?.isEmpty == true { pieces.removeLast() }
    let isCut = !isWhole
    if isCut, pieces.count > 1 { pieces.removeFirst() }
    return pieces.suffix(count).map { LogEnd.text.line($0, columns: LogEnd.columns) }
  }
}

/// The workflow file of a run, as the run read it. It may contain defaults of secret inputs, which are masked.
extension ReportedRun {
  /// The beginning of the file, and whether there is more.
  func definition(atMost limit: Int) -> (text: String, isCut: Bool) {
    guard let bytes = plan?.workflow.source.value?.bytes else { return ("", false) }
    let text = mask.masked(String(decoding: bytes.prefix(limit), as: UTF8.self))
    return (lines(of: text), bytes.count > limit)
  }

  /// The definition of a step, as its file has it.
  func source(ofStep index: Int, atMost limit: Int) -> String? {
    guard let plan, let range = plan.steps[index].step.place.value?.step,
      let file = plan.files[plan.groups[plan.steps[index].group].file].workflow.source.value
    else { return nil }
    let end = min(Int(range.end), file.bytes.count, Int(range.start) + limit)
    guard Int(range.start) < end else { return nil }
    let part = String(decoding: file.bytes[Int(range.start)..<end], as: UTF8.self)
    return lines(of: mask.masked(part)) + (end < Int(range.end) ? "…" : "")
  }

  /// `build.json:12:5`.
  func location(ofStep index: Int) -> String? {
    plan?.place(ofStep: index).map { place in
      let position = place.file.position(of: Int(place.range.start))
      return "\(shown(place.file.path)):\(position.line):\(position.column)"
    }
  }

  /// The lines of a text, each harmless.
  private func lines(of text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { line in
        TerminalText.harmless(
          line.split(separator: "\t", omittingEmptySubsequences: false).joined(separator: "    "))
      }
      .joined(separator: "\n")
  }
}

/// The graph of a run: its plan with what became of each step.
extension ReportedRun {
  func outcomes(of plan: Plan) -> DrawnRun {
    let addresses = PlanAddresses(plan)
    let mask = mask
    var drawn = DrawnRun(summary: [verdictText]) { mask.masked($0) }
    var tallies: [StepAddress: Tally] = [:]
    for (address, step) in detail.steps {
      tallies[addresses.planned(address), default: Tally()]
        .add(verdict(of: step, at: address), duration(of: step) ?? 0)
    }
    for (address, tally) in tallies { drawn.steps[address] = tally.outcome }
    for (address, group) in recorded.groups {
      guard let end = group.end, end.outcome == .failure else { continue }
      let isTolerated = verdict(of: end, at: address) == .tolerated
      drawn.groups[addresses.planned(address)] =
        isTolerated
        ? DrawnRun.Outcome(.tolerated, .tolerated, "failed, tolerated")
        : DrawnRun.Outcome(.failed, .failed, "failed")
    }
    for step in chain {
      guard let index = addresses.step(at: timeline.steps[step].address),
        drawn.criticalPath.last != index
      else { continue }
      drawn.criticalPath.append(index)
    }
    if !drawn.criticalPath.isEmpty {
      drawn.summary.append("the thick lines are the critical path of the run")
    }
    return drawn
  }
}

/// The outcomes of all instances of one step.
private struct Tally {
  private var counts: [Verdict: Int] = [:]
  private var longest = 0

  mutating func add(_ verdict: Verdict, _ duration: Int) {
    counts[verdict, default: 0] += 1
    longest = max(longest, duration)
  }

  /// The worst first.
  private static let order: [Verdict] = [
    .failed, .interrupted, .tolerated, .cancelled, .terminated, .waiting, .running, .notStarted,
    .succeeded, .cached, .skipped,
  ]

  var outcome: DrawnRun.Outcome {
    let found = Tally.order.filter { counts[$0] != nil }
    let worst = found.first ?? .notStarted
    let total = counts.values.reduce(0, +)
    guard total > 1 else {
      let time = longest > 0 ? " \(ShownDuration.precise(.microseconds(longest)))" : ""
      return DrawnRun.Outcome(worst.trait, worst.sign, worst.rawValue + time)
    }
    let text = found.map { "\(counts[$0]!) \($0.rawValue)" }.joined(separator: ", ")
    return DrawnRun.Outcome(worst.trait, worst.sign, text)
  }
}

extension Verdict {
  fileprivate var trait: Picture.Traits {
    switch self {
    case .succeeded: .succeeded
    case .failed: .failed
    case .tolerated: .tolerated
    case .cancelled, .terminated: .cancelled
    case .interrupted: .interrupted
    case .skipped: .skipped
    case .cached: .cached
    case .running, .waiting, .notStarted: []
    }
  }

  fileprivate var sign: Picture.Sign {
    switch self {
    case .succeeded: .succeeded
    case .failed: .failed
    case .tolerated: .tolerated
    case .cancelled, .terminated: .cancelled
    case .interrupted: .interrupted
    case .skipped, .notStarted: .skipped
    case .cached: .cached
    case .running, .waiting: .duration
    }
  }
}

import WeftDefinition
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution

/// The events of a made-up run, in order and with times.
struct ScriptedRun {
  private(set) var events: [RunEvent] = []
  private var elapsed: Duration = .zero
  private var counts = OutcomeCounts()
  private var starts: [String: Duration] = [:]
  private var written: [String: [UInt8]] = [:]
  private var firstFailure: StepAddress?
  private var cancellation: CancelReason?

  static let startedAt = WallTime(nanoseconds: 1_795_217_405_123_000_000)

  init(
    _ workflow: String? = "release", steps: Int, groups: Int = 0, maxParallel: Int = 4,
    resumption: Int = 0
  ) {
    let start = RunStart(
      run: RunID("20261120-233005-4f2a9c"), workflow: workflow,
      file: workflow.map { "workflows/\($0).json" }, startedAt: ScriptedRun.startedAt,
      stepCount: steps, groupCount: groups, maxParallel: maxParallel, engineProcess: 4242,
      containment: .subreaper, resumption: resumption)
    add(.runStarted(start))
  }

  /// Sets the time, in milliseconds since the run's start.
  mutating func at(_ milliseconds: Int) { elapsed = .milliseconds(milliseconds) }

  mutating func add(_ kind: RunEvent.Kind) {
    events.append(
      RunEvent(sequence: UInt64(events.count) + 1, elapsed: elapsed, kind: kind))
  }

  mutating func start(_ steps: String...) {
    for step in steps {
      add(.stepQueued(StepAddress(step)))
      add(.stepStarted(StepAddress(step), attempt: 1))
      starts[step] = elapsed
    }
  }

  mutating func write(
    _ step: String, _ line: String, to stream: StepOutput.Stream = .stdout,
    ending: StepOutput.Ending = .newline
  ) {
    write(step, bytes: Array(line.utf8), to: stream, ending: ending)
  }

  mutating func write(
    _ step: String, bytes: [UInt8], to stream: StepOutput.Stream = .stdout,
    ending: StepOutput.Ending = .newline
  ) {
    add(.stepOutput(StepAddress(step), note(step, bytes, stream, ending)))
  }

  /// Shows the current state of a line; it is logged with the rest of its line.
  mutating func show(_ step: String, _ state: String) {
    add(
      .stepOutput(
        StepAddress(step),
        StepOutput(
          stream: .stdout, bytes: Array(state.utf8)[...], ending: .transient,
          logOffset: UInt64(written[step, default: []].count))))
  }

  /// Writes output that goes to the log, but has no event.
  mutating func writeUnseen(_ step: String, _ lines: String...) {
    let first = UInt64(events.count) + 1
    for line in lines { _ = note(step, Array(line.utf8), .stdout, .newline) }
    add(
      .outputDropped(
        OutputGap(sequences: first...first, count: lines.count, bytes: lines.joined().utf8.count)))
  }

  private mutating func note(
    _ step: String, _ bytes: [UInt8], _ stream: StepOutput.Stream, _ ending: StepOutput.Ending
  ) -> StepOutput {
    let offset = UInt64(written[step, default: []].count)
    written[step, default: []] += bytes + (ending == .newline ? [UInt8(ascii: "\n")] : [])
    return StepOutput(stream: stream, bytes: bytes[...], ending: ending, logOffset: offset)
  }

  mutating func succeed(_ steps: String..., attempts: Int = 1) {
    for step in steps {
      counts.succeeded += 1
      finish(step, .success, conclusion: .success, exit: .code(0), attempts: attempts)
    }
  }

  /// A further attempt, after ``retry(_:attempt:of:after:)``.
  mutating func start(_ step: String, attempt: Int, job: JobKind? = nil) {
    add(.stepStarted(StepAddress(step), attempt: attempt, job: job))
    starts[step] = elapsed
  }

  mutating func retry(_ step: String, attempt: Int, of limit: Int, after milliseconds: Int) {
    add(
      .stepRetrying(
        StepAddress(step),
        Retry(
          attempt: attempt, of: limit, failure: ScriptedRun.failure(1), exit: .code(1),
          duration: elapsed - starts[step, default: .zero], delay: .milliseconds(milliseconds))))
  }

  mutating func retryGroup(_ group: String, attempt: Int, of limit: Int, after milliseconds: Int) {
    add(
      .groupRetrying(
        StepAddress(group),
        Retry(
          attempt: attempt, of: limit, failure: ScriptedRun.failure(1), exit: nil,
          duration: .milliseconds(100), delay: .milliseconds(milliseconds))))
  }

  mutating func endGroup(
    _ group: String, failingBy cause: String? = nil, attempts: Int = 1, winner: String? = nil,
    lasting milliseconds: Int
  ) {
    let outcome: Outcome = cause == nil ? .success : .failure
    add(
      .groupFinished(
        StepAddress(group),
        GroupEnd(
          outcome: outcome, conclusion: outcome,
          failure: cause == nil ? nil : ScriptedRun.failure(1),
          cause: cause.map { StepAddress($0) }, attempts: attempts,
          winner: winner.map { StepAddress($0) }, duration: .milliseconds(milliseconds))))
  }

  mutating func cancelGroup(_ group: String, attempts: Int = 1, lasting milliseconds: Int) {
    add(
      .groupFinished(
        StepAddress(group),
        GroupEnd(
          outcome: .cancelled, conclusion: .cancelled, failure: nil, cause: nil,
          attempts: attempts, duration: .milliseconds(milliseconds))))
  }

  /// Marks the failures so far as tolerated by an enclosing scope.
  mutating func tolerateFailures() {
    counts.tolerated += counts.failed
    counts.failed = 0
    firstFailure = nil
  }

  /// Discounts steps of an attempt that is followed by another one.
  mutating func forget(succeeded: Int) { counts.succeeded -= succeeded }

  mutating func failUncounted(_ step: String) {
    let before = (counts, firstFailure)
    fail(step)
    (counts, firstFailure) = before
  }

  private static func failure(_ code: Int) -> StepFailure {
    StepFailure(classes: [.exit(code), .exit], message: "exited with code \(code)")
  }

  mutating func fail(
    _ step: String, code: Int = 1, isTolerated: Bool = false, help: String? = nil,
    attempts: Int = 1, notRetried: String? = nil
  ) {
    if isTolerated { counts.tolerated += 1 } else { counts.failed += 1 }
    if !isTolerated { firstFailure = firstFailure ?? StepAddress(step) }
    let failure = StepFailure(
      classes: [.exit(code), .exit], message: "exited with code \(code)", help: help)
    finish(
      step, .failure, conclusion: isTolerated ? .success : .failure, exit: .code(code),
      failure: failure, attempts: attempts, notRetried: notRetried)
  }

  mutating func cancel(_ step: String, _ reason: CancelReason) {
    counts.cancelled += 1
    finish(
      step, .cancelled, conclusion: .cancelled, exit: .signal("TERM"), cancellation: reason)
  }

  private mutating func finish(
    _ step: String, _ outcome: Outcome, conclusion: Outcome, exit: ProgramExit,
    failure: StepFailure? = nil, cancellation: CancelReason? = nil, attempts: Int = 1,
    notRetried: String? = nil
  ) {
    var end = StepEnd(
      outcome: outcome, conclusion: conclusion, attempts: attempts, exit: exit, failure: failure,
      cancellation: cancellation, duration: elapsed - starts[step, default: .zero],
      outputBytes: UInt64(written[step, default: []].count))
    end.notRetried = notRetried
    add(.stepFinished(StepAddress(step), end))
  }

  mutating func skip(_ steps: String..., because reason: SkipReason) {
    for step in steps {
      if reason.outcome == .cancelled { counts.cancelled += 1 } else { counts.skipped += 1 }
      add(.stepSkipped(StepAddress(step), reason))
    }
  }

  /// Fails the group by its own time limit.
  mutating func timeOut(group: StepAddress, after limit: Duration) {
    firstFailure = firstFailure ?? group
    let failure = StepFailure(
      classes: [.timeout], message: "timed out after \(limit.components.seconds) s")
    add(
      .groupFinished(
        group,
        GroupEnd(
          outcome: .failure, conclusion: .failure, failure: failure, cause: nil, duration: limit)))
  }

  mutating func cancel(_ reason: CancelReason) {
    cancellation = reason
    add(.runCancelling(reason))
  }

  mutating func finish() {
    let outcome: Outcome =
      cancellation != nil ? .cancelled : firstFailure != nil ? .failure : .success
    add(
      .runFinished(
        RunEnd(
          outcome: outcome, firstFailure: firstFailure, cancellation: cancellation,
          duration: elapsed, counts: counts)))
  }

  /// The step's log, as the engine would read it.
  func log(_ step: StepAddress, _ range: Range<UInt64>) -> [UInt8] {
    let bytes = written[step.text, default: []]
    let range = range.clamped(to: 0..<UInt64(bytes.count))
    return Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
  }
}

import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform
import WeftRecord

/// One recorded run as a sample of later ones: how long its steps took, and which way it went. A pure fold of records.
struct RunSample: Sendable {
  /// One execution of a step, with all its attempts.
  struct Execution: Sendable, Hashable {
    enum Ending: Sendable {
      case success
      /// A failure that the step, or something around it, tolerates.
      case tolerated
      /// Cancelled because a race or join was decided: it would have taken longer than what decided that.
      case cutShort
    }

    struct Failure: Sendable, Hashable {
      let microseconds: Int
      let failure: StepFailure
    }

    /// The attempts before the last one.
    var failures: [Failure] = []
    /// The duration of the last attempt.
    var microseconds: Int
    var ending = Ending.success

    /// The time of all attempts, without the time between them.
    var total: Int { failures.reduce(microseconds) { $0 + $1.microseconds } }

    /// Corrects the time of one that was cut short.
    ///
    /// - Parameters:
    ///   - least: The time in which it would not have ended.
    ///   - stop: The part of its time after it was asked to end.
    fileprivate mutating func extend(to least: Duration, without stop: Duration) {
      let missing = least.measuredMicroseconds - (total - microseconds)
      microseconds = max(microseconds - stop.measuredMicroseconds, missing)
    }
  }

  let run: RunID
  /// Whether it shows how long a step takes, if only by a tolerated failure. A run that was killed early does not.
  var hasMeasured: Bool { !executions.isEmpty }
  private(set) var opening: RecordOpening?
  private(set) var maxParallel: Int?
  private(set) var end: RunEnd?
  private var engines = 0
  /// The executions that show how long a step takes.
  private(set) var executions: [StepAddress: Execution] = [:]
  /// The ends of steps that did not block their dependents, with the values that were read.
  private(set) var ends: [StepAddress: RehearsedEnd] = [:]
  /// Whether each step, group or loop started or was skipped by its own condition.
  private(set) var decisions: [StepAddress: Bool] = [:]
  private(set) var elements: [StepAddress: RecordedElements] = [:]
  private var failures: [StepAddress: [Execution.Failure]] = [:]
  /// The last ends of steps that failed, until it is known whether something around them tolerates that.
  private var failed: [StepAddress: (execution: Execution, end: RehearsedEnd)] = [:]
  private(set) var groups: [StepAddress: GroupEnd] = [:]
  /// The moments at which steps and groups ended.
  private(set) var moments: [StepAddress: WallTime] = [:]
  /// The races and joins that ended steps, and what won.
  private(set) var decided: [StepAddress: CancelReason] = [:]
  /// The times that steps took to end after they were asked to.
  private(set) var stopTimes: [StepAddress: Duration] = [:]
  /// The times after which services were ready: whatever needed them had to wait that long.
  private(set) var readiness: [StepAddress: Duration] = [:]
  /// The attempts with jobs that have not ended, and those that the present engine may have adopted: no engine has
  /// seen these as a whole.
  private var jobs: [StepAddress: Int] = [:]
  private var adopted: [StepAddress: Int] = [:]

  init(_ run: RunID) { self.run = run }

  /// Whether it is a measurement of the whole: one engine ran every step that was to run.
  var isWhole: Bool {
    guard let end, engines == 1 else { return false }
    return end.outcome == .success && end.counts.cached == 0 && end.counts.restored == 0
  }

  mutating func apply(_ record: RunRecord) {
    switch record.kind {
    case .opened(let opening):
      if self.opening == nil { self.opening = opening }
      engines += 1
      moments = [:]
      adopted = jobs
    case .listed(let loop, let listed): elements[loop] = listed
    case .event(let event, let values):
      if let ended = event.endedAddress { moments[ended] = record.at }
      apply(event, values)
    case .spawned, .kept, .groupSkipped, .outdated, .waiting: break
    }
  }

  private mutating func apply(_ event: RunEvent.Kind, _ values: RecordedValues) {
    switch event {
    case .runStarted(let start): maxParallel = start.maxParallel
    case .runFinished(let end): self.end = end
    case .groupStarted(let group, _): decisions[group] = true
    case .stepStarted(let step, let attempt, let job):
      decisions[step] = true
      if adopted[step] != attempt { adopted[step] = nil }
      jobs[step] = job == nil ? nil : attempt
      if attempt == 1 { failures[step] = nil }
    case .stepRetrying(let step, let retry):
      if adopted[step] != nil { break }
      failures[step, default: []].append(
        Execution.Failure(
          microseconds: retry.duration.measuredMicroseconds, failure: retry.failure))
    case .stepReady(let step, let end): readiness[step] = end.duration
    case .stepFinished(let step, let end): finished(step, end, values)
    case .groupFinished(let group, let end): groups[group] = end
    case .stepCached(let step, let end):
      decisions[step] = true
      ends[step] = RehearsedEnd(end, values)
    case .stepSkipped(_, .condition(of: let skipped)): decisions[skipped] = false
    case .stepSkipped, .stepQueued, .stepBegun, .stepAsking, .stepWaiting, .stepOutput,
      .stepProgress,
      .stepRestored, .groupRetrying, .runWaiting, .runWarning, .runCancelling,
      .outputDropped,
      .snapshot:
      break
    }
  }

  private mutating func finished(
    _ step: StepAddress, _ end: StepEnd, _ values: RecordedValues
  ) {
    jobs[step] = nil
    let isWhole = adopted.removeValue(forKey: step) == nil
    var execution = Execution(
      failures: failures.removeValue(forKey: step) ?? [],
      microseconds: (readiness[step] ?? end.duration).measuredMicroseconds)
    failed[step] = nil
    switch (end.outcome, end.conclusion) {
    case (.success, _): execution.ending = .success
    case (.failure, .success): execution.ending = .tolerated
    case (.failure, _):
      execution.ending = .tolerated
      failed[step] = (execution, RehearsedEnd(end, values))
      return
    case (.cancelled, _):
      switch end.cancellation {
      case .raceWon, .joined:
        execution.ending = .cutShort
        decided[step] = end.cancellation
      default: return
      }
    default: return
    }
    if execution.ending != .cutShort { ends[step] = RehearsedEnd(end, values) }
    if isWhole { measure(step, execution) }
  }

  private mutating func measure(_ step: StepAddress, _ execution: Execution) {
    if execution.ending == .success || executions[step]?.ending != .success {
      executions[step] = execution
    }
  }

  /// Takes the failures into account that groups and loops tolerate.
  func settled(in plan: Plan) -> RunSample {
    var sample = self
    var tolerance = EnclosingTolerance(plan, groups)
    for (step, last) in failed where tolerance.absorbs(step) {
      sample.ends[step] = last.end
      sample.measure(step, last.execution)
    }
    guard !decided.isEmpty || !readiness.isEmpty else { return sample }
    let stops = StopTimes(sample, plan)
    sample.stopTimes = stops.times
    for (step, least) in stops.leastTimes where sample.executions[step]?.ending == .cutShort {
      sample.executions[step]?.extend(to: least, without: stops.times[step] ?? .zero)
    }
    return sample
  }
}

extension RunEvent.Kind {
  fileprivate var endedAddress: StepAddress? {
    switch self {
    case .stepFinished(let step, _): step
    case .groupFinished(let group, _): group
    default: nil
    }
  }
}

// MARK: Reading

extension RunSample {
  /// The number of runs that are taken into account.
  static let limit = 10
  /// The number of runs among which they are looked for.
  private static let searchLimit = 500

  /// Reads the last runs of a workflow, the newest first. Runs that cannot be read are left out.
  static func all(of key: WorkflowKey, _ workflow: Workflow, in state: StateDirectory)
    -> [RunSample]
  {
    var samples: [RunSample] = []
    for run in state.newestFirst(atMost: searchLimit) {
      guard samples.count < limit else { break }
      // Most runs of other workflows differ by the names of their files.
      guard let entry = state.glance(at: run), entry.state != .damaged,
        name(of: entry.file) == name(of: workflow.source.value?.path)
      else { continue }
      var sample = RunSample(run)
      guard (try? state.detail(of: run, visiting: { sample.apply($0) })) != nil,
        sample.opening.flatMap({ WorkflowKey($0) }) == key
      else { continue }
      samples.append(sample)
    }
    return samples
  }

  private static func name(of path: String?) -> Substring? {
    path?.split(separator: "/").last
  }
}

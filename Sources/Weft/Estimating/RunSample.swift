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
      /// Cancelled because a race or join was decided: it would have taken longer.
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
  private var groups: [StepAddress: GroupEnd] = [:]
  /// The times after which services were ready: whatever needed them had to wait that long.
  private var readiness: [StepAddress: Duration] = [:]
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
      adopted = jobs
    case .listed(let loop, let listed): elements[loop] = listed
    case .event(let event, let values): apply(event, values)
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
      case .raceWon, .joined: execution.ending = .cutShort
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
    return sample
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

/// The durations that steps are expected to take, from the executions in earlier runs. The runs are in order, the
/// newest first.
struct StepDurations: Sendable {
  typealias Execution = RunSample.Execution

  /// The source of an expected duration.
  enum Basis: Sendable {
    case measured
    /// The step was never measured.
    case assumed
  }

  /// The durations that one rehearsal uses.
  enum Choice: Sendable, Hashable {
    /// The median of each step.
    case typical
    /// Those of one run, by its position, and the median for steps that it did not measure.
    case run(Int)
  }

  private let runs: [[StepAddress: Execution]]
  /// The typical execution of each step outside of loops.
  private var steps: [Execution?]
  /// The typical executions of steps in elements.
  private var elements: [StepAddress: Execution] = [:]
  /// These by step of the plan, for elements that no run had.
  private var pooled: [Int: [Execution]] = [:]
  /// The duration of a step that was never measured: the median of the others.
  let assumption: Duration
  /// The number of steps of the plan with a measurement.
  let measuredCount: Int

  /// - Parameter history: For steps whose runs are not kept any more.
  init(
    _ plan: Plan, _ addresses: PlanAddresses, _ samples: [RunSample], _ history: DurationHistory
  ) {
    runs = samples.map(\.executions)
    var all: [StepAddress: [Execution]] = [:]
    for run in runs {
      for (address, execution) in run { all[address, default: []].append(execution) }
    }
    steps = plan.steps.map { step in all[step.address].map(StepDurations.typical) }
    for (address, executions) in all.sorted(by: { $0.key.text < $1.key.text })
    where address.hasElement {
      guard let step = addresses.step(at: address) else { continue }
      let typical = StepDurations.typical(executions)
      elements[address] = typical
      pooled[step, default: []].append(typical)
    }
    for (index, known) in history.steps(of: plan).enumerated() {
      guard let known, steps[index] == nil, pooled[index] == nil else { continue }
      steps[index] = Execution(microseconds: known.typical)
    }
    var known: [Int] = []
    for index in plan.steps.indices {
      guard let typical = steps[index] ?? pooled[index].map(StepDurations.typical) else { continue }
      known.append(typical.total)
    }
    known.sort()
    measuredCount = known.count
    assumption = .microseconds(known.isEmpty ? 0 : known[known.count / 2])
  }

  /// The median execution; of two in the middle, the newer. Tolerated failures count if there is no success, and
  /// otherwise the longest that was cut short, as a lower bound.
  ///
  /// - Parameter executions: At least one, the newest first.
  static func typical(_ executions: [Execution]) -> Execution {
    for ending in [Execution.Ending.success, .tolerated] {
      let order = executions.enumerated().filter { $0.element.ending == ending }
        .sorted { ($0.element.total, $0.offset) < ($1.element.total, $1.offset) }
      guard !order.isEmpty else { continue }
      let middle = [order[(order.count - 1) / 2], order[order.count / 2]]
      return middle.min { $0.offset < $1.offset }!.element
    }
    var longest = executions.max { $0.total < $1.total }!
    longest.microseconds += 1000
    return longest
  }

  /// The execution of a step of the plan, at an address in a run.
  func execution(
    of step: Int, at address: StepAddress, _ choice: Choice
  ) -> (Execution, Basis) {
    if case .run(let run) = choice, let own = runs[run][address], own.ending != .cutShort {
      return (own, .measured)
    }
    if let known = address.hasElement ? elements[address] : steps[step] {
      return (known, .measured)
    }
    // Another element for each: so their distribution is that of the elements that are known.
    if let others = pooled[step] {
      return (others[Int(address.stableHash % UInt64(others.count))], .measured)
    }
    if let known = steps[step] { return (known, .measured) }
    return (Execution(microseconds: assumption.measuredMicroseconds), .assumed)
  }
}

extension StepAddress {
  /// A number that is equal in every process (FNV-1a).
  fileprivate var stableHash: UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}

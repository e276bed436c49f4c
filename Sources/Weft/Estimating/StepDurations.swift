import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform
import WeftRecord

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
  /// The times that steps took to end after they were asked to, in the latest run that shows it, and by step of the plan.
  private var stopTimes: [StepAddress: Duration] = [:]
  private var pooledStopTimes: [Int: Duration] = [:]
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
    for sample in samples {
      stopTimes.merge(sample.stopTimes) { newer, _ in newer }
      for (address, time) in sample.stopTimes {
        guard let step = addresses.step(at: address) else { continue }
        pooledStopTimes[step] = max(pooledStopTimes[step] ?? .zero, time)
      }
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

  /// The time that a step takes to end after it is asked to; zero if no run shows it.
  func stopTime(of step: Int, at address: StepAddress) -> Duration {
    stopTimes[address] ?? pooledStopTimes[step] ?? .zero
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

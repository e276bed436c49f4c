import WeftPlanning

/// An estimate of how much longer a run takes, if its remaining steps take as long as in earlier runs.
///
/// The estimate is a lower bound: the longest remaining path, or the remaining work divided by the slots,
/// whichever is more. While nothing unexpected happens it never grows. A step that takes longer than before is
/// assumed to be about to end; a retried step, or a loop with more elements than before, adds to it.
struct RemainingWork: Sendable {
  private struct Step {
    /// Microseconds of one execution, and of all executions as far as they count for a path.
    let each: Int
    let span: Int
    /// The number of executions, as far as known, and how many of these have not ended.
    var times: Int
    var left: Int
    let basis: ExpectedDurations.Basis
    let isIncluded: Bool
  }

  private struct Running {
    let step: Int
    let since: Duration
  }

  private var steps: [Step]
  /// The longest path from each step to the end, including the step.
  private let below: [Int]
  private var running: [Int: Running] = [:]
  /// The work of all steps that have not ended, counting running ones in full; and the guessed share of it.
  private var work = 0
  private var guessed = 0
  /// The number of remaining steps without any estimate.
  private var unforeseeable = 0
  /// Steps by descending longest path; built on first use.
  private var order: [Int32]?
  /// Steps before this one in `order` have all ended.
  private var firstOpen = 0

  /// - Parameter isIncluded: Whether the step of that index is selected to run.
  init(_ expected: ExpectedDurations, of plan: Plan, where isIncluded: (Int) -> Bool) {
    below = plan.steps.map { expected.below[$0.node] }
    steps = []
    steps.reserveCapacity(expected.steps.count)
    for (index, known) in expected.steps.enumerated() {
      let isIncluded = isIncluded(index)
      steps.append(
        Step(
          each: known.each, span: known.span, times: isIncluded ? known.times : 0, left: 0,
          basis: known.basis, isIncluded: isIncluded))
      setLeft(of: index, to: steps[index].times)
    }
  }

  // MARK: Updates

  /// Sets how many elements steps of a loop have, each executed once per element.
  mutating func listed(_ steps: Range<Int>, elements: Int) {
    for step in steps where self.steps[step].isIncluded {
      self.steps[step].times = elements
      setLeft(of: step, to: elements)
    }
  }

  /// - Parameter instance: Distinguishes concurrent executions of one step.
  mutating func started(_ step: Int, as instanceNumber: Int, at time: Duration) {
    running[instanceNumber] = Running(step: step, since: time)
    // It was expected to be skipped.
    if steps[step].left == 0 { setLeft(of: step, to: 1) }
  }

  /// Records that an attempt has ended and another follows.
  mutating func paused(_ instanceNumber: Int) { running[instanceNumber] = nil }

  /// Records that one execution of a step has ended, or will never start.
  mutating func ended(_ step: Int, as instanceNumber: Int) {
    running[instanceNumber] = nil
    if steps[step].left > 0 { setLeft(of: step, to: steps[step].left - 1) }
  }

  /// Records that these steps will not run again.
  mutating func closed(_ steps: Range<Int>) {
    for step in steps { setLeft(of: step, to: 0) }
  }

  /// Records that these steps all run again.
  mutating func repeated(_ steps: Range<Int>) {
    for step in steps { setLeft(of: step, to: self.steps[step].times) }
  }

  private mutating func setLeft(of step: Int, to left: Int) {
    let known = steps[step]
    steps[step].left = left
    let more =
      RemainingWork.product(known.each, left) - RemainingWork.product(known.each, known.left)
    work += more
    if known.basis == .guessed { guessed += more }
    if known.basis == .unforeseeable {
      unforeseeable += (left > 0 ? 1 : 0) - (known.left > 0 ? 1 : 0)
    }
    // Steps before `firstOpen` may be open again.
    if left > known.left { firstOpen = 0 }
  }

  private static func product(_ each: Int, _ times: Int) -> Int {
    let (product, overflows) = each.multipliedReportingOverflow(by: times)
    return overflows ? MeasuredStep.longest : min(product, MeasuredStep.longest)
  }

  // MARK: Estimates

  /// The least time the run still takes; `nil` if that would be a guess: when more than half of the remaining
  /// work was never measured, or the run waits for an approval or a point in time.
  mutating func remaining(at now: Duration, slots: Int) -> Duration? {
    guard unforeseeable == 0, work > 0, guessed <= work / 2 else { return nil }
    let shared = workLeft(at: now) / max(1, slots)
    return .microseconds(max(shared, longestPath(at: now)))
  }

  private func workLeft(at now: Duration) -> Int {
    running.values.reduce(work) { work, running in
      work - min(steps[running.step].each, (now - running.since).measuredMicroseconds)
    }
  }

  /// The longest path to the end from a step that has not ended. If a path contains another such step, the path
  /// from the earlier one is longer.
  private mutating func longestPath(at now: Duration) -> Int {
    if order == nil {
      order = steps.indices.map(Int32.init).sorted {
        below[Int($0)] == below[Int($1)] ? $0 < $1 : below[Int($0)] > below[Int($1)]
      }
    }
    guard let order else { return 0 }
    while firstOpen < order.count, steps[Int(order[firstOpen])].left == 0 { firstOpen += 1 }
    let elapsed = elapsedOfSingleSteps(at: now)
    var longest = 0
    for step in order[firstOpen...].lazy.map(Int.init) where steps[step].left > 0 {
      if below[step] <= longest { break }
      longest = max(longest, below[step] - done(of: step, elapsed[step]))
    }
    return longest
  }

  /// The elapsed times of running steps that are executed once.
  private func elapsedOfSingleSteps(at now: Duration) -> [Int: Int] {
    var elapsed: [Int: Int] = [:]
    for running in running.values where steps[running.step].times <= 1 {
      elapsed[running.step] = (now - running.since).measuredMicroseconds
    }
    return elapsed
  }

  /// The part of a step's share of a path that is done.
  private func done(of step: Int, _ elapsed: Int?) -> Int {
    let known = steps[step]
    if let elapsed { return min(known.span, elapsed) }
    guard known.times > known.left else { return 0 }
    return Int(Double(known.span) * Double(known.times - known.left) / Double(known.times))
  }
}

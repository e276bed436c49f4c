import WeftPlanning

/// Foretells how much longer a run takes: what is left of its steps, if they take as long as in earlier runs.
///
/// What is told is the least that it can be: the longest path that is left, or all that is left shared among the
/// slots, whichever is more. While nothing unexpected happens it never grows. A step that takes longer than
/// it did before is taken to be about to end; a step that is tried again, or run for more elements than it was,
/// adds to it.
struct RemainingWork: Sendable {
  private struct Step {
    /// Microseconds of one time, and of all times as far as they count for a path.
    let each: Int
    let span: Int
    /// How many times of it there are, as far as is known, and how many of these have not ended.
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
  /// By step: the longest path from it to the end, itself included.
  private let below: [Int]
  private var running: [Int: Running] = [:]
  /// Of all that has not ended, what runs included as if it had just begun; and of this, what is only guessed.
  private var work = 0
  private var guessed = 0
  /// How many steps are left of which nobody can say how long they take.
  private var unforeseeable = 0
  /// Steps, those with the longest path first; made when it is first asked for.
  private var order: [Int32]?
  /// Steps before this one in `order` have all ended.
  private var firstOpen = 0

  /// - Parameter isIncluded: Whether a step, by its index, is to be run at all.
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

  // MARK: What happens

  /// Steps are about to be run for so many elements, each once for each.
  mutating func listed(_ steps: Range<Int>, elements: Int) {
    for step in steps where self.steps[step].isIncluded {
      self.steps[step].times = elements
      setLeft(of: step, to: elements)
    }
  }

  /// - Parameter instance: Tells times of one step apart that run at once.
  mutating func started(_ step: Int, as instance: Int, at time: Duration) {
    running[instance] = Running(step: step, since: time)
    // It was expected not to be run.
    if steps[step].left == 0 { setLeft(of: step, to: 1) }
  }

  /// An attempt has ended, and another follows.
  mutating func paused(_ instance: Int) { running[instance] = nil }

  /// One time of a step has ended, or will never be.
  mutating func ended(_ step: Int, as instance: Int) {
    running[instance] = nil
    if steps[step].left > 0 { setLeft(of: step, to: steps[step].left - 1) }
  }

  /// Nothing more of these steps will be run.
  mutating func closed(_ steps: Range<Int>) {
    for step in steps { setLeft(of: step, to: 0) }
  }

  /// They are all run once more.
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
    // What is behind may be open again.
    if left > known.left { firstOpen = 0 }
  }

  private static func product(_ each: Int, _ times: Int) -> Int {
    let (product, overflows) = each.multipliedReportingOverflow(by: times)
    return overflows ? MeasuredStep.longest : min(product, MeasuredStep.longest)
  }

  // MARK: What is left

  /// How much longer the run takes at least; `nil` where that would be more of a guess than knowledge: when
  /// more than half of what is left was never measured, or somebody or a moment is waited for.
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

  /// Of the steps that have not ended, the longest path from one to the end. Where a path goes through
  /// another that has not ended either, that one's is longer.
  private mutating func longestPath(at now: Duration) -> Int {
    if order == nil {
      order = steps.indices.map(Int32.init).sorted {
        below[Int($0)] == below[Int($1)] ? $0 < $1 : below[Int($0)] > below[Int($1)]
      }
    }
    guard let order else { return 0 }
    while firstOpen < order.count, steps[Int(order[firstOpen])].left == 0 { firstOpen += 1 }
    let elapsed = elapsedOfSingles(at: now)
    var longest = 0
    for step in order[firstOpen...].lazy.map(Int.init) where steps[step].left > 0 {
      if below[step] <= longest { break }
      longest = max(longest, below[step] - done(of: step, elapsed[step]))
    }
    return longest
  }

  /// Of steps that are run once, and run now: for how long.
  private func elapsedOfSingles(at now: Duration) -> [Int: Int] {
    var elapsed: [Int: Int] = [:]
    for running in running.values where steps[running.step].times <= 1 {
      elapsed[running.step] = (now - running.since).measuredMicroseconds
    }
    return elapsed
  }

  /// How much of its share of a path a step has behind it.
  private func done(of step: Int, _ elapsed: Int?) -> Int {
    let known = steps[step]
    if let elapsed { return min(known.span, elapsed) }
    guard known.times > known.left else { return 0 }
    return Int(Double(known.span) * Double(known.times - known.left) / Double(known.times))
  }
}

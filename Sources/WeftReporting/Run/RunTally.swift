import WeftDiagnostics
import WeftEvents
import WeftPlanning

/// Counts steps by outcome, and their total as far as known.
///
/// The plan contains the steps of loops and retried groups once. The total therefore grows when elements become
/// known, shrinks by those that are never started, and the counts of an attempt are taken back when another follows.
/// Counts are kept separately for every open scope that may absorb failures.
struct RunTally: Sendable {
  struct Scope: Sendable {
    /// The open scope around it.
    let parent: StepAddress?
    /// The number of steps in it, as far as known.
    var expected: Int
    /// The number of its steps in the plan; for a loop, per element.
    let size: Int
    fileprivate var counts = Counts()
    /// The counts of an attempt that were taken back, until the next one starts.
    fileprivate var takenBack: Counts?
    /// `nil` if it is not a loop.
    var elements: ElementCount?
  }

  fileprivate struct Counts: Sendable {
    var ended = OutcomeCounts()
    /// The steps that were not selected, which no other count includes.
    var unselected = 0

    mutating func add(_ other: Counts) {
      ended.add(other.ended)
      unselected += other.unselected
    }

    mutating func remove(_ other: Counts) {
      ended.remove(other.ended)
      unselected -= other.unselected
    }
  }

  let shape: RunShape
  private var all = Counts()
  private(set) var stepCount = 0
  private(set) var open: [StepAddress: Scope] = [:]
  /// The latest counts of cleanup steps that run again with each attempt of a group.
  private var repeatedCleanups: [StepAddress: Counts] = [:]

  init(shape: RunShape = RunShape()) {
    self.shape = shape
  }

  var counts: OutcomeCounts { all.ended }
  /// The steps that were not selected, which ``counts`` does not include.
  var unselected: Int { all.unselected }

  /// - Parameter stepCount: The number of steps in the plan, including cleanup steps, of which it is unknown whether
  ///   they will run.
  mutating func begin(stepCount: Int) { self.stepCount = stepCount - shape.cleanupCount }

  // MARK: Steps

  mutating func queued(_ step: StepAddress) {
    guard shape.cleansUp(step) else { return }
    if let earlier = repeatedCleanups.removeValue(forKey: step) {
      all.remove(earlier)
      stepCount += earlier.unselected
    } else {
      stepCount += 1
    }
  }

  mutating func finished(_ step: StepAddress, _ end: StepEnd) {
    let around = scope(around: step)
    count(step, in: around) { $0.ended.add(end) }
    endElement(step, of: around, end.conclusion)
  }

  /// Counts a step. The next execution of a cleanup step takes its counts back.
  private mutating func count(
    _ step: StepAddress, in scope: StepAddress?, _ count: (inout Counts) -> Void
  ) {
    change(from: scope, count)
    guard shape.cleansUpRepeatedly(step) else { return }
    var counts = Counts()
    count(&counts)
    repeatedCleanups[step] = counts
  }

  /// Counts a step, a loop or a group that never starts.
  mutating func skipped(_ step: StepAddress, _ reason: SkipReason) {
    let around = scope(around: step)
    queued(step)
    let size = shape.size(of: shape.planned(step)) ?? 1
    if reason == .notSelected {
      grow(by: -size, from: around)
      return count(step, in: around) { $0.unselected += 1 }
    }
    grow(by: 1 - size, from: around)
    count(step, in: around) { $0.ended.add(reason.outcome) }
    endElement(step, of: around, reason.outcome)
  }

  // MARK: Groups

  mutating func started(_ group: StepAddress, _ start: GroupStart) {
    guard open[group] == nil else {
      open[group]?.takenBack = nil
      return
    }
    let around = scope(around: group)
    let known = shape.size(of: shape.planned(group))
    guard let size = known ?? (start.elements == nil ? nil : 1) else { return }
    var scope = Scope(parent: around, expected: size, size: size)
    if let elements = start.elements {
      scope.expected = size * elements
      scope.elements = ElementCount(all: elements)
      grow(by: size * (elements - 1), from: around)
    }
    open[group] = scope
  }

  /// Takes back the counts of an attempt, which the next attempt counts again.
  mutating func retrying(_ group: StepAddress) {
    guard let scope = open[group] else { return }
    change(from: group) { $0.remove(scope.counts) }
    open[group]?.takenBack = scope.counts
    grow(by: scope.size - scope.expected, from: group)
  }

  mutating func finished(_ group: StepAddress, _ end: GroupEnd) {
    // The last attempt counts if the next one was not made.
    if let last = open[group]?.takenBack { change(from: group) { $0.add(last) } }
    guard let scope = open[group] else { return }
    if let elements = end.notStarted {
      change(from: group) { $0.ended.add(elements.outcome, steps: elements.steps) }
    }
    if end.conclusion != .failure {
      change(from: group) { $0.ended.tolerate(scope.counts.ended.failed) }
    }
    grow(by: (open[group]?.counts.ended.done ?? 0) - scope.expected, from: group)
    open[group] = nil
    endElement(group, of: scope.parent, end.conclusion)
  }

  private mutating func endElement(
    _ address: StepAddress, of scope: StepAddress?, _ conclusion: Outcome
  ) {
    guard let scope, open[scope]?.elements != nil else { return }
    open[scope]?.elements?.ended(conclusion)
  }

  // MARK: Enclosing scopes

  /// Returns the innermost open scope around a step or group; none for cleanup steps, which belong to the run.
  func scope(around address: StepAddress) -> StepAddress? {
    guard !open.isEmpty, !shape.cleansUp(address) else { return nil }
    var scope = candidate(around: address)
    // A group that never started has no scope of its own.
    while let closed = scope, open[closed] == nil { scope = candidate(around: closed) }
    return scope
  }

  /// Returns all open scopes around a step or group, innermost first.
  func scopes(around address: StepAddress) -> [StepAddress] {
    var scopes: [StepAddress] = []
    var next = scope(around: address)
    while let scope = next {
      scopes.append(scope)
      next = open[scope]?.parent
    }
    return scopes
  }

  private func candidate(around address: StepAddress) -> StepAddress? {
    if let loop = address.loop { return loop }
    let scope = shape.scope(around: shape.planned(address))
    guard let element = address.innermostElement, let loop = element.loop else { return scope }
    return scope.map { element.inElement($0, of: shape.planned(loop)) } ?? element
  }

  private mutating func change(from scope: StepAddress?, _ change: (inout Counts) -> Void) {
    change(&all)
    var next = scope
    while let scope = next {
      guard open[scope] != nil else { return }
      change(&open[scope]!.counts)
      next = open[scope]?.parent
    }
  }

  private mutating func grow(by number: Int, from scope: StepAddress?) {
    stepCount += number
    var next = scope
    while let scope = next {
      open[scope]?.expected += number
      next = open[scope]?.parent
    }
  }
}

/// The progress of a loop.
struct ElementCount: Sendable, Hashable {
  let all: Int
  private(set) var done = 0
  private(set) var failed = 0

  init(all: Int) { self.all = all }

  mutating func ended(_ conclusion: Outcome) {
    done += 1
    if conclusion == .failure { failed += 1 }
  }

  /// The text `37/100 elements, 2 failed`.
  var text: String {
    let failures = failed > 0 ? ", \(failed) failed" : ""
    return done == all
      ? "\(Count(all, "element"))\(failures)" : "\(done)/\(Count(all, "element"))\(failures)"
  }
}

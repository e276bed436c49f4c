import WeftExecution
import WeftPlanning

/// Counts steps: how many have ended how, and how many there are, as far as is known.
///
/// The plan has a step once that is run for many elements, or again with its group; so the number grows
/// when elements become known, shrinks by those that never come, and what an attempt of a group has counted
/// is taken back when another follows. What is counted is kept apart for everything that is open and may
/// absorb failures.
struct RunTally: Sendable {
  struct Scope: Sendable {
    /// What is open around it.
    let parent: StepAddress?
    /// How many steps there are in it, as far as is known.
    var expected: Int
    /// How many the plan has in it; of a fan-out, in each element.
    let size: Int
    var counts = StepCounts()
    /// `nil` of what is not run for many elements.
    var elements: ElementCount?
  }

  let shape: RunShape
  private(set) var counts = StepCounts()
  private(set) var stepCount = 0
  /// Steps that were not asked for; they are in no other number.
  private(set) var unselected = 0
  private(set) var open: [StepAddress: Scope] = [:]

  init(shape: RunShape = RunShape()) {
    self.shape = shape
  }

  /// - Parameter stepCount: How many steps the plan has; of those that clean up it is not known yet whether
  ///   they will.
  mutating func begin(stepCount: Int) { self.stepCount = stepCount - shape.cleanupCount }

  // MARK: Steps

  mutating func queued(_ step: StepAddress) {
    if shape.cleansUp(step) { stepCount += 1 }
  }

  mutating func finished(_ step: StepAddress, _ end: StepEnd) {
    let around = scope(around: step)
    change(from: around) { $0.add(end) }
    endElement(step, of: around, end.conclusion)
  }

  /// A step, or all that is run many times or again as a whole, never starts.
  mutating func skipped(_ step: StepAddress, _ reason: SkipReason) {
    let around = scope(around: step)
    if shape.cleansUp(step) { stepCount += 1 }
    let size = shape.size(of: shape.planned(step)) ?? 1
    if reason == .notSelected {
      grow(by: -size, from: around)
      unselected += 1
      return
    }
    grow(by: 1 - size, from: around)
    change(from: around) { $0.add(reason) }
    endElement(step, of: around, reason.outcome)
  }

  // MARK: Groups

  mutating func started(_ group: StepAddress, _ start: GroupStart) {
    guard open[group] == nil else { return }
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

  /// What the attempt has counted is counted again in the next.
  mutating func retrying(_ group: StepAddress) {
    guard let scope = open[group] else { return }
    change(from: group) { $0.remove(scope.counts) }
    grow(by: scope.size - scope.expected, from: group)
  }

  mutating func finished(_ group: StepAddress, _ end: GroupEnd) {
    guard let scope = open[group] else { return }
    let failed = end.conclusion == .success ? scope.counts.failed : 0
    change(from: group) { $0.tolerate(failed) }
    grow(by: scope.counts.done - scope.expected, from: group)
    open[group] = nil
    endElement(group, of: scope.parent, end.conclusion)
  }

  private mutating func endElement(
    _ address: StepAddress, of scope: StepAddress?, _ conclusion: Outcome
  ) {
    guard let scope, open[scope]?.elements != nil else { return }
    open[scope]?.elements?.ended(conclusion)
  }

  // MARK: What is open around

  /// The nearest that is open around a step or group; what cleans up belongs to the run.
  func scope(around address: StepAddress) -> StepAddress? {
    guard !open.isEmpty, !shape.cleansUp(address) else { return nil }
    return candidate(around: address).flatMap { open[$0] == nil ? nil : $0 }
  }

  /// All that is open around a step or group, the nearest first.
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
    let scope = shape.scope(around: shape.planned(address)).map { StepAddress($0) }
    guard let element = address.innermostElement, let loop = element.loop else { return scope }
    return scope.map { element.inElement($0, of: StepAddress(shape.planned(loop))) } ?? element
  }

  private mutating func change(from scope: StepAddress?, _ change: (inout StepCounts) -> Void) {
    change(&counts)
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

/// How far something is that is run for many elements.
struct ElementCount: Sendable, Hashable {
  let all: Int
  private(set) var done = 0
  private(set) var failed = 0

  init(all: Int) { self.all = all }

  mutating func ended(_ conclusion: Outcome) {
    done += 1
    if conclusion == .failure { failed += 1 }
  }

  /// `37/100 elements, 2 failed`
  var text: String {
    let failures = failed > 0 ? ", \(failed) failed" : ""
    return done == all
      ? "\(counted(all, "element"))\(failures)" : "\(done)/\(counted(all, "element"))\(failures)"
  }
}

import WeftDefinition
package import WeftEvents
import WeftJSON
package import WeftPlanning
import WeftPlatform
import WeftRecord

/// The difference between two recorded runs, from an earlier to a later one.
///
/// Values of secret inputs are not recorded, so they are not compared. A step that only one of the workflows has is
/// part of the difference of the definitions alone.
public struct RunDifference: Sendable, Hashable {
  /// One of the runs.
  package struct Side: Sendable, Hashable {
    package let run: RunID
    package let state: RecordedState
    package let startedAt: WallTime?
    package let microseconds: Int
    /// The reason why a part of the record is missing, as a sentence without a full stop.
    package let damage: String?
  }

  /// An input with another value. A run that does not have it has `nil`; a secret value is one without a value.
  package struct Input: Sendable, Hashable {
    package let name: String
    package let before: ReportedOutput?
    package let after: ReportedOutput?
  }

  /// The outcome of a step in one run.
  package struct Result: Sendable, Hashable {
    package let verdict: Verdict
    /// The narrowest class of its failure.
    package let failureClass: String?
    /// A clause about how it ended.
    package let reason: String?
    package let attempts: Int

    fileprivate func isLike(_ other: Result) -> Bool {
      let isOfNoStep = failureClass == nil && other.failureClass == nil
      return verdict == other.verdict && failureClass == other.failureClass
        && attempts == other.attempts && (!isOfNoStep || reason == other.reason)
    }
  }

  package struct Outcome: Sendable, Hashable {
    package let step: StepAddress
    /// `nil` if the run has no record of the step.
    package let before: Result?
    package let after: Result?
  }

  package struct Time: Sendable, Hashable {
    /// `nil` for the run as a whole.
    package let step: StepAddress?
    /// Microseconds.
    package let before: Int
    package let after: Int
    /// The shortest and the longest duration in other runs and the earlier one; `nil` if too few are known.
    package let usual: ClosedRange<Int>?
  }

  /// Another decision of a cache.
  package struct Cache: Sendable, Hashable {
    package let step: StepAddress
    /// Whether it is the cache of HTTP responses.
    package let isHTTP: Bool
    package let before: String
    package let after: String
    /// The reason, as far as the records have it.
    package let reason: String?
  }

  package let before: Side
  package let after: Side
  package let definition: DefinitionDifference
  package private(set) var inputs: [Input] = []
  /// The names of secret inputs of both runs.
  package private(set) var secretInputs: [String] = []
  package private(set) var outcomes: [Outcome] = []
  package private(set) var durations: [Time] = []
  package private(set) var caches: [Cache] = []

  /// - Parameters:
  ///   - old: The earlier run.
  ///   - new: The later run. Its history says how much durations vary.
  package init(from old: ReportedRun, to new: ReportedRun) {
    before = Side(old)
    after = Side(new)
    definition = DefinitionDifference(from: old, to: new)
    compareInputs(old.recorded.opening?.valuesRead ?? [], new.recorded.opening?.valuesRead ?? [])
    compareSteps(old, new)
  }

  /// Whether the runs differ in nothing that is compared.
  public var isEmpty: Bool {
    definition.isEmpty && inputs.isEmpty && outcomes.isEmpty
      && durations.isEmpty && caches.isEmpty && before.state == after.state
  }

  private mutating func compareInputs(_ old: [ReportedOutput], _ new: [ReportedOutput]) {
    let known = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let names = Set(new.map(\.name))
    for input in new {
      let earlier = known[input.name]
      if input.value == nil, let earlier, earlier.value == nil {
        secretInputs.append(input.name)
      } else if earlier != input {
        inputs.append(Input(name: input.name, before: earlier, after: input))
      }
    }
    for input in old where !names.contains(input.name) {
      inputs.append(Input(name: input.name, before: input, after: nil))
    }
  }

  private mutating func compareSteps(_ old: ReportedRun, _ new: ReportedRun) {
    let later = new.detail.steps
    let (before, names) = (old.recorded.steps, Set(later.map(\.address)))
    let recent = Dictionary(
      new.history.entries.map { ($0.address, $0.step.recent) },
      uniquingKeysWith: { first, _ in first })
    compareRuns(old, new)
    let (added, removed) = (Set(definition.added), Set(definition.removed))
    for (address, step) in later {
      guard let earlier = before[address]?.shown, !earlier.isOutdated else {
        if !added.hasStep(of: address) {
          outcomes.append(
            Outcome(step: address, before: nil, after: Result(of: step, address, new)))
        }
        continue
      }
      compareOutcomes(address, Result(of: earlier, address, old), Result(of: step, address, new))
      compareCaches(address, earlier, step)
      compareTimes(address, earlier, step, recent[address.text] ?? [])
    }
    for (address, step) in old.detail.steps where !names.contains(address) {
      if removed.hasStep(of: address) { continue }
      outcomes.append(
        Outcome(step: address, before: Result(of: step, address, old), after: nil))
    }
  }

  private mutating func compareRuns(_ old: ReportedRun, _ new: ReportedRun) {
    guard old.recorded.end != nil, new.recorded.end != nil,
      DurationNoise().isExceeded(from: before.microseconds, to: after.microseconds)
    else { return }
    durations.append(
      Time(step: nil, before: before.microseconds, after: after.microseconds, usual: nil))
  }

  private mutating func compareOutcomes(_ step: StepAddress, _ old: Result, _ new: Result) {
    guard !old.isLike(new) else { return }
    outcomes.append(Outcome(step: step, before: old, after: new))
  }

  private mutating func compareTimes(
    _ address: StepAddress, _ old: RecordedStep, _ new: RecordedStep, _ recent: [Int]
  ) {
    guard let old = old.measured?.wholeMicroseconds, let new = new.measured?.wholeMicroseconds
    else { return }
    let noise = DurationNoise(recent: recent, without: [old, new])
    guard noise.isExceeded(from: old, to: new) else { return }
    durations.append(
      Time(step: address, before: old, after: new, usual: noise.range(with: old)))
  }

  private mutating func compareCaches(
    _ address: StepAddress, _ old: RecordedStep, _ new: RecordedStep
  ) {
    guard case .finished(let earlier, _) = old.state, case .finished(let later, _) = new.state
    else { return }
    if old.isCached != new.isCached {
      caches.append(
        Cache(
          step: address, isHTTP: false, before: old.isCached ? "cached" : "ran",
          after: new.isCached ? "cached" : "ran",
          reason: new.isCached ? nil : later.ranBecause ?? definition.reason(of: address)))
    }
    if let was = earlier.http?.cache, let now = later.http?.cache, was != now {
      caches.append(
        Cache(
          step: address, isHTTP: true, before: was, after: now, reason: later.http?.staleReason))
    }
  }
}

extension RunDifference.Side {
  fileprivate init(_ run: ReportedRun) {
    self.init(
      run: run.detail.run, state: run.detail.state, startedAt: run.recorded.startedAt,
      microseconds: run.recorded.duration.wholeMicroseconds, damage: run.detail.damage?.message)
  }
}

extension RunDifference.Result {
  /// A cached result counts as the success that it repeats.
  fileprivate init(of step: RecordedStep, _ address: StepAddress, _ run: ReportedRun) {
    let verdict = run.verdict(of: step, at: address)
    guard case .finished(let end, _) = step.state else {
      self.init(
        verdict: verdict, failureClass: nil, reason: run.reason(of: step, at: address),
        attempts: 1)
      return
    }
    self.init(
      verdict: verdict == .cached ? Verdict(end) : verdict,
      failureClass: end.failure?.classes.first?.name, reason: run.reason(of: step, at: address),
      attempts: step.isCached ? 1 : end.attempts)
  }
}

extension DefinitionDifference {
  /// A clause about why the step had to run again, if its definition says so.
  func reason(of step: StepAddress) -> String? {
    let planned = step.planned { address in changed.contains { $0.address == address } }
    guard
      let member = changed.first(where: { $0.address == planned })
        ?? changed.first(where: { $0.address == step.outermostLoop })
    else { return nil }
    let keys = member.keys.map(\.path) + member.surroundings
    return "its definition has changed: \(keys.joined(separator: ", "))"
  }
}

extension Set<StepAddress> {
  /// Whether the step, or the loop around it, is one of these.
  fileprivate func hasStep(of address: StepAddress) -> Bool {
    contains(address.planned(isKnown: contains)) || address.outermostLoop.map(contains) == true
  }
}

/// The variation of a duration from run to run, as far as it is known: decides which differences mean something.
///
/// A difference of less than 100 ms never does. If at least three other durations of the step are known, the later one
/// must be outside of their range by more than half of its width. Otherwise the longer one must be at least one and a
/// half times as long as the shorter one.
struct DurationNoise: Sendable, Hashable {
  static let minimum = 100_000
  static let fewestKnown = 3

  /// Microseconds in other runs, in any order; without the two that are compared.
  private let others: [Int]

  init(others: [Int] = []) {
    self.others = others
  }

  /// - Parameter recent: The durations in recent runs, among them perhaps the two that are compared.
  init(recent: [Int], without compared: [Int]) {
    var others = recent
    for duration in compared {
      if let index = others.firstIndex(of: duration) { others.remove(at: index) }
    }
    self.init(others: others)
  }

  /// The range of the other durations and the earlier one; `nil` if too few are known.
  func range(with before: Int) -> ClosedRange<Int>? {
    let known = others + [before]
    guard known.count >= DurationNoise.fewestKnown else { return nil }
    return known.min()!...known.max()!
  }

  func isExceeded(from before: Int, to after: Int) -> Bool {
    guard abs(after - before) >= DurationNoise.minimum else { return false }
    guard let range = range(with: before) else {
      let (shorter, longer) = (min(before, after), max(before, after))
      return longer - shorter >= shorter / 2
    }
    let margin = (range.upperBound - range.lowerBound) / 2
    return after < range.lowerBound - margin || after > range.upperBound + margin
  }
}

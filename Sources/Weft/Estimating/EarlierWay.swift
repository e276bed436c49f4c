import Synchronization
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// The way that earlier runs took, for a rehearsal, and what had to be assumed because none of them shows it.
final class EarlierWay: Rehearsal {
  /// The decisions in a rehearsal that earlier runs had to show, or that nothing could show.
  struct Assumptions: Sendable {
    /// Steps that were never measured, by index.
    var unmeasured: Set<Int> = []
    /// Steps that wait for people or a point in time, by index.
    var unforeseeable: Set<Int> = []
    /// Steps and elements that are restored from the cache.
    var cached: Set<StepAddress> = []
    /// Steps, groups and loops whose conditions were decided as in the latest run that reached them.
    var conditions: Set<StepAddress> = []
    /// Those that no run has reached: they start.
    var openConditions: Set<StepAddress> = []
    /// The number of elements of loops whose lists are those of an earlier run.
    var loops: [StepAddress: Int] = [:]
    /// Loops that no run has reached: they have one element.
    var openLoops: Set<StepAddress> = []
    /// The failures of steps that cannot start.
    var failures: [StepAddress: StepFailure] = [:]
  }

  private let plan: Plan
  private let samples: [RunSample]
  private let noted = Mutex(Assumptions())
  /// The loops by their addresses in the plan, to find any instance of one.
  private let addresses: PlanAddresses
  private let unlimited: Set<StepAddress>
  private let restored: Set<StepAddress>

  /// - Parameters:
  ///   - samples: The newest first.
  ///   - unlimited: The loops, by their addresses in the plan, whose `maxParallel` has no effect.
  init(
    _ plan: Plan, _ addresses: PlanAddresses, _ samples: [RunSample],
    lifting unlimited: Set<StepAddress> = []
  ) {
    (self.plan, self.addresses, self.samples) = (plan, addresses, samples)
    restored = plan.foreseenRestorals
    self.unlimited = unlimited
  }

  var assumptions: Assumptions { noted.withLock { $0 } }

  func noteUnmeasured(_ step: Int) { noted.withLock { _ = $0.unmeasured.insert(step) } }
  func noteUnforeseeable(_ step: Int) { noted.withLock { _ = $0.unforeseeable.insert(step) } }

  // MARK: Rehearsal

  func endsAtOnce(_ step: PlannedStep, at address: StepAddress) -> Bool {
    if step.action.forecast == .unforeseeable {
      if case .step(let index) = plan.nodes[step.node] { noteUnforeseeable(Int(index)) }
      return true
    }
    guard restored.contains(address) else { return false }
    let isWhole = plan.forecast.cached[step.node]?.verdict == .cached
    noted.withLock { _ = $0.cached.insert(isWhole ? step.address : address) }
    return true
  }

  func end(of step: PlannedStep, at address: StepAddress) -> RehearsedEnd {
    if let known = samples.lazy.compactMap({ $0.ends[address] }).first { return known }
    return RehearsedEnd(
      StepEnd(
        outcome: .success, conclusion: .success, attempts: 1,
        exit: step.kind == .run ? .code(0) : nil, duration: .zero), nil)
  }

  func admits(_ address: StepAddress) -> Bool {
    let known = samples.lazy.compactMap { $0.decisions[address] }.first
    noted.withLock { noted in
      if known == nil {
        _ = noted.openConditions.insert(address)
      } else {
        _ = noted.conditions.insert(address)
      }
    }
    return known ?? true
  }

  func elements(of loop: StepAddress) -> RecordedElements {
    let planned = addresses.planned(loop)
    for sample in samples {
      let other = sample.elements.filter { addresses.planned($0.key) == planned }
        .min { $0.key.text < $1.key.text }
      guard let known = sample.elements[loop] ?? other?.value else { continue }
      noted.withLock { $0.loops[loop] = known.elements.count }
      return known
    }
    noted.withLock { _ = $0.openLoops.insert(loop) }
    return RecordedElements(elements: [RecordedElements.Element(key: "0", value: nil)])
  }

  func wait(of address: StepAddress) -> Duration {
    samples.lazy.compactMap { $0.ends[address]?.end.duration }.first ?? .zero
  }

  func fails(_ step: StepAddress, _ failure: StepFailure) {
    noted.withLock { $0.failures[step] = failure }
  }

  func lifts(limitOf loop: StepAddress) -> Bool {
    !unlimited.isEmpty && unlimited.contains(addresses.planned(loop))
  }
}

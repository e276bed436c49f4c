import WeftDefinition
package import WeftEvents
package import WeftPlanning

/// The progress of a loop in a recorded run.
package struct RecordedLoop: Sendable, Hashable {
  package let address: StepAddress
  package let elements: Int
  /// The number of elements without any record, which have not begun.
  package let notStarted: Int
}

extension RunState {
  /// The loops whose elements are recorded, by address.
  package var loops: [RecordedLoop] {
    let listed = groups.filter { $0.value.elements != nil }
    guard !listed.isEmpty else { return [] }
    let begun = startedElements
    return listed.sorted { $0.key.text < $1.key.text }.map { address, group in
      let keys = group.elements?.elements.map(\.key) ?? []
      return RecordedLoop(
        address: address, elements: keys.count,
        notStarted: keys.count { !begun.contains(address.element($0)) })
    }
  }

  /// The elements with any record, and all elements around them.
  private var startedElements: Set<StepAddress> {
    var found: Set<StepAddress> = []
    let insert = { (address: StepAddress) in
      var next = address.innermostElement
      while let element = next, found.insert(element).inserted {
        next = element.loop?.innermostElement
      }
    }
    for (address, step) in steps where !step.isOutdated { insert(address) }
    groups.keys.forEach(insert)
    return found
  }
}

extension RunState {
  /// The number of steps in the run, as far as known: those of the plan and of each known element.
  ///
  /// - Parameter plan: The plan of the run; without it, the number of steps in what was skipped as a whole is not known,
  ///   and all of them count.
  package func stepCount(_ plan: Plan? = nil) -> Int? {
    if let plan, start != nil { return steps.count + notReached(in: plan) }
    guard let planned = start?.stepCount else { return nil }
    // The plan counts the steps of an element once; their number is known from elements that have begun.
    let sizes = stepsOfElements
    let expanded = loops.reduce(0) { sum, loop in
      let size = max(1, sizes[loop.address]?.count ?? 1)
      return sum + size * (loop.notStarted - (loop.address.hasElement ? 0 : 1))
    }
    return max(steps.count, planned + steps.count(where: \.address.hasElement) + expanded)
  }

  /// The number of steps without a record, those of elements that have not begun included. Cleanup steps run only if they
  /// are necessary, and the members of what was skipped as a whole do not run.
  private func notReached(in plan: Plan) -> Int {
    var (count, sizes) = (0, [StepAddress: Int]())
    for (index, step) in plan.steps.enumerated() {
      if steps[step.address] != nil || plan.bodies.cleanupSteps.contains(index) { continue }
      let groups = plan.allEnclosingGroups(ofGroup: step.group).map { plan.groups[$0] }
      if groups.contains(where: { $0.address.map { steps[$0] != nil } ?? false }) { continue }
      var loops = groups.filter(\.isLoop).compactMap(\.address)
      if step.hasControl, step.control.fanOut != nil { loops.append(step.address) }
      for loop in loops { sizes[loop, default: 0] += 1 }
      if !loops.contains(where: { self.groups[$0]?.elements != nil }) { count += 1 }
    }
    let addresses = PlanAddresses(plan)
    return loops.reduce(count) { count, loop in
      count + loop.notStarted * (sizes[addresses.planned(loop.address)] ?? 0)
    }
  }

  /// The steps in the elements of each loop, by the parts of their addresses after the element. Steps of inner loops
  /// belong to those.
  private var stepsOfElements: [StepAddress: Set<ArraySlice<StepAddress.Part>>] {
    var found: [StepAddress: Set<ArraySlice<StepAddress.Part>>] = [:]
    for (address, _) in steps {
      guard let element = address.innermostElement, let loop = element.loop else { continue }
      found[loop, default: []].insert(address.parts(after: element))
    }
    return found
  }
}

extension PlannedGroup {
  fileprivate var isLoop: Bool { step.map { $0.hasControl && $0.control.fanOut != nil } ?? false }
}

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
    var begun = StartedElements(of: self)
    return listed.sorted { $0.key.text < $1.key.text }.map { address, group in
      let keys = group.elements?.elements.map(\.key) ?? []
      let notStarted = keys.count { !begun.contains(address.element($0)) }
      return RecordedLoop(address: address, elements: keys.count, notStarted: notStarted)
    }
  }
}

/// The elements of a run with any record of themselves or of something in them.
private struct StartedElements {
  private let run: RunState
  /// Found only if it is necessary: most elements are steps, of loops that may have very many.
  private lazy var all = run.elementsWithRecords

  init(of run: RunState) {
    self.run = run
  }

  mutating func contains(_ element: StepAddress) -> Bool {
    if let step = run.steps[element], !step.isOutdated { return true }
    return all.contains(element)
  }
}

extension RunState {
  /// The elements with any record, and all elements around them.
  fileprivate var elementsWithRecords: Set<StepAddress> {
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
    // The plan counts the steps of an element once.
    let others = groups.values.reduce(0) { sum, group in
      guard let listed = group.elements else { return sum }
      return sum + (listed.elements.count - 1) * (listed.stepCount ?? 1)
    }
    return max(steps.count, planned + others)
  }

  /// The number of steps without a record, those in elements of loops included. Cleanup steps run only if they are
  /// necessary, and the members of what was skipped as a whole do not run.
  private func notReached(in plan: Plan) -> Int {
    var begun = StartedElements(of: self)
    return plan.steps.indices.reduce(0) { count, index in
      if plan.bodies.cleanupSteps.contains(index) { return count }
      return count + notReached(plan.path(to: index)[...], in: nil, &begun)
    }
  }

  /// The number of instances of a step without a record.
  ///
  /// - Parameters:
  ///   - path: The rest of the way to the step.
  ///   - place: The element that contains the rest, and the address of its loop in the plan.
  private func notReached(
    _ path: ArraySlice<Plan.PathPart>, in place: (element: StepAddress, loop: StepAddress)?,
    _ begun: inout StartedElements
  ) -> Int {
    var rest = path
    while let part = rest.popFirst() {
      let address = place.map { $0.element.inElement(part.address, of: $0.loop) } ?? part.address
      // The step, or what contains it, was skipped as a whole.
      if steps[address] != nil { return 0 }
      if hasToleratedFailure(address) { return 0 }
      guard part.isLoop, let elements = groups[address]?.elements else { continue }
      return elements.elements.reduce(0) { count, known in
        let element = address.element(known.key)
        if steps[element] != nil || hasToleratedFailure(element) { return count }
        if !begun.contains(element) { return count + 1 }
        return count + notReached(rest, in: (element, part.address), &begun)
      }
    }
    return 1
  }

  /// Whether a group, loop or element has ended with a failure that was tolerated. Then no more of it runs, although it
  /// may have failed at its start, as a whole.
  private func hasToleratedFailure(_ address: StepAddress) -> Bool {
    groups[address]?.end.map { $0.outcome != $0.conclusion } ?? false
  }
}

extension Plan {
  /// A group or loop around a step, or the step itself.
  fileprivate struct PathPart {
    let address: StepAddress
    let isLoop: Bool
  }

  /// The groups around a step, from the outermost, and the step.
  fileprivate func path(to index: Int) -> [PathPart] {
    let step = steps[index]
    let around = allEnclosingGroups(ofGroup: step.group).reversed().compactMap { index in
      groups[index].address.map { PathPart(address: $0, isLoop: groups[index].isLoop) }
    }
    return around + [PathPart(address: step.address, isLoop: step.isLoop)]
  }
}

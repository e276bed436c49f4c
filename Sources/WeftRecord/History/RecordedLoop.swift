import WeftExecution
package import WeftPlanning

/// How far a loop of a recorded run came.
package struct RecordedLoop: Sendable, Hashable {
  package let address: StepAddress
  package let elements: Int
  /// How many elements no record is about: nothing of them has begun.
  package let notStarted: Int
}

extension RecordedRun {
  /// Every loop whose elements are recorded, by address.
  package var loops: [RecordedLoop] {
    let listed = groups.filter { $0.value.elements != nil }
    guard !listed.isEmpty else { return [] }
    let begun = begunElements
    return listed.sorted { $0.key.text < $1.key.text }.map { address, group in
      let keys = group.elements?.elements.map(\.key) ?? []
      return RecordedLoop(
        address: address, elements: keys.count,
        notStarted: keys.count { !begun.contains(address.element($0)) })
    }
  }

  /// Elements of which something is recorded, with all elements around them.
  private var begunElements: Set<StepAddress> {
    var found: Set<StepAddress> = []
    let current = steps.filter { !$0.value.isOutdated }.keys
    for address in [current.map { $0 }, groups.keys.map { $0 }].joined() {
      var next = address.innermostElement
      while let element = next, found.insert(element).inserted {
        next = element.loop?.innermostElement
      }
    }
    return found
  }

  /// How many steps the run has, as far as is known: those of the plan, with each element that is known.
  package var stepCount: Int? {
    guard let planned = start?.stepCount else { return nil }
    // The plan has the steps of an element once, and they are known by those of the elements that have begun.
    let sizes = stepsOfElements
    let expanded = loops.reduce(0) { sum, loop in
      let size = max(1, sizes[loop.address]?.count ?? 1)
      return sum + size * (loop.notStarted - (loop.address.hasElement ? 0 : 1))
    }
    return max(0, planned + steps.keys.count(where: \.hasElement) + expanded)
  }

  /// For each loop, the steps in its elements by what follows the element in their addresses; those of loops
  /// inside are theirs.
  private var stepsOfElements: [StepAddress: Set<String>] {
    var found: [StepAddress: Set<String>] = [:]
    for address in steps.keys {
      guard let element = address.innermostElement, let loop = element.loop else { continue }
      found[loop, default: []].insert(String(address.text.dropFirst(element.text.count)))
    }
    return found
  }
}

extension RunDetail {
  /// How far its loops came.
  package var loops: [RecordedLoop] { past.loops }
}

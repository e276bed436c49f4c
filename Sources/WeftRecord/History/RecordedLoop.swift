import WeftEvents
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
    let current = steps.filter { !$0.value.isOutdated }.keys
    for address in [current.map { $0 }, groups.keys.map { $0 }].joined() {
      var next = address.innermostElement
      while let element = next, found.insert(element).inserted {
        next = element.loop?.innermostElement
      }
    }
    return found
  }

  /// The number of steps in the run, as far as known: those of the plan and of each known element.
  package var stepCount: Int? {
    guard let planned = start?.stepCount else { return nil }
    // The plan counts the steps of an element once; their number is known from elements that have begun.
    let sizes = stepsOfElements
    let expanded = loops.reduce(0) { sum, loop in
      let size = max(1, sizes[loop.address]?.count ?? 1)
      return sum + size * (loop.notStarted - (loop.address.hasElement ? 0 : 1))
    }
    return max(0, planned + steps.keys.count(where: \.hasElement) + expanded)
  }

  /// The steps in the elements of each loop, by the parts of their addresses after the element. Steps of inner loops
  /// belong to those.
  private var stepsOfElements: [StepAddress: Set<ArraySlice<StepAddress.Part>>] {
    var found: [StepAddress: Set<ArraySlice<StepAddress.Part>>] = [:]
    for address in steps.keys {
      guard let element = address.innermostElement, let loop = element.loop else { continue }
      found[loop, default: []].insert(address.parts(after: element))
    }
    return found
  }
}

extension RunDetail {
  /// The progress of its loops.
  package var loops: [RecordedLoop] { recorded.loops }
}

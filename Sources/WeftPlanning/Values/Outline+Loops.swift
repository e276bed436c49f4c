import WeftDefinition
import WeftExpressions

/// The loops around a text.
extension Outline {
  /// The innermost loop that provides what a reference reads, with its owner; `nil` if there is none.
  ///
  /// A cleanup step is also inside the loop of the step or group that it cleans up.
  func loop(
    giving reference: ContextReference, to site: TextSite, of owner: TextOwner
  ) -> (owner: TextOwner, value: LoopValue)? {
    var next: TextOwner? = owner
    if site.isBeforeElements { next = outer(owner) }
    while let layer = next {
      if let value = fanOut(of: layer)?.value(of: reference) { return (layer, value) }
      next = outer(layer)
    }
    return nil
  }

  /// The names that `as` gives the elements of the loops around a text.
  func elementNames(around owner: TextOwner) -> [String] {
    sequence(first: owner, next: outer).compactMap { layer in
      guard case .forEach(let loop) = fanOut(of: layer) else { return nil }
      return loop.name
    }
  }

  /// The loop of a step or group; `nil` if it has none.
  func fanOut(of owner: TextOwner) -> FanOut? {
    switch owner {
    case .workflow: return nil
    case .step(let index):
      return steps[index].hasControl ? steps[index].control.fanOut : nil
    case .group(let index):
      guard let step = groups[index].step, step.hasControl else { return nil }
      return step.control.fanOut
    }
  }

  /// The enclosing owner: the step or group that it cleans up, or else the group that contains it.
  func outer(_ owner: TextOwner) -> TextOwner? {
    switch owner {
    case .workflow: return nil
    case .step(let index):
      if let node = cleanedUp[Int32(index)] { return self.owner(at: node) }
      return self.owner(ofGroup: steps[index].group)
    case .group(let index): return groups[index].parent.map { self.owner(ofGroup: $0) }
    }
  }

  /// Whether the owner is a cleanup step of the step or group.
  func cleans(_ owner: TextOwner, upAfter node: Plan.NodeIndex) -> Bool {
    guard !cleanedUp.isEmpty, case .step(let index) = owner else { return false }
    return cleanedUp[Int32(index)] == node
  }

  func owner(at node: Plan.NodeIndex) -> TextOwner {
    switch nodes[node] {
    case .step(let index): .step(Int(index))
    case .groupStart(let index), .groupEnd(let index): owner(ofGroup: Int(index))
    }
  }

  /// The file that contains the owner's texts.
  func file(of owner: TextOwner) -> Int {
    switch owner {
    case .workflow(let index), .group(let index): groups[index].file
    case .step(let index): groups[steps[index].group].file
    }
  }

  /// The step, or the group by its start, whose outputs the owner declares; `nil` for the workflow that is planned.
  func producer(of owner: TextOwner) -> Plan.NodeIndex? {
    guard case .workflow(let index) = owner else { return node(of: owner) }
    return index == 0 ? nil : groups[index].startNode
  }

  /// The owner of a group's texts; for a top level, the workflow.
  func owner(ofGroup index: Int) -> TextOwner {
    groups[index].isTopLevel ? .workflow(index) : .group(index)
  }
}

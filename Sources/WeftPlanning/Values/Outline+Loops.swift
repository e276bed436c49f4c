import WeftDefinition
import WeftExpressions

/// Which `forEach` and `matrix` stand around a text.
extension Outline {
  /// The innermost loop that gives what a reference reads, by whom it belongs to; `nil` if there is none.
  ///
  /// What cleans up after a step or group is in the loop of that, too.
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

  /// What `as` calls the elements of the loops around a text.
  func elementNames(around owner: TextOwner) -> [String] {
    sequence(first: owner, next: outer).compactMap { layer in
      guard case .forEach(let loop) = fanOut(of: layer) else { return nil }
      return loop.name
    }
  }

  /// What makes many of a step or group.
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

  /// Whom something stands in: the step or group that it cleans up after, else the group around it.
  func outer(_ owner: TextOwner) -> TextOwner? {
    switch owner {
    case .workflow: return nil
    case .step(let index):
      if let node = cleanedUp[Int32(index)] { return self.owner(at: node) }
      return self.owner(ofGroup: steps[index].group)
    case .group(let index): return groups[index].parent.map { self.owner(ofGroup: $0) }
    }
  }

  /// Whether it cleans up after the step or group.
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

  /// The file that somebody's texts are in.
  func file(of owner: TextOwner) -> Int {
    switch owner {
    case .workflow(let index), .group(let index): groups[index].file
    case .step(let index): groups[steps[index].group].file
    }
  }

  /// The step, or the group by its start, that hands on what the outputs of somebody are; `nil` of the
  /// workflow that is planned.
  func producer(of owner: TextOwner) -> Plan.NodeIndex? {
    guard case .workflow(let index) = owner else { return node(of: owner) }
    return index == 0 ? nil : groups[index].startNode
  }

  /// Whom the texts of a group belong to; those of a top level are the workflow's.
  func owner(ofGroup index: Int) -> TextOwner {
    groups[index].isTopLevel ? .workflow(index) : .group(index)
  }
}

/// The steps and groups of a plan by their addresses, in the plan and in runs of it.
package struct PlanAddresses: Sendable {
  private let plan: Plan
  private let steps: [StepAddress: Int]
  private let groups: [StepAddress: Int]

  package init(_ plan: Plan) {
    self.plan = plan
    steps = Dictionary(
      plan.steps.enumerated().map { ($1.address, $0) }, uniquingKeysWith: { first, _ in first })
    groups = Dictionary(
      plan.groups.enumerated().compactMap { index, group in group.address.map { ($0, index) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// The step with an address in a run.
  package func step(at address: StepAddress) -> Int? { steps[planned(address)] }

  /// The group with an address in a run.
  package func group(at address: StepAddress) -> Int? { groups[planned(address)] }

  /// The innermost group that contains the step with an address in a run, or the group with that address.
  package func innermostGroup(at address: StepAddress) -> Int? {
    step(at: address).map { plan.steps[$0].group } ?? group(at: address)
  }

  /// The address in the plan of the step or group with this address in a run.
  package func planned(_ address: StepAddress) -> StepAddress {
    address.planned { steps[$0] != nil || groups[$0] != nil }
  }

  /// The addresses that a step or group of the plan may have in the elements around another address.
  ///
  /// - Parameter planned: Its address in the plan.
  package func instances(of planned: StepAddress, around address: StepAddress) -> [StepAddress] {
    var found = [planned]
    var next = address.innermostElement
    while let element = next, let loop = element.loop {
      found.append(element.inElement(planned, of: self.planned(loop)))
      next = loop.innermostElement
    }
    return found
  }
}

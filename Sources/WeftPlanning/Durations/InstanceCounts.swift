import WeftDefinition

/// The number of instances of each step, and how many of them run at once, as far as known before the run.
struct InstanceCounts {
  /// The product of the loops around a step; `nil` if the number of elements of one is unknown.
  fileprivate struct Factors {
    var times: Int? = 1
    /// The number of instances that the limits of the loops allow at once.
    var atOnce: Int? = 1
  }

  private let plan: Plan
  /// The factors for the contents of each group.
  private let ofGroups: [Factors]
  /// Whether the plan has any loop.
  let isAnyMany: Bool

  init(of plan: Plan) {
    self.plan = plan
    var ofGroups: [Factors] = []
    var isAnyMany = plan.steps.contains { $0.hasControl && $0.control.fanOut != nil }
    for group in plan.groups {
      let around = group.parent.map { ofGroups[$0] } ?? Factors()
      let fanOut = group.step?.control.fanOut
      isAnyMany = isAnyMany || fanOut != nil
      ofGroups.append(
        fanOut.map { around.inside($0, of: plan.forecast(of: group).elements) } ?? around)
    }
    self.ofGroups = ofGroups
    self.isAnyMany = isAnyMany
  }

  /// The number of instances of a step; `nil` if it is unknown.
  func times(of step: PlannedStep) -> Int? { factors(of: step).times }

  /// The number of instances that run at once if there are slots for all; `nil` if it is unknown.
  func atOnce(of step: PlannedStep) -> Int? { factors(of: step).atOnce }

  private func factors(of step: PlannedStep) -> Factors {
    let around = ofGroups[step.group]
    guard isAnyMany, step.hasControl, let fanOut = step.control.fanOut else { return around }
    return around.inside(fanOut, of: plan.forecast(of: step).elements)
  }
}

extension InstanceCounts.Factors {
  fileprivate func inside(_ fanOut: FanOut, of elements: Int?) -> Self {
    let limit: Int? = if case .forEach(let loop) = fanOut { loop.maxParallel } else { nil }
    return Self(
      times: product(times, elements),
      atOnce: product(atOnce, limit.map { min($0, elements ?? $0) } ?? elements))
  }

  private func product(_ one: Int?, _ other: Int?) -> Int? {
    guard let one, let other else { return nil }
    let (product, overflows) = one.multipliedReportingOverflow(by: other)
    return overflows || product > 1 << 40 ? nil : product
  }
}

import WeftDefinition

/// How many times each step of a plan is run, and how many times of it at once, as far as that is known before
/// the run.
struct InstanceCounts {
  /// One factor for each fan-out around; `nil` where one is not known.
  fileprivate struct Factors {
    var times: Int? = 1
    /// How many of them the limits of the fan-outs let be under way.
    var atOnce: Int? = 1
  }

  private let plan: Plan
  /// By group: of what is in it.
  private let ofGroups: [Factors]
  /// Whether anything is run for many elements.
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

  /// How many times a step is run; `nil` if that is not known.
  func times(of step: PlannedStep) -> Int? { factors(of: step).times }

  /// How many times of it run at once where there are slots for all; `nil` if nothing says so.
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

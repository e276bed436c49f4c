package import WeftDefinition
package import WeftPlanning
package import WeftPlatform

/// Forecasts before a run which steps cannot start because they request more `resources` than there are. It starts
/// nothing.
package struct ResourceForecaster {
  private let plan: Plan
  private let resolution: StaticResolution
  private let capacity: MachineCapacity

  /// - Parameter plan: The plan, bound to these inputs.
  private init(
    _ plan: Plan, _ inputs: InputValues, startDirectory: String?, capacity: MachineCapacity
  ) {
    self.plan = plan
    self.capacity = capacity
    resolution = StaticResolution(plan, inputs, RunSecrets(), startDirectory: startDirectory)
  }

  /// Returns a clause for each such step, by its node: `it needs 9GiB of memory, and there is only 8GiB`.
  ///
  /// - Parameter plan: The plan, bound to these inputs.
  package static func shortages(
    in plan: Plan, _ inputs: InputValues, startDirectory: String? = nil,
    capacity: MachineCapacity = .present
  ) -> [Plan.NodeIndex: String] {
    // What another machine has is not counted here.
    let steps = plan.steps.indices.filter {
      plan.steps[$0].hasResources && plan.runner(of: plan.steps[$0]) == nil
    }
    guard !steps.isEmpty else { return [:] }
    let forecaster = ResourceForecaster(
      plan, inputs, startDirectory: startDirectory, capacity: capacity)
    return steps.reduce(into: [:]) { shortages, index in
      shortages[plan.steps[index].node] = forecaster.shortage(ofStep: index)
    }
  }

  /// The shortage of a step, or of its first element that has one.
  private func shortage(ofStep index: Int) -> String? {
    guard let executions = try? resolution.executions(ofStep: index) else { return nil }
    for execution in executions {
      let excess = resolution.resources(ofStep: index, in: execution.instance)?
        .excess(over: capacity)
      guard let excess else { continue }
      let step = plan.steps[index].address
      let address = execution.instance.address(of: step)
      return executions.count == 1 || address == step ? excess : "\(address): \(excess)"
    }
    return nil
  }
}

extension Command.Resources {
  /// A clause about the first resource of which more is requested than there is; `nil` if all fit.
  func excess(over capacity: MachineCapacity) -> String? {
    for resource in CountedResource.allCases {
      let present = resource.amount(in: capacity)
      guard let amount = amount(of: resource), amount > present else { continue }
      let noun = resource == .memory ? " of memory" : ""
      return "it needs \(resource.text(of: amount))\(noun), and there "
        + "\(resource == .cpus && present != 1 ? "are" : "is") only \(resource.text(of: present))"
    }
    return nil
  }
}

package import WeftDefinition

/// The results of static evaluation: names, and the computed keys of groups and of the workflow.
package struct StaticValues: Sendable {
  /// The names, by the node of a step or a group's start.
  package var names: [Plan.NodeIndex: String] = [:]
  /// The timeouts, by group; the workflow's own is at 0.
  package var timeouts: [Int: Duration] = [:]
  package var limits: [Int: Int] = [:]
  package var tolerances: [Int: FailureTolerance] = [:]
  package var retries: [Int: RetryPolicy] = [:]
  /// The concurrency key of the workflow that is run.
  package var concurrencyKey: String?
  /// The forecast for the run.
  package var forecast = PlanForecast()

  package init() {}
}

extension Plan {
  /// The plan with values in place of the statically evaluated expressions.
  package func binding(_ values: StaticValues) -> Plan {
    var plan = self
    plan.names.merge(values.names) { $1 }
    plan.forecast = values.forecast
    if let timeout = values.timeouts[0] {
      plan.workflow.timeout = timeout
      plan.workflow.computed[.timeout] = nil
    }
    if let key = values.concurrencyKey { plan.workflow.concurrency?.key = key }
    if let limit = values.limits[0] {
      plan.workflow.maxParallel = limit
      plan.workflow.computed[.maxParallel] = nil
    }
    for (group, timeout) in values.timeouts where group > 0 {
      plan.groups[group].step?.timeout = timeout
      plan.groups[group].step?.computed[.timeout] = nil
    }
    for (group, tolerance) in values.tolerances where group > 0 {
      plan.groups[group].step?.allowFailure = tolerance
      plan.groups[group].step?.computed[.allowFailure] = nil
    }
    for (group, retry) in values.retries where group > 0 {
      plan.groups[group].step?.control.retry = [retry]
      for key in [ComputedKey.retryMax, .retryDelay, .retryMaxDelay, .retryWithin] {
        plan.groups[group].step?.computed[key] = nil
      }
    }
    for (group, limit) in values.limits {
      plan.groups[group].maxParallel = limit
      plan.groups[group].step?.computed[.maxParallel] = nil
    }
    return plan
  }

  /// The name shown instead of a step's address; `nil` if it has none.
  package func name(of step: PlannedStep) -> String? {
    (names.isEmpty ? nil : names[step.node]) ?? step.name
  }

  /// The name shown instead of a group's address; `nil` if it has none.
  package func name(of group: PlannedGroup) -> String? {
    (names.isEmpty ? nil : names[group.startNode]) ?? group.step?.name
  }
}

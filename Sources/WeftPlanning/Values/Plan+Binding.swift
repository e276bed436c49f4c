package import WeftDefinition

/// What expressions that are needed before anything starts have come to: names, and the computed keys of
/// groups and of the workflow.
package struct EarlyValues: Sendable {
  /// By node: a step's, a group's start.
  package var names: [Plan.NodeIndex: String] = [:]
  /// The workflow's own under 0.
  package var timeouts: [Int: Duration] = [:]
  package var limits: [Int: Int] = [:]
  package var tolerances: [Int: FailureTolerance] = [:]
  package var retries: [Int: RetryPolicy] = [:]
  /// Of the workflow that is run.
  package var concurrencyKey: String?
  /// What else is known before the run.
  package var forecast = PlanForecast()

  package init() {}
}

extension Plan {
  /// The same plan with values in place of the expressions that it needs before anything starts.
  package func binding(_ values: EarlyValues) -> Plan {
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

  /// What people see instead of a step's address; `nil` if it has no name.
  package func name(of step: PlannedStep) -> String? {
    (names.isEmpty ? nil : names[step.node]) ?? step.name
  }

  /// What people see instead of a group's address; `nil` if it has no name.
  package func name(of group: PlannedGroup) -> String? {
    (names.isEmpty ? nil : names[group.startNode]) ?? group.step?.name
  }
}

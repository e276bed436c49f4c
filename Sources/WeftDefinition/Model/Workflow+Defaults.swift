extension Workflow {
  /// The workflow with ``defaults`` applied to the steps that they concern.
  ///
  /// A timeout and a retry policy are set on every step with a command, an action or a request that has none of its
  /// own, including those in ``finally`` and in cleanups. The shell is set on the workflow, whose steps inherit it.
  /// Groups, and steps that run nothing, are not changed. Other files have their own defaults. A second call changes
  /// nothing more.
  public func withDefaults() -> Workflow {
    guard defaults != StepDefaults() else { return self }
    var workflow = self
    if settings.shell == nil { workflow.settings.shell = defaults.shell }
    guard defaults.concernsSteps else { return workflow }
    workflow.body.members = defaults.applied(to: body.members, depth: 0)
    workflow.finally = defaults.applied(to: finally, depth: 0)
    return workflow
  }
}

extension StepDefaults {
  fileprivate var concernsSteps: Bool { timeout != nil || retry != nil || !computed.isEmpty }

  /// Groups nested deeper than the limit are not changed: the planner rejects them.
  fileprivate func applied(to steps: [Step], depth: Int) -> [Step] {
    steps.map { applied(to: $0, depth: depth) }
  }

  private func applied(to step: Step, depth: Int) -> Step {
    var step = step
    switch step.action {
    case .run, .use, .http:
      setTimeout(of: &step)
      setRetry(of: &step)
    case .group(var group) where depth <= WorkflowLimits.groupDepth:
      group.members = applied(to: group.members, depth: depth + 1)
      step.action = .group(group)
    case .group, .compute, .wait, .approve, .workflow: break
    }
    if step.hasControl, !step.control.cleanup.isEmpty {
      step.control.cleanup = applied(to: step.control.cleanup, depth: depth)
    }
    return step
  }

  private func setTimeout(of step: inout Step) {
    guard step.timeout == nil, step.computed[.timeout] == nil else { return }
    step.timeout = timeout
    take(into: &step) { $0 == .computed(.timeout) }
  }

  private func setRetry(of step: inout Step) {
    guard let retry, !step.hasControl || step.control.retry.isEmpty else { return }
    step.control.retry = retry
    take(into: &step, \.isAboutRetrying)
  }

  /// Adds the computed keys of some sites, and the locations of their texts.
  private func take(into step: inout Step, _ isTaken: (TextSite) -> Bool) {
    for (key, text) in computed where isTaken(.computed(key)) { step.computed[key] = text }
    let places = texts.value.filter { isTaken($0.site) }
    if !places.isEmpty { step.place.value?.texts += places }
  }
}

extension TextSite {
  fileprivate var isAboutRetrying: Bool {
    switch self {
    case .retryCondition, .computed(.retryMax), .computed(.retryDelay), .computed(.retryMaxDelay),
      .computed(.retryWithin):
      true
    default: false
    }
  }
}

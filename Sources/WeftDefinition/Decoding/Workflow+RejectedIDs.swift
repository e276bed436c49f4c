extension Workflow {
  /// The workflow without needs for steps whose ids were rejected: that no step has such an id only
  /// follows from that.
  func withoutNeeds(on ids: Set<String>) -> Workflow {
    guard !ids.isEmpty else { return self }
    var workflow = self
    workflow.body = body.withoutNeeds(on: ids)
    workflow.finally = finally.map { $0.withoutNeeds(on: ids) }
    return workflow
  }
}

extension StepGroup {
  /// Recursive: groups are at most ``WorkflowLimits/groupDepth`` deep.
  fileprivate func withoutNeeds(on ids: Set<String>) -> StepGroup {
    var group = self
    group.members = members.map { $0.withoutNeeds(on: ids) }
    return group
  }
}

extension Step {
  fileprivate func withoutNeeds(on ids: Set<String>) -> Step {
    var step = self
    step.needs?.removeAll { ids.contains($0.name) }
    if hasControl, !control.cleanup.isEmpty {
      step.control.cleanup = control.cleanup.map { $0.withoutNeeds(on: ids) }
    }
    switch action {
    case .group(let group):
      step.action = .group(group.withoutNeeds(on: ids))
    case .run(var command):
      if case .log(let need) = command.stdin, ids.contains(need.name) {
        command.stdin = nil
        step.action = .run(command)
      }
    case .compute, .wait, .approve, .workflow, .use, .http: break
    }
    return step
  }
}

import WeftDefinition

extension Workflow {
  /// The workflow without time limits of groups and of the run.
  var withoutGroupTimeouts: Workflow {
    var changed = self
    changed.timeout = nil
    changed.body.members = body.members.map(\.withoutGroupTimeouts)
    changed.finally = finally.map(\.withoutGroupTimeouts)
    return changed
  }

  var withIdempotentSteps: Workflow {
    var changed = self
    changed.body.members = body.members.map(\.madeIdempotent)
    changed.finally = finally.map(\.madeIdempotent)
    return changed
  }
}

extension Step {
  fileprivate var withoutGroupTimeouts: Step {
    guard case .group(var group) = action else { return self }
    var step = self
    step.timeout = nil
    group.members = group.members.map(\.withoutGroupTimeouts)
    step.action = .group(group)
    return step
  }

  fileprivate var madeIdempotent: Step {
    var step = self
    switch action {
    case .run: step.control.isIdempotent = true
    case .group(var group):
      group.members = group.members.map(\.madeIdempotent)
      step.action = .group(group)
    case .use, .workflow, .wait, .approve, .http, .compute: break
    }
    step.control.cleanup = control.cleanup.map(\.madeIdempotent)
    return step
  }
}

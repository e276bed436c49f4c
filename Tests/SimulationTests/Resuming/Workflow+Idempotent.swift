import WeftDefinition

extension Workflow {
  var withIdempotentSteps: Workflow {
    var changed = self
    changed.body.members = body.members.map(\.madeIdempotent)
    changed.finally = finally.map(\.madeIdempotent)
    return changed
  }
}

extension Step {
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

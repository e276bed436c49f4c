import WeftDefinition

extension Workflow {
  /// Updates each step that runs another file, in file order; cleanup steps cannot.
  mutating func updateNestedWorkflows(_ update: (inout NestedWorkflow) -> Void) {
    body.members.updateNestedWorkflows(update)
    finally.updateNestedWorkflows(update)
  }
}

extension [Step] {
  /// Recurses: groups are at most ``WorkflowLimits/groupDepth`` deep.
  fileprivate mutating func updateNestedWorkflows(_ update: (inout NestedWorkflow) -> Void) {
    for index in indices {
      switch self[index].action {
      case .workflow(var nested):
        update(&nested)
        self[index].action = .workflow(nested)
      case .group(var group):
        // Drops the second owner, so that the members are changed in place.
        self[index].action = .compute
        group.members.updateNestedWorkflows(update)
        self[index].action = .group(group)
      case .run, .use, .http, .compute, .wait, .approve: break
      }
    }
  }
}

import WeftDefinition

extension Workflow {
  /// Changes each step that is another file, in the order of the file; a clean-up has none.
  mutating func updateNestedWorkflows(_ update: (inout NestedWorkflow) -> Void) {
    body.members.updateNestedWorkflows(update)
    finally.updateNestedWorkflows(update)
  }
}

extension [Step] {
  /// Groups are at most ``WorkflowLimits/groupDepth`` deep, so this may call itself.
  fileprivate mutating func updateNestedWorkflows(_ update: (inout NestedWorkflow) -> Void) {
    for index in indices {
      switch self[index].action {
      case .workflow(var nested):
        update(&nested)
        self[index].action = .workflow(nested)
      case .group(var group):
        // Without a second owner its members are changed where they stand.
        self[index].action = .compute
        group.members.updateNestedWorkflows(update)
        self[index].action = .group(group)
      case .run, .use, .http, .compute, .wait, .approve: break
      }
    }
  }
}

extension Expression {
  /// All references, in the order in which they are written.
  package var references: [ContextReference] {
    var references: [ContextReference] = []
    root.visit { node in
      if case .reference(let reference) = node.form { references.append(reference) }
    }
    return references
  }

  /// The functions in it that ask how the run goes.
  package var statusFunctions: Set<StatusFunction> {
    var found: Set<StatusFunction> = []
    root.visit { node in
      if case .call(let function, _) = node.form, let status = function.status {
        found.insert(status)
      }
    }
    return found
  }
}

extension ExpressionNode {
  /// This node and all below it, a node before those that it is made of, those as they are written.
  package func visit(_ body: (ExpressionNode) -> Void) {
    body(self)
    for child in children { child.visit(body) }
  }
}

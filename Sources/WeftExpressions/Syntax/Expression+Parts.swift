extension Expression {
  /// All references, in source order.
  package var references: [ContextReference] {
    var references: [ContextReference] = []
    root.visit { node in
      if case .reference(let reference) = node.form { references.append(reference) }
    }
    return references
  }

  /// The status functions that it calls.
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
  /// Visits this node and all nodes below it: parents before children, children in source order.
  package func visit(_ body: (ExpressionNode) -> Void) {
    body(self)
    for child in children { child.visit(body) }
  }
}

/// The members of `run` in expressions.
package enum RunField: String, Sendable, Hashable, CaseIterable {
  case id, attempt, dir
}

/// The members of `workflow` in expressions.
package enum WorkflowField: String, Sendable, Hashable, CaseIterable {
  case name, file
}

/// The contexts of expressions.
package enum ValueContext: String, Sendable, Hashable, CaseIterable {
  case inputs, env, secrets, steps
  case itself = "self"
  case item, index, matrix
  case run, workflow
}

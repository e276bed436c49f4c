import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlanning

extension Plan {
  /// A node as tests write it: `a`, and `g(` and `g)` for the start and the end of a group.
  func name(of node: Int) -> String {
    switch nodes[node] {
    case .step(let index): steps[Int(index)].address.text
    case .groupStart(let index): (groups[Int(index)].address?.text ?? "") + "("
    case .groupEnd(let index): (groups[Int(index)].address?.text ?? "") + ")"
    }
  }

  /// One line for each node: itself and its dependencies.
  var waits: [String] {
    nodes.indices.map { node in
      ([name(of: node) + ":"] + dependencies[node].map { name(of: Int($0)) })
        .joined(separator: " ")
    }
  }
}

/// The plan of a valid workflow; otherwise the test fails with its diagnostics.
func planned(_ workflow: Workflow) throws -> Plan {
  let (plan, diagnostics) = Planner.plan(workflow)
  return try #require(plan, "\(diagnostics.map(\.message))")
}

/// The diagnostics of a workflow, each as `code message`; after an error, there must be no plan.
func problems(of workflow: Workflow) -> [String] {
  let (plan, diagnostics) = Planner.plan(workflow)
  #expect((plan == nil) == diagnostics.contains(where: \.isError))
  return diagnostics.map { "\($0.code) \($0.message)" }
}

extension Step {
  /// A step that reads the log of a different step.
  init(_ id: StepID?, readingLogOf source: Need) {
    self.init(id: id, action: .run(Command(.script("cat"), stdin: .log(source))))
  }

  init(_ id: StepID, needs: [Need]? = nil) {
    self.init(id, run: "true", needs: needs)
  }
}

package import WeftDefinition
import WeftDiagnostics

/// Workflow files that only exist in memory: their contents by name. They refer to each other as if all were in
/// one folder.
package struct WorkflowFiles {
  private let contents: (String) -> [UInt8]?

  package init(_ contents: @escaping (String) -> [UInt8]?) { self.contents = contents }

  package init(_ files: [String: String]) {
    self.init { files[$0].map { Array($0.utf8) } }
  }

  /// The workflow of a file, with all files that it runs.
  ///
  /// - Throws: All errors in any of them.
  package func workflow(_ name: String) throws(WorkflowFilesError) -> Workflow {
    guard let bytes = contents(name) else {
      throw WorkflowFilesError(messages: ["there is no \(name)"])
    }
    let (workflow, diagnostics) = WorkflowDecoder.decode(SourceFile(path: name, bytes: bytes))
    guard var workflow, !diagnostics.contains(where: \.isError) else {
      throw WorkflowFilesError(messages: diagnostics.map { "\(name): \($0.message)" })
    }
    workflow.body.members = try filled(workflow.body.members)
    workflow.finally = try filled(workflow.finally)
    return workflow
  }

  package struct WorkflowFilesError: Error {
    package let messages: [String]
  }

  private func filled(_ steps: [Step]) throws(WorkflowFilesError) -> [Step] {
    var filled: [Step] = []
    for var step in steps {
      if case .workflow(var nested) = step.action {
        nested.workflow = try workflow(nested.path)
        step.action = .workflow(nested)
      } else if case .group(var group) = step.action {
        group.members = try self.filled(group.members)
        step.action = .group(group)
      }
      filled.append(step)
    }
    return filled
  }
}

package import WeftDiagnostics
import WeftJSON

/// The file of a machine or a user, which declares runners for all workflows.
package enum ConfigurationFile {
  private struct Draft: FormatObject {
    var runners: [Runner] = []

    static let format = ObjectFormat<Draft>("a configuration file") {
      FormatKey("$schema", "", "") { _, _, _, _ in }
      FormatKey("runners", ValueFormat { $0.runners($1, $2) }) { $0.runners = $1 }
    }
  }

  /// - Returns: The runners as far as they were understood, and all problems, sorted by location.
  package static func decode(
    _ source: SourceFile
  ) -> (runners: [Runner], diagnostics: [Diagnostic]) {
    let (root, textDiagnostics) = JSONReader.read(source)
    guard let root else { return ([], textDiagnostics) }
    let (draft, diagnostics) = DecodingPass.reading(root) { pass in
      var draft = Draft()
      if pass.isObject(root, .itself, wanted: "an object with \"runners\"") {
        pass.read(root, .itself, into: &draft)
      }
      return (draft, pass.diagnostics)
    }
    return (draft.runners, (textDiagnostics + diagnostics).sortedByLocation())
  }
}

extension Workflow {
  /// The workflow, and those that its steps run, with further runners. Those of a file hide others of the same name.
  package func adding(_ further: [Runner]) -> Workflow {
    if further.isEmpty { return self }
    var workflow = self
    let own = Set(runners.map(\.name))
    workflow.runners += further.filter { !own.contains($0.name) }
    workflow.body.members = body.members.map { $0.adding(further) }
    workflow.finally = finally.map { $0.adding(further) }
    return workflow
  }
}

extension Step {
  /// Recursive: groups and nested workflows are at most so deep as ``WorkflowLimits`` says, when they were read.
  fileprivate func adding(_ runners: [Runner]) -> Step {
    var step = self
    switch action {
    case .group(var group):
      group.members = group.members.map { $0.adding(runners) }
      step.action = .group(group)
    case .workflow(var nested):
      nested.workflow = nested.workflow?.adding(runners)
      step.action = .workflow(nested)
    case .run, .use, .http, .wait, .approve, .compute: break
    }
    if hasControl, !control.cleanup.isEmpty {
      step.control.cleanup = control.cleanup.map { $0.adding(runners) }
    }
    return step
  }
}

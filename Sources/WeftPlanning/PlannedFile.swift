package import WeftDefinition
package import WeftDiagnostics

/// A workflow as a part of a plan: the one that is planned, or one that a step runs.
///
/// Each is a name space of its own. Its contents see its ids, inputs and secrets, its `env` and `cwd`, and nothing
/// around the step that runs it. That step is a group with the top level of the other file as its only member, and with
/// that file's `finally`.
package struct PlannedFile: Sendable {
  /// The workflow as written, with its defaults applied.
  package internal(set) var workflow: Workflow
  /// Its top level, as an index into ``Plan/groups``.
  package let topLevel: Int
  /// The step that runs it, as an index into ``Plan/groups``; `nil` for the workflow that is planned.
  package let caller: Int?
  /// The `finally` group; `nil` if it has none.
  package internal(set) var finally: Int?
  /// The address of the step that runs it; `nil` for the workflow that is planned.
  package let address: StepAddress?

  init(_ workflow: Workflow, topLevel: Int, caller: Int? = nil, at address: StepAddress? = nil) {
    self.workflow = workflow
    self.topLevel = topLevel
    self.caller = caller
    self.address = address
  }
}

/// A secret and the file that declares it: two files may use the same name for different secrets.
package struct PlannedSecret: Sendable {
  package let declaration: SecretDeclaration
  /// The file, as an index into ``Plan/files``.
  package let file: Int
  /// The text of the file, for messages; `nil` for a workflow built in Swift.
  package let source: SourceFile?

  package init(declaration: SecretDeclaration, file: Int = 0, source: SourceFile? = nil) {
    self.declaration = declaration
    self.file = file
    self.source = source
  }
}

extension Plan {
  /// The file that a step runs, by the group of the step; `nil` for any other group.
  package func file(runByGroup group: Int) -> Int? {
    guard files.count > 1, group + 1 < groups.count, groups[group + 1].isTopLevel else {
      return nil
    }
    return groups[group + 1].file
  }

  /// The address of a step or group within its own file.
  package func localAddress(of node: NodeIndex) -> StepAddress {
    address(of: node).local(inFileOf: files[groups[group(around: node)].file].address)
  }

  /// The group of which a step, or a group by its start or end, is a member.
  package func group(around node: NodeIndex) -> Int {
    switch nodes[node] {
    case .step(let index): steps[Int(index)].group
    case .groupStart(let index), .groupEnd(let index): groups[Int(index)].parent ?? 0
    }
  }
}

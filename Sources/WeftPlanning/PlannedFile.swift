package import WeftDefinition
package import WeftDiagnostics

/// A workflow as a part of a plan: the one that is planned, or one that a step of it runs.
///
/// Each is a name space of its own. What stands in it sees its ids, its inputs and secrets, its `env` and
/// `cwd`, and nothing of what is around the step that runs it; that is a group, with the top level of the
/// other file as its only member, and with what that does finally.
package struct PlannedFile: Sendable {
  /// As it was written, with its defaults applied.
  package internal(set) var workflow: Workflow
  /// Its top level, as an index into ``Plan/groups``.
  package let topLevel: Int
  /// The step that runs it, as such an index; `nil` of the workflow that is planned.
  package let caller: Int?
  /// The group of what is done when all else in it has ended.
  package internal(set) var finally: Int?
  /// What the addresses of its steps begin with: `child/`.
  package let prefix: String

  init(_ workflow: Workflow, topLevel: Int, caller: Int? = nil, prefix: String = "") {
    self.workflow = workflow
    self.topLevel = topLevel
    self.caller = caller
    self.prefix = prefix
  }
}

/// A secret, and the file that declares it: two files may call different secrets alike.
package struct PlannedSecret: Sendable {
  package let declaration: SecretDeclaration
  /// As an index into ``Plan/files``.
  package let file: Int
  /// For messages; `nil` of a workflow built in Swift.
  package let source: SourceFile?

  package init(declaration: SecretDeclaration, file: Int = 0, source: SourceFile? = nil) {
    self.declaration = declaration
    self.file = file
    self.source = source
  }
}

extension Plan {
  /// The file that a step runs, by the group that stands for it; `nil` of any other group.
  package func file(runByGroup group: Int) -> Int? {
    guard files.count > 1, group + 1 < groups.count, groups[group + 1].isTopLevel else {
      return nil
    }
    return groups[group + 1].file
  }

  /// How a step or group is called in its own file.
  package func localAddress(of node: NodeIndex) -> StepAddress {
    let address = address(of: node)
    let prefix = files[groups[group(around: node)].file].prefix
    return prefix.isEmpty ? address : StepAddress(String(address.text.dropFirst(prefix.count)))
  }

  /// The group that a step, or a group by its start or end, is a member of.
  package func group(around node: NodeIndex) -> Int {
    switch nodes[node] {
    case .step(let index): steps[Int(index)].group
    case .groupStart(let index), .groupEnd(let index): groups[Int(index)].parent ?? 0
    }
  }
}

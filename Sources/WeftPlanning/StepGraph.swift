public import WeftDefinition
package import WeftDiagnostics

/// Steps and groups as flat lists: an outline, or the plan that is made from it.
package protocol StepGraph {
  var steps: [PlannedStep] { get }
  var groups: [PlannedGroup] { get }
  var nodes: [PlanNode] { get }
  var files: [PlannedFile] { get }
}

extension Plan: StepGraph {}
extension Outline: StepGraph {}

extension StepGraph {
  /// The address of the step at a node, or of the group that begins or ends there.
  package func address(of node: Plan.NodeIndex) -> StepAddress {
    switch nodes[node] {
    case .step(let index): return steps[Int(index)].address
    case .groupStart(let index), .groupEnd(let index):
      guard let address = groups[Int(index)].address else {
        preconditionFailure("the top level has no node, but \(node) is one")
      }
      return address
    }
  }

  /// The definition of the step at a node, or of the group that begins or ends there.
  package func step(at node: Plan.NodeIndex) -> Step? {
    switch nodes[node] {
    case .step(let index): steps[Int(index)].step
    case .groupStart(let index), .groupEnd(let index): groups[Int(index)].step
    }
  }

  /// The node that is reached once the step, or the whole group, at `node` has ended.
  package func end(of node: Plan.NodeIndex) -> Plan.NodeIndex {
    guard case .groupStart(let index) = nodes[node] else { return node }
    return groups[Int(index)].endNode
  }

  /// The group of which a step, or a group by its start or end, is a member.
  package func group(around node: Plan.NodeIndex) -> Int {
    switch nodes[node] {
    case .step(let index): steps[Int(index)].group
    case .groupStart(let index), .groupEnd(let index): groups[Int(index)].parent ?? 0
    }
  }

  /// The settings of a step, and those of the groups around it in its file, innermost first.
  package func layers(ofStep index: Int) -> [CommandSettings] {
    [steps[index].settings]
      + EnclosingGroups(groups, from: steps[index].group).map { group in
        groups[group].step?.settings ?? files[groups[group].file].workflow.settings
      }
  }
}

/// The environment of a command, merged from all layers.
extension Plan {
  /// The groups around a step in its file, innermost first, ending with the top level of the file.
  public func enclosingGroups(ofGroup group: Int) -> EnclosingGroups {
    EnclosingGroups(groups, from: group)
  }

  /// The groups around a step, including those around the steps that run its file, up to the top level of the run.
  package func allEnclosingGroups(ofGroup group: Int) -> EnclosingGroups {
    EnclosingGroups(groups, from: group, crossingFiles: true)
  }

  /// The settings that a group gives its contents; for the top level, those of the workflow.
  public func settings(ofGroup group: Int) -> CommandSettings {
    groups[group].step?.settings ?? workflow.settings
  }

  /// The variables that the layers set (`nil`: remove); inner layers win.
  public func environment(of step: PlannedStep) -> [String: String?] {
    var merged = step.step.settings.environment
    for group in enclosingGroups(ofGroup: step.group) {
      merged.merge(settings(ofGroup: group).environment) { inner, _ in inner }
    }
    return merged
  }

  /// The directory as written, relative to the start directory; `nil` for the start directory itself.
  public func workingDirectory(of step: PlannedStep) -> String? {
    innermost(of: step) { $0.workingDirectory }
  }

  /// The enclosing group in the same file; `nil` for the file's top level.
  package func layer(around group: Int) -> Int? {
    groups[group].isTopLevel ? nil : groups[group].parent
  }

  /// The secrets that a run reads: those of steps and groups that may run, as far as known.
  package var usedSecrets: [PlannedSecret] {
    files.enumerated().flatMap { index, file in
      file.workflow.secrets.filter {
        values.secrets[index]?[$0.name]?.contains(where: mayRun) == true
      }
      .map { PlannedSecret(declaration: $0, file: index, source: file.workflow.source.value) }
    }
  }

  private func mayRun(_ owner: TextOwner) -> Bool {
    switch owner {
    case .workflow: true
    case .group(let index): !forecast(of: groups[index]).isSkipped
    case .step(let index): !isCertainlySkipped(steps[index])
    }
  }

  /// All declared secrets, whether they are read or not.
  package var declaredSecrets: [SecretDeclaration] { files.flatMap(\.workflow.secrets) }

  public func shell(of step: PlannedStep) -> Shell { innermost(of: step) { $0.shell } ?? .sh }

  public func environmentPolicy(of step: PlannedStep) -> EnvironmentPolicy {
    innermost(of: step) { $0.environmentPolicy } ?? .inherit
  }

  private func innermost<Setting>(
    of step: PlannedStep, _ setting: (CommandSettings) -> Setting?
  ) -> Setting? {
    if let own = setting(step.step.settings) { return own }
    for group in enclosingGroups(ofGroup: step.group) {
      if let outer = setting(settings(ofGroup: group)) { return outer }
    }
    return nil
  }

  /// The files that the workflow names, at any depth, each once: other workflow files, then scripts.
  package var namedFiles: [SourceFile] {
    let workflows = files.dropFirst().compactMap(\.workflow.source.value)
    var named: [SourceFile] = []
    // Several steps may run the same file.
    var paths: Set<String> = []
    for file in workflows + files.flatMap(\.workflow.scripts.value)
    where paths.insert(file.path).inserted {
      named.append(file)
    }
    return named
  }

  /// The command line to start: for a script, its shell with the script appended. Empty for a step that runs no
  /// command.
  public func arguments(of step: PlannedStep) -> [String] {
    switch step.command?.invocation {
    case .program(let arguments): arguments
    case let invocation?: shell(of: step).prefix + [invocation.script ?? ""]
    case nil: []
    }
  }
}

/// A group and the groups around it, in its file or in all files, innermost first. Not a closure, which would have to
/// copy the plan: it is iterated several times for every step.
public struct EnclosingGroups: Sequence, IteratorProtocol, Sendable {
  private let groups: [PlannedGroup]
  private let crossesFiles: Bool
  private var following: Int?

  init(_ groups: [PlannedGroup], from group: Int, crossingFiles: Bool = false) {
    self.groups = groups
    crossesFiles = crossingFiles
    following = group
  }

  /// The index of the next group outwards; `nil` after the top level.
  public mutating func next() -> Int? {
    guard let group = following else { return nil }
    following = !crossesFiles && groups[group].isTopLevel ? nil : groups[group].parent
    return group
  }
}

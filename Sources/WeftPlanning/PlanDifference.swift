import WeftDefinition
import WeftJSON

/// The difference between two plans, step by step, for a run that began with one and is resumed with the other.
package struct PlanDifference: Sendable, Hashable {
  /// Steps whose action or surroundings changed.
  package private(set) var changed: [StepAddress] = []
  package private(set) var added: [StepAddress] = []
  /// Removed steps, in the order of the older plan.
  package private(set) var removed: [StepAddress] = []
  /// Groups, and steps that run other files, whose own values changed: their outputs, or what they pass to the other file.
  package private(set) var changedGroups: [StepAddress] = []
  /// Those of the changed groups of which only the outputs changed.
  package private(set) var groupsWithOtherOutputs: [StepAddress] = []
  /// Loops that have other elements in a list of the file, and nothing else.
  package private(set) var relisted: [StepAddress] = []
  /// The changed steps that only belong to those: the loops themselves, or steps in them.
  package private(set) var relistedSteps: Set<StepAddress> = []
  /// Loops over groups that only one of the plans has: their elements have other addresses.
  package private(set) var addedLoops: [StepAddress] = []
  package private(set) var removedLoops: [StepAddress] = []
  /// Steps that are in other groups than before.
  package private(set) var moved: Set<StepAddress> = []
  /// The settings around a changed step that changed, by the names of their keys: those of groups, defaults and files.
  package private(set) var surroundings: [StepAddress: [String]] = [:]

  package init(from old: Plan, to new: Plan) {
    let before = Dictionary(
      old.steps.map { ($0.address, Content(of: $0, in: old)) },
      uniquingKeysWith: { first, _ in first })
    let groups = Set(old.groups.compactMap(\.address))
    let around = Dictionary(
      old.steps.map { ($0.address, old.groups(around: $0)) },
      uniquingKeysWith: { first, _ in first })
    for step in new.steps {
      if let known = around[step.address], known != new.groups(around: step) {
        moved.insert(step.address)
      }
      guard let known = before[step.address] else {
        // A group that became a step has other values for the steps that read them.
        if groups.contains(step.address) {
          changed.append(step.address)
        } else {
          added.append(step.address)
        }
        continue
      }
      let content = Content(of: step, in: new)
      guard known != content else { continue }
      changed.append(step.address)
      if known.withoutLists == content.withoutLists {
        relistedSteps.insert(step.address)
        if known.step != content.step { relisted.append(step.address) }
      }
      let around = known.changedSurroundings(to: content)
      if !around.isEmpty { surroundings[step.address] = around }
    }
    let names = Set(new.steps.map(\.address))
    let newGroups = Set(new.groups.compactMap(\.address))
    removed = old.steps.map(\.address).filter { !names.contains($0) && !newGroups.contains($0) }
    compareGroups(of: old, with: new)
  }

  private mutating func compareGroups(of old: Plan, with new: Plan) {
    let (before, after) = (GroupContent.all(of: old), GroupContent.all(of: new))
    let known = Dictionary(before, uniquingKeysWith: { first, _ in first })
    let steps = Set(old.steps.map(\.address))
    for (address, content) in after {
      if let earlier = known[address] {
        if earlier.values != content.values {
          changedGroups.append(address)
          if content.values.isOnlyOfOutputs(since: earlier.values) {
            groupsWithOtherOutputs.append(address)
          }
        }
        if earlier.loop != content.loop, earlier.loop?.withoutList == content.loop?.withoutList {
          relisted.append(address)
        }
      } else if steps.contains(address) {
        changedGroups.append(address)
      } else if content.isLoop {
        addedLoops.append(address)
      }
    }
    let names = Set(after.map(\.0))
    removedLoops = before.filter { $1.isLoop && !names.contains($0) }.map(\.0)
  }

  /// Counts added steps as changed, if they are among these.
  package mutating func countAsChanged(_ steps: Set<StepAddress>) {
    changed += added.filter(steps.contains)
    added.removeAll(where: steps.contains)
  }

  package var isEmpty: Bool { [allChanged, allAdded, allRemoved].allSatisfy(\.isEmpty) }

  /// The changed groups, then the changed steps.
  package var allChanged: [StepAddress] { changedGroups + changed }
  /// The added steps, then the added loops.
  package var allAdded: [StepAddress] { added + addedLoops }
  /// The removed steps, then the removed loops.
  package var allRemoved: [StepAddress] { removed + removedLoops }

  /// Everything that decides the values of a group, besides its members.
  private struct GroupContent {
    struct Values: Hashable {
      let kind: ActionKind
      let isRace: Bool
      private(set) var outputs: [OutputDeclaration]
      /// Those of the file that it runs.
      let parameters: [Parameter]
      let inputs: [InputDeclaration]
      let results: [OutputDeclaration]

      /// Whether only the outputs of a group differ, which its members do not read.
      func isOnlyOfOutputs(since earlier: Values) -> Bool {
        var same = self
        same.outputs = earlier.outputs
        return same == earlier && kind.isGroup
      }
    }

    let values: Values
    let loop: FanOut?
    var isLoop: Bool { loop != nil }

    static func all(of plan: Plan) -> [(StepAddress, GroupContent)] {
      let files = Dictionary(
        plan.files.compactMap { file in file.caller.map { ($0, file.workflow) } },
        uniquingKeysWith: { first, _ in first })
      return plan.groups.indices.compactMap { index in
        let group = plan.groups[index]
        guard !group.isTopLevel, let address = group.address, let step = group.step else {
          return nil
        }
        var parameters: [Parameter] = []
        if case .workflow(let call) = step.action { parameters = call.parameters }
        let file = files[index]
        // The order of its members decides no value.
        let kind = step.action.kind
        let values = Values(
          kind: kind.isGroup ? .steps : kind, isRace: group.order == .race, outputs: step.outputs,
          parameters: parameters, inputs: file?.inputs ?? [],
          results: file?.outputs ?? [])
        return (
          address,
          GroupContent(values: values, loop: step.hasControl ? step.control.fanOut : nil)
        )
      }
    }
  }

  /// Everything that decides what a step does, except for the values that it reads.
  private struct Content: Hashable {
    private(set) var step: Step
    let environment: [String: String?]
    let environmentFiles: [[EnvironmentFile]]
    let policy: EnvironmentPolicy?
    let directory: String?
    let shell: Shell
    let runner: Runner?
    /// The loops around it, from the inside out.
    private(set) var loops: [FanOut]

    init(of step: PlannedStep, in plan: Plan) {
      self.step = step.step.content
      environment = plan.environment(of: step)
      environmentFiles = plan.environmentFiles(of: step)
      policy = plan.environmentPolicy(of: step)
      directory = plan.workingDirectory(of: step)
      shell = plan.shell(of: step)
      runner = plan.runner(of: step)
      loops = plan.allEnclosingGroups(ofGroup: step.group).compactMap {
        plan.groups[$0].step?.control.fanOut
      }
    }

    /// The content without the lists of loops that are written in the file.
    var withoutLists: Content {
      var content = self
      content.loops = loops.map(\.withoutList)
      if step.hasControl, let loop = step.control.fanOut {
        content.step.control.fanOut = loop.withoutList
      }
      return content
    }

    func changedSurroundings(to new: Content) -> [String] {
      [
        ("env", environment != new.environment),
        ("envFile", environmentFiles != new.environmentFiles), ("envPolicy", policy != new.policy),
        ("cwd", directory != new.directory), ("shell", shell != new.shell),
        ("runner", runner != new.runner),
        ("forEach", loops != new.loops),
      ].filter(\.1).map(\.0)
    }
  }
}

extension Plan {
  /// The addresses of the groups around a step, from the inside out.
  fileprivate func groups(around step: PlannedStep) -> [StepAddress] {
    allEnclosingGroups(ofGroup: step.group).compactMap { groups[$0].address }
  }
}

extension FanOut {
  /// The loop without the elements that are written in the file.
  fileprivate var withoutList: FanOut {
    guard case .forEach(var loop) = self, case .values = loop.elements else { return self }
    loop.elements = .values(.null)
    return .forEach(loop)
  }
}

extension Step {
  /// The step without what does not decide what it does: its dependencies, and the texts for people.
  var content: Step {
    var step = withoutProse
    step.needs = nil
    return step
  }

  /// The step without the texts for people, which no expression reads.
  private var withoutProse: Step {
    var step = self
    (step.name, step.description) = (nil, nil)
    if hasControl, !control.cleanup.isEmpty {
      step.control.cleanup = control.cleanup.map(\.withoutProse)
    }
    return step
  }
}

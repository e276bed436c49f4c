import WeftDefinition

/// The difference between two plans, step by step, for a run that began with one and is resumed with the other.
package struct PlanDifference: Sendable, Hashable {
  /// Steps whose action or surroundings changed.
  package private(set) var changed: [StepAddress] = []
  package private(set) var added: [StepAddress] = []
  /// Removed steps, in the order of the older plan.
  package private(set) var removed: [StepAddress] = []
  /// The settings around a changed step that changed, by the names of their keys: those of groups, defaults and files.
  package private(set) var surroundings: [StepAddress: [String]] = [:]

  package init(from old: Plan, to new: Plan) {
    let before = Dictionary(
      old.steps.map { ($0.address, Content(of: $0, in: old)) },
      uniquingKeysWith: { first, _ in first })
    for step in new.steps {
      guard let known = before[step.address] else {
        added.append(step.address)
        continue
      }
      let content = Content(of: step, in: new)
      guard known != content else { continue }
      changed.append(step.address)
      let around = known.changedSurroundings(to: content)
      if !around.isEmpty { surroundings[step.address] = around }
    }
    let names = Set(new.steps.map(\.address))
    removed = old.steps.map(\.address).filter { !names.contains($0) }
  }

  /// Counts added steps as changed, if they are among these.
  package mutating func countAsChanged(_ steps: Set<StepAddress>) {
    changed += added.filter(steps.contains)
    added.removeAll(where: steps.contains)
  }

  package var isEmpty: Bool { changed.isEmpty && added.isEmpty && removed.isEmpty }

  /// Everything that decides what a step does, except for the values that it reads.
  private struct Content: Hashable {
    let step: Step
    let environment: [String: String?]
    let environmentFiles: [[EnvironmentFile]]
    let policy: EnvironmentPolicy?
    let directory: String?
    let shell: Shell
    let runner: Runner?
    /// The loops around it, from the inside out.
    let loops: [FanOut]

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

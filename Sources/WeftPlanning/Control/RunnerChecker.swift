package import WeftDefinition
package import WeftDiagnostics

/// Checks that the runners which a workflow, a group or a step names are declared, and that no step names one although
/// it needs this machine.
struct RunnerChecker {
  private let outline: Outline
  private var found = FoundProblems()

  static func problems(of outline: Outline) -> [PlacedProblem] {
    var checker = RunnerChecker(outline: outline)
    for (index, file) in outline.files.enumerated() {
      checker.found.file = index
      checker.found.node = nil
      checker.check(file.workflow.settings, of: "the workflow")
    }
    for group in outline.groups {
      guard let step = group.step, !group.isTopLevel else { continue }
      checker.found.file = group.file
      checker.found.node = group.startNode
      let subject = outline.member(at: group.startNode).subject.description
      checker.check(step.settings, of: subject)
    }
    for step in outline.steps where step.namesRunner { checker.check(step) }
    return checker.found.problems
  }

  private mutating func check(_ planned: PlannedStep) {
    found.file = outline.groups[planned.group].file
    found.node = planned.node
    let subject = outline.member(at: planned.node).subject.description
    check(planned.step.settings, of: subject)
    guard let runner = planned.step.settings.runner, runner.name != Runner.local,
      let reason = planned.command?.reasonToStayHere
    else { return }
    found.append(.mustStayHere(subject, because: reason, named: runner.name), runner.place.value)
  }

  private mutating func check(_ settings: CommandSettings, of subject: String) {
    guard let runner = settings.runner, runner.name != Runner.local else { return }
    let names = outline.files[found.file].workflow.runnerNames
    if names.contains(runner.name) { return }
    found.append(.unknownRunner(subject, named: runner.name, known: names), runner.place.value)
  }
}

extension Outline {
  /// Whether any step may have a runner.
  var mayUseRunners: Bool {
    files.contains { !$0.workflow.runners.isEmpty || $0.workflow.settings.runner != nil }
      || groups.contains { $0.step?.settings.runner != nil } || steps.contains(where: \.namesRunner)
  }
}

extension PlannedStep {
  /// Whether the step itself names a runner. Called for every step, so it avoids a copy.
  fileprivate var namesRunner: Bool { withStep { $0.pointee.settings.runner != nil } }

  fileprivate var isToBeAdopted: Bool {
    withStep { $0.pointee.control.onInterrupted == .adopt }
  }
}

extension Plan {
  /// The place besides this machine where the command of a step runs; `nil` for this machine.
  package func runner(of step: PlannedStep) -> Runner? {
    guard mayUseRunners, step.kind == .run, step.command?.reasonToStayHere == nil else {
      return nil
    }
    let file = files[groups[step.group].file].workflow
    if let name = runnerInside(of: step) { return file.runner(named: name) }
    if let chosenRunner { return workflow.runner(named: chosenRunner) }
    return file.settings.runner.flatMap { file.runner(named: $0.name) }
  }

  /// All runners that steps may have, each once; none if there is no step that has one.
  package var runners: [Runner] {
    guard mayUseRunners else { return [] }
    var runners: [Runner] = []
    for runner in files.flatMap(\.workflow.runners) + [.slurm] where !runners.contains(runner) {
      runners.append(runner)
    }
    return runners
  }

  /// Whether a resumed run keeps the command of a step, on this machine, if it has outlived its engine.
  package func isAdoptable(_ step: PlannedStep) -> Bool {
    step.isToBeAdopted && step.kind == .run && step.command?.reasonToStayHere == nil
      && runner(of: step) == nil
  }

  /// The runner that a step, or a group around it, names.
  private func runnerInside(of step: PlannedStep) -> String? {
    if let own = step.step.settings.runner { return own.name }
    for group in enclosingGroups(ofGroup: step.group) where !groups[group].isTopLevel {
      if let outer = settings(ofGroup: group).runner { return outer.name }
    }
    return nil
  }

  /// Chooses the runner of all commands for which neither a step nor a group names one.
  ///
  /// - Returns: The problem if the workflow has no such runner.
  package mutating func choose(runner name: String) -> Diagnostic? {
    let known = workflow.runnerNames
    guard known.contains(name) else {
      return .unknownRunner("the run", named: name, known: known)
    }
    chosenRunner = name
    mayUseRunners = mayUseRunners || name != Runner.local
    return nil
  }
}

extension Diagnostic {
  /// The code of a problem with the name of a runner.
  package static let unknownRunner = "W0234"

  fileprivate static func unknownRunner(
    _ subject: String, named name: String, known: [String]
  ) -> Diagnostic {
    let nearest = NearestName(known).nearest(to: name)
    let available = known.prefix(12).joined(separator: ", ")
    let isDeclared = known.count > 2
    return Diagnostic(
      unknownRunner, "\(subject) names runner \(quoted(name)), which is not declared",
      key: "runner",
      help: nearest.asSuggestion
        ?? (!isDeclared
          ? "declare it, here or in ~/.config/weft/config.jsonc: \"runners\": { \(quoted(name)): { "
            + "\"kind\": \"ssh\", \"hosts\": [\"HOST\"] } }; slurm and local need no declaration"
          : "available: \(available)"))
  }

  fileprivate static func mustStayHere(
    _ subject: String, because reason: String, named name: String
  ) -> Diagnostic {
    Diagnostic(
      "W0235", "\(subject) cannot run on runner \(quoted(name)): it has \(reason)", key: "runner",
      help: "remove \"runner\", or \(reason); a step that inherits a runner stays on this machine")
  }
}

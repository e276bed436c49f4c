public import WeftDefinition
public import WeftDiagnostics

/// Turns a workflow into a plan that can run: names resolved, edges drawn, order known.
///
/// Planning reads nothing but the workflow and starts nothing. Its time is proportional to the number of steps and
/// edges. Its stack depth depends on neither: chains and cycles of any length are walked by loops.
public enum Planner {
  /// The plan of `workflow`, and all errors and warnings, sorted by location.
  ///
  /// The only way to obtain a ``Plan``. All problems are found in one pass, and consequences of other problems are not
  /// reported: a name that is unknown or ambiguous adds no edge and thus no cycle.
  ///
  /// - Parameter actions: The actions that steps may run with `use`: those that the embedding program has registered;
  ///   `nil` for any.
  /// - Returns: No plan exactly if one of the diagnostics is an error.
  public static func plan(
    _ workflow: Workflow, actions: Set<ActionName>? = []
  ) -> (plan: Plan?, diagnostics: [Diagnostic]) {
    plan(workflow, actions: actions, afterErrors: false)
  }

  /// Returns the plan of a workflow that was run before: actions and runners that it names were known then.
  package static func plan(
    recorded workflow: Workflow, numbered numbers: StepNumbers = StepNumbers()
  ) -> Plan? {
    plan(workflow, actions: nil, afterErrors: false, knowsRunners: false, numbers: numbers).plan
  }

  /// - Parameter afterErrors: Whether the workflow is what the decoder understood of files with errors: these explain its
  ///   unfit values.
  package static func plan(
    _ workflow: Workflow, actions: Set<ActionName>?, afterErrors: Bool, knowsRunners: Bool = true,
    numbers: StepNumbers = StepNumbers()
  ) -> (plan: Plan?, diagnostics: [Diagnostic]) {
    let (outline, tooLarge) = Outline.make(of: workflow, numbered: numbers)
    // Later checks rely on valid values, except where a value that does not fit is explained by an error of its file.
    let unfit = BuiltValueChecker.problems(of: outline)
    guard unfit.isEmpty || afterErrors else {
      return (nil, (tooLarge + unfit).reported(in: outline))
    }
    let (names, duplicates) = StepNames.make(of: outline)
    let reader = TextReader.read(outline, names)
    let (dependencies, logs, misnamed) = EdgeBuilder.build(outline, names, reader.references)
    let order = TopologicalOrder(of: dependencies)
    let cycles = CycleFinder.cycles(of: dependencies, leftOutOf: order).map {
      Cycle(through: $0, of: outline, names, reader.references).problem(in: outline)
    }
    var checker = ValueChecker(outline, names, logs, dependencies, texts: reader.texts)
    checker.check(in: order.nodes)
    // Consequences of other problems are not reported.
    let isOrdered = (duplicates + misnamed + cycles).allSatisfy { !$0.diagnostic.isError }
    let services = PlannedServices(outline, dependencies)
    let problems =
      tooLarge + duplicates + reader.found.problems + misnamed + cycles + checker.found.problems
      + ControlChecker.problems(of: outline) + NestingChecker.problems(of: outline)
      + ActionChecker.problems(of: outline, registered: actions)
      + (knowsRunners ? RunnerChecker.problems(of: outline) : [])
      + RequestChecker.problems(of: outline)
      + CachingChecker.problems(of: outline, isOrdered ? dependencies : nil)
      + (isOrdered
        ? outline.orderProblems(dependencies) + services.problems(in: outline)
          + ServicePools(outline, services, dependencies).problems()
        : [])
    let diagnostics = problems.reported(in: outline)
    guard !diagnostics.contains(where: \.isError) else { return (nil, diagnostics) }
    let paths = PathEdges(of: outline, outline.cleanups, dependencies, order.nodes)
    var plan = Plan(
      files: outline.files, steps: outline.steps, groups: outline.groups, nodes: outline.nodes,
      dependencies: dependencies, topologicalOrder: order.nodes,
      stepsBelow: CriticalPath.stepsBelow(each: outline.nodes, paths.edges, paths.order),
      bodies: PlannedBodies(of: outline, dependencies, in: order.nodes, services),
      values: PlannedValues(reader, checker, names), logs: logs)
    plan.mayUseRunners = outline.mayUseRunners
    plan.numbers = numbers
    return (plan, diagnostics)
  }
}

/// Checks the values of every file, step and group by the rules of the file format (``BuiltValues``).
///
/// Workflows decoded without errors always pass; a workflow that was built or changed in Swift may contain any values.
struct BuiltValueChecker {
  private var found = FoundProblems()

  static func problems(of outline: Outline) -> [PlacedProblem] {
    var checker = BuiltValueChecker()
    for (index, file) in outline.files.enumerated() {
      checker.found.file = index
      checker.found.node = index == 0 ? nil : outline.groups[file.topLevel].startNode
      checker.append(BuiltValues.unfit(in: file.workflow), at: nil)
    }
    for group in outline.groups {
      guard let step = group.step, !group.isTopLevel else { continue }
      checker.found.file = group.file
      checker.found.node = group.startNode
      checker.append(BuiltValues.unfit(in: step), at: step)
    }
    for (index, step) in outline.steps.enumerated() {
      let isCleanup = !outline.cleanedUp.isEmpty && outline.cleanedUp[Int32(index)] != nil
      let unfit = step.unfitValues(isCleanup: isCleanup)
      guard !unfit.isEmpty else { continue }
      checker.found.file = outline.groups[step.group].file
      checker.found.node = step.node
      checker.append(unfit, at: step.step)
    }
    return checker.found.problems
  }

  private mutating func append(_ values: [Diagnostic], at step: Step?) {
    for value in values { found.append(value, step?.place.value?.step) }
  }
}

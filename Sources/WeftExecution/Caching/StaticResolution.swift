import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftPlanning
import WeftPlatform

/// Steps resolved as far as possible before anything runs.
struct StaticResolution {
  private let plan: Plan
  private let values: RunValues
  private let files: [StaticInputs]
  private let resolver: CommandResolver
  private let startDirectory: String?

  init(
    _ plan: Plan, _ inputs: InputValues, _ secrets: RunSecrets, startDirectory: String?
  ) {
    self.startDirectory = startDirectory
    self.plan = plan
    values = RunValues(
      plan: plan, run: RunID(""), inputs: inputs, secrets: secrets,
      process: .inherited().hiding(plan.declaredSecrets), startDirectory: startDirectory)
    files = StaticInputs.all(of: plan, inputs, values, hasRun: false)
    resolver = CommandResolver(
      plan: plan, run: RunID(""), cookie: EngineCookie(), startDirectory: startDirectory,
      inheriting: .inheritedWithoutJobs())
  }

  /// One execution of a step: the only one, or that of an element of the loops around it.
  struct Execution {
    var instance: Instance
    /// Whether it is certain that the step is executed, and only once.
    var isDecided = true
  }

  /// The largest number of elements for which a step is resolved.
  private static let elementLimit = 1_000

  /// The executions of a step, in the order of the elements, without those whose conditions are known to be false.
  func executions(ofStep index: Int) throws(StaticResolutionError) -> [Execution] {
    let group = plan.steps[index].group
    let file = plan.groups[group].file
    var executions = [Execution(instance: files[file].scope.instance)]
    if let caller = plan.files[file].caller {
      if plan.isInLoop(group: caller) {
        throw StaticResolutionError(reason: "the elements of the loop that runs its file")
      }
      for group in plan.allEnclosingGroups(ofGroup: caller) {
        executions = decided(.group(group), executions)
      }
    }
    let groups = plan.enclosingGroups(ofGroup: group).reversed().map(PlanMember.group)
    for member in groups + [.step(index)] {
      if plan.fanOut(of: member) != nil { executions = try elements(of: member, in: executions) }
      executions = decided(member, executions)
    }
    return executions
  }

  private func elements(
    of member: PlanMember, in outer: [Execution]
  ) throws(StaticResolutionError) -> [Execution] {
    let region = PlanRegion(member, of: plan)
    var executions: [Execution] = []
    let texts = plan.texts(of: member)
    let isComputed = texts.contains { $0.site == .elements }
    // The keys are parts of addresses.
    guard
      texts.allSatisfy({
        $0.site != .elementKey || files[$0.file].decides($0, hasRun: false, inElement: true)
      })
    else { throw StaticResolutionError(reason: "the keys of its elements") }
    for execution in outer {
      // A list that is empty now may be of files that do not exist yet.
      guard let listing = inputs(of: member).listing(of: member, in: execution.instance),
        listing.count > 0 || !isComputed
      else { throw StaticResolutionError(reason: "the elements of its loop") }
      guard executions.count + listing.count <= StaticResolution.elementLimit else {
        throw StaticResolutionError(
          reason: "it has more than \(StaticResolution.elementLimit) elements")
      }
      for index in 0..<listing.count {
        var inside = execution
        inside.instance = Instance(
          unnumbered: .element(listing[index]), of: region, in: execution.instance)
        executions.append(inside)
      }
    }
    return executions
  }

  /// The executions without those that the condition of a step or group prevents.
  private func decided(_ member: PlanMember, _ executions: [Execution]) -> [Execution] {
    var isRepeated = false
    if case .group(let index) = member {
      isRepeated = plan.groups[index].step?.control.retry.isEmpty == false
    }
    let condition = StartCondition(plan.texts(of: member))
    guard isRepeated || condition != nil else { return executions }
    return executions.compactMap { execution in
      var execution = execution
      if isRepeated { execution.isDecided = false }
      guard let condition else { return execution }
      switch inputs(of: member).value(of: condition, in: execution.instance) {
      case false?: return nil
      case true?: break
      case nil: execution.isDecided = false
      }
      return execution
    }
  }

  private func inputs(of member: PlanMember) -> StaticInputs {
    files[plan.groups[plan.group(around: plan.node(of: member))].file]
  }

  func subject(
    ofStep index: Int, in instance: Instance
  ) throws(StaticResolutionError) -> CacheSubject {
    let step = plan.steps[index]
    try check(plan.values.texts(ofStep: index), in: instance)
    for group in plan.enclosingGroups(ofGroup: step.group) {
      try check(plan.values.texts(ofGroup: group), in: instance)
    }
    var resolved = ResolvedStep(asWritten: step, directory: plan.workingDirectory(of: step))
    if let failure = StepResolver(values, in: instance).resolve(index, attempt: 1, &resolved) {
      throw StaticResolutionError(reason: failure.message)
    }
    guard let caching = resolved.command?.caching else {
      preconditionFailure("\(step.address) is not cached")
    }
    do throws(CacheKeyError) {
      return try CacheSubject(
        resolved, caching, of: StepTask(index, of: plan, in: instance, after: []), in: plan,
        resolver,
        start: startDirectory)
    } catch {
      throw StaticResolutionError(reason: error.message)
    }
  }

  /// - Throws: The reason why a text that the command depends on cannot be evaluated yet.
  private func check(
    _ texts: ArraySlice<PlannedText>, in instance: Instance
  ) throws(StaticResolutionError) {
    let inElement = instance.isInElement
    for text in texts where text.site.isOfCommand {
      guard !files[text.file].decides(text, hasRun: false, inElement: inElement) else { continue }
      for expression in text.template.expressions {
        for reference in expression.references {
          if let reason = reason(for: reference, of: text, inElement) {
            throw StaticResolutionError(reason: reason)
          }
        }
      }
    }
  }

  private func reason(
    for reference: ContextReference, of text: PlannedText, _ inElement: Bool
  ) -> String? {
    switch reference.valueContext {
    case .steps: "\(text.site.key) reads the result of a step"
    case .state: "\(text.site.key) reads state"
    case .secrets: "\(text.site.key) reads a secret"
    case .inputs: "\(text.site.key) reads an input that is not given"
    case .workflow: nil
    case .item, .index, .matrix, nil: inElement ? nil : "\(text.site.key) is computed"
    case .env, .run, .itself: "\(text.site.key) is computed"
    }
  }
}

/// The reason why the cache key of a step is not known yet.
struct StaticResolutionError: Error {
  let reason: String
}

extension TextSite {
  /// Whether the command depends on it.
  fileprivate var isOfCommand: Bool {
    switch self {
    case .script, .argument, .variable, .workingDirectory, .input, .inputFile, .cacheInput,
      .cacheOutput, .cacheKey:
      true
    default: false
    }
  }
}

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

  /// The paths of a cached step's outputs, relative to the start directory, also if its command depends on values that are
  /// not known yet; `nil` if its outputs do, or its directory.
  func outputs(ofStep index: Int, in instance: Instance) -> [[String]]? {
    let step = plan.steps[index]
    let around = plan.enclosingGroups(ofGroup: step.group).flatMap {
      plan.values.texts(ofGroup: $0)
    }
    let texts = plan.values.texts(ofStep: index)
    guard var caching = step.command?.caching,
      !(around + texts).contains(where: { $0.site == .workingDirectory })
    else { return nil }
    let scope = StepScope(values: values, instance: instance, group: step.group)
    var outputs: [String] = []
    for (place, path) in caching.outputs.enumerated() {
      guard let text = texts.first(where: { $0.site == .cacheOutput(place) }) else {
        outputs.append(path)
        continue
      }
      guard files[text.file].decides(text, hasRun: false, inElement: instance.isInElement),
        let paths = try? text.template.arguments(in: scope), !paths.contains(where: \.isSecret)
      else { return nil }
      outputs += paths.map(\.text)
    }
    caching.outputs = outputs
    let directory = try? CacheSubject.directory(
      plan.workingDirectory(of: step), start: startDirectory)
    return directory.flatMap { try? CacheSubject.outputs(caching, in: $0) }
  }

  /// The path, relative to the start directory, at or below which a request saves what it downloads; `nil` if it saves
  /// nothing, or nothing is known of the path.
  func downloads(ofStep index: Int) -> [String]? {
    let step = plan.steps[index]
    guard let path = step.action.request?.saveTo, !path.hasPrefix("/"),
      let directory = try? CacheSubject.directory(
        plan.workingDirectory(of: step), start: startDirectory)
    else { return nil }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let known = parts.prefix { !String($0).hasExpression }.joined(separator: "/")
    return known.isEmpty ? nil : Command.Caching.names(known, in: directory)
  }

  /// The resources that the first attempt of a step requests; `nil` if it requests none, or if they are not known yet.
  func resources(ofStep index: Int, in instance: Instance) -> Command.Resources? {
    let isKnown = plan.values.texts(ofStep: index).allSatisfy { text in
      guard case .computed(let key) = text.site, key.isResource else { return true }
      return files[text.file].decides(text, hasRun: false, inElement: instance.isInElement)
    }
    return isKnown
      ? try? StepResolver(values, in: instance).resources(ofStep: index, attempt: 1) : nil
  }

  /// - Throws: The reason why a text that the command depends on cannot be evaluated yet.
  private func check(
    _ texts: ArraySlice<PlannedText>, in instance: Instance
  ) throws(StaticResolutionError) {
    let inElement = instance.isInElement
    for text in texts where text.site.isOfCommand {
      for reference in text.template.expressions.flatMap(\.references)
      where !files[text.file].decides(reference, hasRun: false, inElement: inElement) {
        throw StaticResolutionError(reason: reason(for: reference, of: text))
      }
    }
  }

  private func reason(for reference: ContextReference, of text: PlannedText) -> String {
    source(of: reference, in: text.file).map { "\(text.site.key) reads \($0)" }
      ?? "\(text.site.key) is computed"
  }

  /// The source of a value that is not known yet, as a noun; `nil` if it is computed from others.
  private func source(of reference: ContextReference, in file: Int) -> String? {
    switch reference.valueContext {
    case .steps: "the result of a step"
    case .state: "state"
    case .secrets: "a secret"
    case .inputs: source(ofInput: reference, in: file)
    case .workflow, .item, .index, .matrix, .env, .run, .itself, nil: nil
    }
  }

  /// The source of an input: for a nested file, that of the value in `with`.
  private func source(ofInput reference: ContextReference, in file: Int) -> String {
    guard reference.names.count > 1 else { return "all inputs at once" }
    guard let caller = plan.files[file].caller,
      case .workflow(let nested)? = plan.groups[caller].step?.action
    else { return "an input that is not given" }
    let name = InputName(reference.names[1].text)
    let texts = plan.values.texts(ofGroup: caller)
    for parameter in nested.parameters where InputName(parameter.name) == name {
      guard let text = texts.first(at: .parameter(parameter.name)) else { continue }
      for reference in text.template.expressions.flatMap(\.references)
      where !files[text.file].decides(reference, hasRun: false) {
        switch source(of: reference, in: text.file) {
        case nil: return "an input that is computed"
        case let source? where reference.valueContext == .inputs: return source
        case let source?: return "an input that is given \(source)"
        }
      }
    }
    return "an input whose value is not valid"
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

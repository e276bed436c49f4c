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

  func subject(ofStep index: Int) throws(StaticResolutionError) -> CacheSubject {
    let step = plan.steps[index]
    guard !plan.isInLoop(step: index) else { throw StaticResolutionError(reason: "it has a loop") }
    let texts = plan.values.texts(ofStep: index).filter(\.site.isOfCommand)
    if let reason = reason(texts[...]) { throw StaticResolutionError(reason: reason) }
    for group in plan.enclosingGroups(ofGroup: step.group) {
      let texts = plan.values.texts(ofGroup: group).filter(\.site.isOfCommand)
      if let reason = reason(texts[...]) { throw StaticResolutionError(reason: reason) }
    }
    let instance = files[plan.groups[step.group].file].scope.instance
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

  /// The reason why texts cannot be evaluated yet; `nil` if they can.
  private func reason(_ texts: ArraySlice<PlannedText>) -> String? {
    for text in texts where !files[text.file].decides(text, hasRun: false) {
      for expression in text.template.expressions {
        for reference in expression.references {
          switch reference.valueContext {
          case .steps: return "\(text.site.key) reads the result of a step"
          case .state: return "\(text.site.key) reads state"
          case .secrets: return "\(text.site.key) reads a secret"
          case .inputs: return "\(text.site.key) reads an input that is not given"
          case .workflow: break
          case .env, .run, .itself, .item, .index, .matrix, nil:
            return "\(text.site.key) is computed"
          }
        }
      }
    }
    return nil
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

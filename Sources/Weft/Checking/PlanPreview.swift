import WeftCaching
package import WeftDefinition
import WeftDiagnostics
import WeftExecution
public import WeftJSON
public import WeftPlanning
import WeftPlatform
public import WeftRecord

/// The plan of a run that is not started, with everything that is known before: values, the selection of steps, cached
/// results, and durations of earlier runs.
public struct PlanPreview: Sendable {
  /// The plan. ``Plan/rendered(as:style:)`` prints it as `weft graph` does.
  public let plan: Plan
  let predictions: [Plan.NodeIndex: CachePrediction]

  /// The duration of the longest path through the plan, if its steps take as long as in earlier runs: the run takes at
  /// least that long. `nil` without a store, or if no step that will run was measured.
  public var expectedDuration: Duration? {
    plan.expectedDurations.map { .microseconds($0.longestPath) }
  }

  /// The steps on the longest path, in its order; empty if ``expectedDuration`` is `nil`.
  public var criticalPath: [StepAddress] {
    plan.expectedDurations?.criticalPath(of: plan).map { plan.steps[$0].address } ?? []
  }

  /// Returns whether a step with `cache` would run, and why; `nil` for other steps and for those that are not selected.
  ///
  /// - Parameter step: The address; elements of a loop have the prediction of their step.
  public func cachePrediction(of step: StepAddress) -> CachePrediction? {
    let planned = plan.steps.first { $0.address == step }
    return planned.flatMap { predictions[$0.node] }
  }

  /// - Parameters:
  ///   - plan: The plan, bound to the inputs.
  ///   - state: The state directory; `nil` if there is no history.
  ///   - cache: The directory of the step cache; `nil` if nothing is cached.
  package init(
    _ plan: Plan, _ inputs: InputValues, choosing choice: StepChoice, state: String?,
    cache: String?, startDirectory: String? = nil
  ) throws(StepChoice.UnknownStep) {
    var plan = plan.excluding(try plan.stepsExcluded(by: choice))
    var predictions: [Plan.NodeIndex: CachePrediction] = [:]
    if let cache, plan.steps.contains(where: \.isCached),
      let forecaster = try? CacheForecaster(
        plan, inputs, StepCache.existing(cache), stateDirectory: state ?? cache,
        startDirectory: startDirectory)
    {
      plan = plan.expecting(cached: forecaster.forecasts)
      predictions = forecaster.forecasts.reduce(into: [:]) { all, forecast in
        all[forecast.key] = CachePrediction(
          forecast.value, forecaster.explanations[forecast.key])
      }
    }
    self.predictions = predictions
    guard let state, let key = WorkflowKey(plan) else {
      self.plan = plan
      return
    }
    self.plan = plan.expecting(FileRunStore(directory: state).history(of: key))
  }
}

extension Engine {
  /// Returns the plan of a run that is not started, as `weft graph` and `weft run --dry-run` show it.
  ///
  /// Reads the files that cached steps depend on, and starts nothing.
  ///
  /// - Parameters:
  ///   - inputs: Values by name; missing ones leave open what depends on them.
  ///   - arguments: The value of `run.args`.
  ///   - store: The store whose earlier runs say how long steps take.
  /// - Throws: Errors of the workflow, of the inputs, and of the steps named in the options.
  public func preview(
    _ workflow: Workflow, inputs: [String: JSONValue] = [:], arguments: [String] = [],
    in store: FileRunStore? = nil
  ) throws(WorkflowError) -> PlanPreview {
    try checkOptions()
    let plan = try plan(workflow)
    let values = try values(
      of: inputs, arguments: arguments, for: workflow, allowsMissing: true)
    let (bound, problems) = plan.bound(to: values, run: nil)
    guard problems.isEmpty else { throw WorkflowError(diagnostics: problems) }
    do {
      return try PlanPreview(
        bound, values, choosing: options.choice, state: store?.directory,
        cache: commands == nil ? options.cacheDirectory : nil,
        startDirectory: options.startDirectory)
    } catch {
      throw StartError.unknownStep(error).workflowError
    }
  }
}

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
  /// Those of cached steps, and of the elements of those in loops.
  private let predictions: [StepAddress: CachePrediction]

  /// The duration of the longest path through the plan, if its steps take as long as in earlier runs: the run takes at
  /// least that long. `nil` without a store, or if no step that will run was measured.
  public var expectedDuration: Duration? {
    plan.expectedDurations.map { .microseconds($0.longestPath) }
  }

  /// The steps on the longest path, in its order; empty if ``expectedDuration`` is `nil`.
  public var criticalPath: [StepAddress] {
    plan.expectedDurations?.criticalPath(of: plan).map { plan.steps[$0].address } ?? []
  }

  /// Returns whether a step with `cache` would run, and why; `nil` for other steps and for those that will not run for
  /// another reason: they are not selected, their condition is false, or their loop has no elements.
  ///
  /// - Parameter step: The address of a step, `build`, or of one element of its loops, `build[linux]`. Elements have
  ///   predictions if the list of the loop depends on nothing but the workflow, the inputs and the files that exist, and
  ///   has at most 1,000 elements.
  public func cachePrediction(of step: StepAddress) -> CachePrediction? { predictions[step] }

  /// - Parameters:
  ///   - plan: The plan, bound to the inputs.
  ///   - state: The state directory; `nil` if there is no history.
  ///   - cache: The directory of the step cache; `nil` if nothing is cached.
  package init(
    _ plan: Plan, _ inputs: InputValues, choosing choice: StepChoice, state: String?,
    cache: String?, startDirectory: String? = nil
  ) throws(StepChoiceError) {
    var plan = plan.excluding(try plan.stepsSkipped(by: choice))
    var predictions: [StepAddress: CachePrediction] = [:]
    if let cache, plan.steps.contains(where: \.isCached),
      let forecaster = try? CacheForecaster(
        plan, inputs, StepCache.existing(cache), stateDirectory: state ?? cache,
        startDirectory: startDirectory)
    {
      plan = plan.expecting(cached: forecaster.forecasts)
      for (node, forecast) in forecaster.forecasts {
        let step = plan.address(of: node)
        let elements = forecast.elements.map { element in
          let explanation = forecaster.explanations[element.address]
          return (element.address, CachePrediction(element.forecast, explanation))
        }
        predictions.merge(elements) { $1 }
        predictions[step] = CachePrediction(forecast, forecaster.explanations[step], elements)
      }
    }
    self.predictions = predictions
    let shortages = ResourceForecaster.shortages(in: plan, inputs, startDirectory: startDirectory)
    plan.forecast.failures = shortages.filter { plan.forecast.cached[$0.key]?.verdict != .cached }
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
      throw StartError.choice(error).workflowError
    }
  }
}

/// Whether a step with `cache` would run, and what has changed since its most similar result.
public struct CachePrediction: Sendable {
  private let forecast: CacheForecast
  private let explanation: CacheExplanation?
  /// The predictions for the elements of a step in loops, in their order; empty for other steps, and if the elements are
  /// known only at run time.
  public let elements: [(address: StepAddress, prediction: CachePrediction)]

  init(
    _ forecast: CacheForecast, _ explanation: CacheExplanation?,
    _ elements: [(address: StepAddress, prediction: CachePrediction)] = []
  ) {
    self.forecast = forecast
    self.explanation = explanation
    self.elements = elements
  }

  /// Whether the step will not run because its result is cached; `nil` if that is known only at run time. Of a step in a
  /// loop: whether no element will run.
  public var isCached: Bool? {
    switch forecast.verdict {
    case .cached: forecast.unless == nil ? true : nil
    case .runs: false
    case .open: nil
    case .differs: elements.contains { $0.prediction.isCached == false } ? false : nil
    }
  }

  /// Returns the reason in lines, as `weft why` prints it: of a step in a loop, the reason of each element that would
  /// run.
  public func explanation(of step: StepAddress) -> [String] {
    guard elements.isEmpty else { return explanationByElement(of: step) }
    return [verdict(of: step)] + differences + [proviso(of: step), comparison].compactMap(\.self)
  }

  private func explanationByElement(of step: StepAddress) -> [String] {
    let others = elements.filter { $0.prediction.forecast.verdict != .cached }
    let cached = elements.count - others.count
    var lines: [String] = []
    if others.isEmpty {
      let changed = elements.first { $0.address == forecast.unless }?.address ?? step
      lines = [verdict(of: step)] + [proviso(of: changed)].compactMap(\.self)
    } else if elements.count > 1 {
      let isKnown = others.allSatisfy { $0.prediction.isCached != nil }
      lines.append(
        "\"\(step)\": \(cached) of \(elements.count) elements are \(isKnown ? "" : "known to be ")cached"
      )
    }
    for (address, prediction) in others.prefix(CachePrediction.shown) {
      lines += prediction.explanation(of: address)
    }
    let rest = others.count - CachePrediction.shown
    return lines + (rest > 0 ? ["and \(rest) more"] : [])
  }

  private func verdict(of step: StepAddress) -> String {
    switch forecast.verdict {
    case .cached: "\"\(step)\" would not run: its result is cached"
    case .runs([CacheForecast.neverRun]): "\"\(step)\" would run: no result is cached"
    case .runs(["result"]): "\"\(step)\" would run: its cached result is incomplete"
    case .runs(let reasons):
      "\"\(step)\" would run: \(reasons.joined(separator: ", ")) changed"
    case .open(let reason): "\"\(step)\": known only at run time: \(reason)"
    case .differs: "\"\(step)\": some of its elements are cached"
    }
  }

  private func proviso(of step: StepAddress) -> String? {
    forecast.unless.map { other in
      step == other
        ? "unless other elements of the loop change its inputs"
        : "unless \"\(other)\", which runs before it, changes its inputs"
    }
  }

  private var comparison: String? {
    guard let entry = explanation?.nearest else { return nil }
    let moment = Timestamp(nanoseconds: entry.storedAt * 1_000_000)
    return "compared with its result in run \(entry.run), at \(moment)"
  }

  // MARK: Differences

  /// The maximum number of listed differences.
  private static let shown = 20

  private var differences: [String] {
    let all = explanation?.differences ?? []
    let rows = all.prefix(CachePrediction.shown).map {
      ($0.part.rawValue, $0.name, CachePrediction.change($0))
    }
    let (part, name) = (rows.map(\.0.count).max() ?? 0, rows.map(\.1.count).max() ?? 0)
    let lines = rows.map { row in
      "  \(CachePrediction.padded(row.0, part))  \(name == 0 ? "" : CachePrediction.padded(row.1, name) + "  ")\(row.2)"
    }
    let rest = all.count - rows.count
    return lines + (rest > 0 ? ["  and \(rest) more"] : [])
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func change(_ difference: CacheDifference) -> String {
    switch (difference.before, difference.after) {
    case (let before?, let after?): "\(shown(before)) -> \(shown(after))"
    case (nil, let after?): "new: \(shown(after))"
    case (let before?, nil): "removed: \(shown(before))"
    case (nil, nil): ""
    }
  }

  private static func shown(_ content: CacheContent) -> String {
    switch content {
    case .text(let text): quoted(text)
    case .long(let hash): "a long text (\(hash.prefix(12)))"
    case .secret(let code): "a secret (\(code.prefix(8)))"
    case .file(let hash, let isExecutable):
      hash.prefix(12) + (isExecutable ? " (executable)" : "")
    case .link(let target, let hash):
      "a link to \(quoted(target))" + (hash.map { " (\($0.prefix(12)))" } ?? "")
    case .directory: "a directory"
    case .unset: "not set"
    }
  }

  /// Quotes the beginning of a text.
  private static func quoted(_ text: String) -> String {
    let shown = text.prefix(60)
    return "\"\(shown)\(shown.endIndex == text.endIndex ? "" : "…")\""
  }
}

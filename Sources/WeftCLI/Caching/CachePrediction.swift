import WeftCaching
import WeftDefinition
import WeftExecution
import WeftPlanning
import WeftPlatform

/// What is known of cached steps before a run: for plans that are printed.
enum CachePrediction {
  /// - Parameter state: Where Weft keeps its own files.
  static func forecaster(
    for plan: Plan, _ inputs: InputValues, state: String
  ) throws(SystemError) -> CacheForecaster {
    try CacheForecaster(
      plan, inputs, StepCache.existing(RunCache.path(in: state)), stateDirectory: state)
  }

  /// The plan with what is known; as it is, where the directory cannot be looked at.
  static func expecting(_ plan: Plan, _ inputs: InputValues, state: String) -> Plan {
    guard plan.steps.contains(where: \.isCached),
      let forecaster = try? forecaster(for: plan, inputs, state: state)
    else { return plan }
    return plan.expecting(cached: forecaster.forecasts)
  }
}

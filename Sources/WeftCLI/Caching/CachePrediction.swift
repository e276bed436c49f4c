import WeftCaching
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform

/// Predictions about cached steps, for printed plans.
enum CachePrediction {
  /// - Parameter state: The state directory.
  static func forecaster(
    for plan: Plan, _ inputs: InputValues, state: String
  ) throws(SystemError) -> CacheForecaster {
    try CacheForecaster(
      plan, inputs, StepCache.existing(RunCache.path(in: state)), stateDirectory: state)
  }

  /// Returns the plan with predictions; unchanged if the directory cannot be read.
  static func expecting(_ plan: Plan, _ inputs: InputValues, state: String) -> Plan {
    guard plan.steps.contains(where: \.isCached),
      let forecaster = try? forecaster(for: plan, inputs, state: state)
    else { return plan }
    return plan.expecting(cached: forecaster.forecasts)
  }
}

import WeftDefinition
import WeftPlatform

extension StopPolicy {
  /// The policy with the parts that a command overrides.
  func following(_ request: StopRequest?) -> StopPolicy {
    StopPolicy(
      signal: request?.signal.flatMap(Signal.init(name:)) ?? signal,
      grace: request?.grace ?? grace)
  }
}

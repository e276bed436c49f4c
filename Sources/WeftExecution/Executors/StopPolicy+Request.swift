import WeftDefinition
import WeftPlatform

extension StopPolicy {
  /// The policy for a command that wishes for some of it to be different.
  func following(_ request: StopRequest?) -> StopPolicy {
    StopPolicy(
      signal: request?.signal.flatMap(Signal.init(name:)) ?? signal,
      grace: request?.grace ?? grace)
  }
}

import WeftDefinition
import WeftExpressions

extension ResolvedStep {
  /// Takes the value that an expression gave in place of a key's.
  mutating func set(
    _ key: ComputedKey, to value: ExpressionValue
  ) throws(ExpressionProblem) {
    switch key {
    case .timeout: timeout = try key.duration(value)
    case .stallTimeout: command.stallTimeout = try key.duration(value)
    case .grace:
      command.stop = StopRequest(signal: command.stop?.signal, grace: try key.duration(value))
    case .logLimit: command.logLimit = try key.size(value)
    case .mergeOutput: command.mergesOutput = try key.flag(value)
    case .tty: command.usesTerminal = try key.flag(value)
    case .jobserver: command.usesJobserver = try key.flag(value)
    case .allowFailure: allowFailure = try key.tolerance(value)
    // A group's, which is known before anything starts.
    case .maxParallel: break
    }
  }
}

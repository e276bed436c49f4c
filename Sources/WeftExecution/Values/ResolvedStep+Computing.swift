import WeftDefinition
import WeftEvents
import WeftExpressions

extension ResolvedStep.Parts {
  /// Sets a key to the value that its expression evaluated to.
  mutating func set(
    _ key: ComputedKey, to value: ExpressionValue
  ) throws(EvaluationError) {
    switch key {
    case .timeout: timeout = try key.duration(value)
    case .stallTimeout: action.command?.stallTimeout = try key.duration(value)
    case .grace:
      let signal = action.command?.stop?.signal
      action.command?.stop = StopRequest(signal: signal, grace: try key.duration(value))
    case .logLimit: action.command?.logLimit = try key.size(value)
    case .mergeOutput: action.command?.mergesOutput = try key.flag(value)
    case .tty: action.command?.usesTerminal = try key.flag(value)
    case .jobserver: action.command?.usesJobserver = try key.flag(value)
    case .allowFailure: allowFailure = try key.tolerance(value)
    case .retryMax: retry[0].max = try key.count(value)
    case .retryDelay: retry[0].delay = try key.duration(value)
    case .retryMaxDelay: retry[0].maxDelay = try key.duration(value)
    case .retryWithin: retry[0].within = try key.duration(value)
    case .connectTimeout: action.request?.call.timeouts.connect = try key.duration(value)
    case .idleTimeout: action.request?.call.timeouts.idle = try key.duration(value)
    case .totalTimeout: action.request?.call.timeouts.total = try key.duration(value)
    case .maxBytes: action.request?.call.maxBytes = try key.size(value)
    case .redirects: action.request?.call.redirects = try key.count(value)
    case .pollEvery: action.request?.call.polling?.every = try key.duration(value)
    case .pollMax: action.request?.call.polling?.max = try key.count(value)
    case .pagesMax: action.request?.call.paging?.max = try key.count(value)
    // Keys of groups and loops, which are evaluated before the step itself.
    case .maxParallel, .elementParallel: break
    }
  }
}

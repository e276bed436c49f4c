import WeftDefinition

/// The forecast for a cached step before a run.
package struct CacheForecast: Sendable, Hashable {
  package enum Verdict: Sendable, Hashable {
    /// Its result is in the cache.
    case cached
    /// It will run, for these reasons: the parts of its cache key that changed, or another word.
    case runs(reasons: [String])
    /// A part of its cache key is known only during the run.
    case open(because: String)
  }

  package var verdict: Verdict
  /// An earlier step that may change its inputs, which would invalidate the forecast.
  package var unless: StepAddress?

  package init(_ verdict: Verdict, unless: StepAddress? = nil) {
    self.verdict = verdict
    self.unless = unless
  }

  /// The reason for a step that never ran, as far as is known.
  package static let neverRun = "never"

  /// A short description for the user.
  package var remark: String {
    let proviso = unless.map { ", unless \"\($0)\" changes what it reads" } ?? ""
    return switch verdict {
    case .cached: "cached" + proviso
    case .runs([CacheForecast.neverRun]): "runs: not cached yet" + proviso
    case .runs(let reasons): "runs: \(reasons.joined(separator: ", ")) changed" + proviso
    case .open(let reason): "cached or not, known at run time: \(reason)"
    }
  }
}

extension Plan {
  /// Whether a step is known not to run.
  package func isSkippedSurely(_ step: PlannedStep) -> Bool { forecast(of: step).isSkipped }

  /// Whether a step runs at most once, and only inputs decide whether it does.
  package func isDecided(_ step: PlannedStep) -> Bool {
    var next: Int? = step.group
    while let group = next {
      if let control = groups[group].step?.control,
        control.fanOut != nil || !control.retry.isEmpty || control.condition != nil
      {
        return false
      }
      next = groups[group].parent
    }
    guard step.hasControl, step.control.fanOut == nil else { return !step.hasControl }
    return forecast(of: step).condition != .open
  }

  /// The plan with forecasts for its cached steps.
  package func expecting(cached: [NodeIndex: CacheForecast]) -> Plan {
    var plan = self
    plan.forecast.cached = cached
    return plan
  }
}

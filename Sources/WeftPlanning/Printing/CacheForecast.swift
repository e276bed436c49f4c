import WeftDefinition

/// What is known before a run of a step that may not have to be run.
package struct CacheForecast: Sendable, Hashable {
  package enum Verdict: Sendable, Hashable {
    /// It has made before what it would make now.
    case cached
    /// It is run, for these reasons: the parts in which it differs, or another word.
    case runs(reasons: [String])
    /// Something that counts is known only while the run goes on.
    case open(because: String)
  }

  package var verdict: Verdict
  /// A step before it that may change what it reads; then it may come otherwise.
  package var unless: StepAddress?

  package init(_ verdict: Verdict, unless: StepAddress? = nil) {
    self.verdict = verdict
    self.unless = unless
  }

  /// It has never been run as far as is known.
  package static let neverRun = "never"

  /// A few words for people.
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
  /// Whether it is known that a step will not be run.
  package func isSkippedSurely(_ step: PlannedStep) -> Bool { forecast(of: step).isSkipped }

  /// Whether a step is run at most once, and nothing but inputs decides whether it is.
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

  /// The plan with what is known of its cached steps.
  package func expecting(cached: [NodeIndex: CacheForecast]) -> Plan {
    var plan = self
    plan.forecast.cached = cached
    return plan
  }
}

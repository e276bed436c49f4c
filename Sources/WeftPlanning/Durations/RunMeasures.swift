import WeftDefinition

/// The durations that one run measures. A pure fold: the run reports each step that ended.
///
/// Only steps that ran and succeeded are measured. Results that resume reused, cached results and failures do not show
/// how long a step takes.
package struct RunMeasures: Sendable, Hashable {
  struct Step: Sendable, Hashable {
    /// The sum of all measured durations.
    var microseconds = 0
    var measured: Int32 = 0
    /// The number of instances that ended, measured or not.
    var ended: Int32 = 0
    /// Whether it was skipped by its own condition or one around it.
    var isLeftOut = false
  }

  /// The measurements, by step of the plan.
  private(set) var steps: [Step]

  package init(stepCount: Int) {
    steps = Array(repeating: Step(), count: stepCount)
  }

  /// Records the end of a step or of one of its instances.
  ///
  /// - Parameter duration: The duration of the last attempt; `nil` if it is not a measurement.
  package mutating func ended(_ step: Int, after duration: Duration?) {
    steps[step].ended += 1
    guard let duration else { return }
    steps[step].microseconds += duration.measuredMicroseconds
    steps[step].measured += 1
  }

  package mutating func leftOut(_ step: Int) { steps[step].isLeftOut = true }
}

extension Duration {
  /// The duration in microseconds, truncated, from 0 to ``MeasuredStep/longest``.
  package var measuredMicroseconds: Int {
    let (seconds, attoseconds) = components
    guard seconds < MeasuredStep.longest / 1_000_000 else { return MeasuredStep.longest }
    guard seconds >= 0 else { return 0 }
    return max(0, Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000))
  }
}

extension PlannedStep {
  /// Whether its duration can be learned from runs: not if the plan defines it, or if it waits for a person or a point
  /// in time.
  package var canBeMeasured: Bool {
    switch action {
    case .run, .use, .http, .wait(.computedDuration): true
    case .compute, .approve, .group, .workflow, .wait: false
    }
  }
}

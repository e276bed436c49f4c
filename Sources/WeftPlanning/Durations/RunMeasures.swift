import WeftDefinition

/// What one run finds out about how long its steps take. A pure fold: the run tells what has ended.
///
/// Only what was run and succeeded is measured. What stands from an earlier part of the run, what was cached,
/// and what failed says nothing of how long the step takes.
package struct RunMeasures: Sendable, Hashable {
  struct Step: Sendable, Hashable {
    /// Of all that was measured together.
    var microseconds = 0
    var measured: Int32 = 0
    /// How many times of it have ended, measured or not.
    var ended: Int32 = 0
    /// Whether its own condition, or one around it, has left it out.
    var isLeftOut = false
  }

  /// By step of the plan.
  private(set) var steps: [Step]

  package init(stepCount: Int) {
    steps = Array(repeating: Step(), count: stepCount)
  }

  /// A step has ended, or one time of it.
  ///
  /// - Parameter duration: Of its last attempt; `nil` of what says nothing.
  package mutating func ended(_ step: Int, after duration: Duration?) {
    steps[step].ended += 1
    guard let duration else { return }
    steps[step].microseconds += duration.measuredMicroseconds
    steps[step].measured += 1
  }

  package mutating func leftOut(_ step: Int) { steps[step].isLeftOut = true }
}

extension Duration {
  /// Cut, never less than nothing, and never more than ``MeasuredStep/longest``.
  package var measuredMicroseconds: Int {
    let (seconds, attoseconds) = components
    guard seconds < MeasuredStep.longest / 1_000_000 else { return MeasuredStep.longest }
    guard seconds >= 0 else { return 0 }
    return max(0, Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000))
  }
}

extension PlannedStep {
  /// Whether how long it takes can be learnt from runs: not of what the plan says itself, nor of what
  /// waits for a person or a moment.
  package var canBeMeasured: Bool {
    switch action {
    case .run, .use, .http, .wait(.computedDuration): true
    case .compute, .approve, .group, .workflow, .wait: false
    }
  }
}

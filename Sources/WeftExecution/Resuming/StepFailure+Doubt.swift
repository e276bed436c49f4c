import WeftDefinition
import WeftEvents
import WeftPlanning

/// The failures of steps in doubt. ``ResumePolicy`` decides which step gets one, and ``RunEngine`` then fails the step
/// instead of starting it.
extension StepFailure {
  /// The failure of a step that was running when its engine was killed.
  static func interrupted(in run: RunID?) -> StepFailure {
    StepFailure(
      classes: [.inDoubt],
      message:
        "in doubt: weft was killed while this step was running, so how far it got is unknown",
      help:
        "check what it did, then: weft resume \(run.map { "\($0) " } ?? "")--rerun-interrupted; "
        + "with \"idempotent\": true such a step reruns by itself")
  }

  /// The failure of a step that succeeded, but whose values are needed and not recorded.
  static func valuesNotRecorded(of step: StepAddress) -> StepFailure {
    let name = step.hasElement ? "'\(step)'" : "\(step)"
    return StepFailure(
      classes: [.inDoubt],
      message:
        "succeeded before, but a value that other steps read of it was secret, or too long a response, and is "
        + "not recorded",
      help: "run it again with --rerun \(name); with \"idempotent\": true it reruns by itself")
  }
}

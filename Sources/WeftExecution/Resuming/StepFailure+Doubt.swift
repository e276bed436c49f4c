import WeftDefinition
import WeftPlanning

extension StepFailure {
  static func cutOff(_ step: StepAddress) -> StepFailure {
    StepFailure(
      classes: [.inDoubt],
      message:
        "is in doubt: it was running when the engine was killed, and nobody knows how far it came",
      help:
        "look what it has done, then go on with --rerun \(step); \"idempotent\": true says that it may always be started again"
    )
  }

  static func notKept(_ step: StepAddress) -> StepFailure {
    StepFailure(
      classes: [.inDoubt],
      message:
        "has succeeded, but what others read of it was secret, or too long an answer to a request, and is not recorded",
      help:
        "go on with --rerun \(step); \"idempotent\": true says that it may always be started again")
  }
}

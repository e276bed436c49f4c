import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftPlanning

/// Questions about a recorded state that ``ResumePolicy`` decides by.
extension RecordedStep {
  /// Whether it ended, or was skipped.
  var isOver: Bool {
    switch state {
    case .finished, .skipped: true
    case .queued, .started, .retrying: false
    }
  }

  /// The failure of a step that is in doubt and not accepted; `nil` for any other.
  var doubtFailure: StepFailure? {
    guard case .finished(let end, _) = state, end.conclusion == .failure else { return nil }
    return end.failure.flatMap { $0.classes.contains(.inDoubt) ? $0 : nil }
  }

  /// Whether it succeeded, or its failure was tolerated.
  var hasSucceeded: Bool {
    if case .finished(let end, _) = state { end.conclusion == .success } else { false }
  }

  /// Whether a cleanup step ended without success, or was blocked.
  var isPendingCleanup: Bool {
    if case .skipped(let reason) = state { return reason.blocksDependents }
    return !hasSucceeded
  }
}

extension RecordedGroup {
  var hasBegun: Bool {
    switch state {
    case .started, .retrying, .finished: true
    case .listed, .skipped: false
    }
  }
}

/// The failures of steps in doubt. ``ResumePolicy`` decides which step gets one, and ``RunEngine`` then fails the step
/// instead of starting it.
extension StepFailure {
  /// The failure of a step that was running when its engine was killed, or whose request has no known result.
  static func inDoubt(_ step: RecordedStep, in run: RunID?) -> StepFailure {
    var message =
      "in doubt: weft was killed while this step was running, so how far it got is unknown"
    if case .finished(let end, _) = step.state, let request = end.http {
      let answer = request.status.map { "answered with \($0)" } ?? "not answered"
      message =
        "in doubt: the \(request.method) request was sent, but \(answer), so whether it was processed "
        + "is unknown"
    }
    return StepFailure(
      classes: [.inDoubt], message: message,
      help: help(resumingWith: "--rerun-interrupted", in: run))
  }

  /// The failure once the step is done in spite of it: `--rerun-interrupted` leaves it as it is then.
  func tolerated(at address: StepAddress, in run: RunID?) -> StepFailure {
    guard classes.contains(.inDoubt), self != .valuesNotRecorded(of: address) else { return self }
    return StepFailure(
      classes: classes, message: message,
      help: StepFailure.help(resumingWith: address.rerunOption, in: run))
  }

  private static func help(resumingWith option: String, in run: RunID?) -> String {
    "check what it did, then: weft resume \(run.map { "\($0) " } ?? "")\(option); "
      + "with \"idempotent\": true such a step reruns automatically"
  }

  /// The failure of a step that succeeded, but whose values are needed and not recorded.
  static func valuesNotRecorded(of step: StepAddress) -> StepFailure {
    StepFailure(
      classes: [.inDoubt],
      message:
        "succeeded before, but a value that is read from it is not recorded: it was secret or too long, nothing read it "
        + "then, or the disk was full",
      help: "rerun it with \(step.rerunOption); with \"idempotent\": true it reruns automatically")
  }
}

extension StepAddress {
  /// The option of `weft resume` that reruns the step, whatever is recorded of it.
  var rerunOption: String { "--rerun \(ShellWord.quoted(TerminalText.harmless(text)))" }
}

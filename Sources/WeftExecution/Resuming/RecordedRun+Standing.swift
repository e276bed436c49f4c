import WeftDefinition

/// Questions about a recorded state that ``ResumePolicy`` decides by.
extension RecordedStep {
  /// Whether it ended, or was skipped.
  var isOver: Bool {
    switch state {
    case .finished, .skipped: true
    case .queued, .started, .retrying: false
    }
  }

  /// The failure of a step that is in doubt, and that nobody has accepted; `nil` for any other.
  var doubt: StepFailure? {
    guard case .finished(let end, _) = state, end.conclusion == .failure else { return nil }
    return end.failure.flatMap { $0.classes.contains(.inDoubt) ? $0 : nil }
  }

  /// Whether it succeeded, or its failure was tolerated.
  var hasSucceeded: Bool {
    if case .finished(let end, _) = state { end.conclusion == .success } else { false }
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

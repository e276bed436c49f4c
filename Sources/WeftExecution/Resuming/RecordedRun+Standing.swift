import WeftEvents

/// Questions about a recorded state that ``ResumePolicy`` decides by.
extension RecordedStep {
  /// Whether it ended, or was skipped.
  var isOver: Bool {
    switch state {
    case .finished, .skipped: true
    case .queued, .started, .retrying: false
    }
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

extension RecordedStep {
  /// Whether it had an end, be it that it never started.
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

import WeftExecution

/// The numbers of steps so far by outcome.
struct StepCounts: Sendable, Hashable {
  private(set) var succeeded = 0
  private(set) var failed = 0
  private(set) var tolerated = 0
  private(set) var cancelled = 0
  private(set) var skipped = 0

  init() {}

  init(_ counts: OutcomeCounts) {
    succeeded = counts.succeeded
    failed = counts.failed
    tolerated = counts.tolerated
    cancelled = counts.cancelled
    skipped = counts.skipped
  }

  /// The number of steps with a final outcome.
  var done: Int { succeeded + failed + tolerated + cancelled + skipped }

  mutating func add(_ end: StepEnd) {
    switch end.outcome {
    case .success: succeeded += 1
    case .failure where end.conclusion == .success: tolerated += 1
    case .failure: failed += 1
    case .cancelled: cancelled += 1
    case .skipped: skipped += 1
    }
  }

  /// Takes back counts.
  mutating func remove(_ other: StepCounts) {
    succeeded -= other.succeeded
    failed -= other.failed
    tolerated -= other.tolerated
    cancelled -= other.cancelled
    skipped -= other.skipped
  }

  /// Excludes steps that are not reported as skipped.
  mutating func leaveOut(skipped count: Int) { skipped -= min(count, skipped) }

  /// Turns `count` failures into tolerated ones.
  mutating func tolerate(_ count: Int) {
    failed -= count
    tolerated += count
  }

  mutating func add(_ elements: ElementsNotStarted) {
    if elements.outcome == .cancelled {
      cancelled += elements.steps
    } else {
      skipped += elements.steps
    }
  }

  mutating func add(_ reason: SkipReason) {
    switch reason.outcome {
    case .cancelled: cancelled += 1
    case .success, .failure, .skipped: skipped += 1
    }
  }
}

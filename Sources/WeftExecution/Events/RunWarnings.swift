import Synchronization

/// Publishes the warnings of a run.
package final class RunWarnings: Sendable {
  private let reported = Mutex<Set<RunWarning.Kind>>([])
  private let events: EventStream

  init(_ events: EventStream) {
    self.events = events
  }

  /// Publishes only the first warning of its kind, because many steps may run into the same problem. Not to be
  /// called before the run's start; ignored after its end.
  package func tellOnce(_ warning: RunWarning) {
    guard reported.withLock({ $0.insert(warning.kind).inserted }) else { return }
    report(warning)
  }

  /// Publishes a warning that is about one step alone. Ignored after the run's end.
  func report(_ warning: RunWarning) { events.publishUnlessFinished(.runWarning(warning)) }
}

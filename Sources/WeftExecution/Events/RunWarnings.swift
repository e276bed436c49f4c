import Synchronization

/// Where whoever carries out a run tells what people should know though it stops nothing.
package final class RunWarnings: Sendable {
  private let told = Mutex<Set<RunWarning.Kind>>([])
  private let events: EventStream

  init(_ events: EventStream) {
    self.events = events
  }

  /// Publishes the first warning of its kind; what many steps meet is told once. Not before the run's
  /// start; after its end nothing is told.
  package func tellOnce(_ warning: RunWarning) {
    guard told.withLock({ $0.insert(warning.kind).inserted }) else { return }
    events.publishUnlessFinished(.runWarning(warning))
  }
}

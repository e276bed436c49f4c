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
    tell(warning)
  }

  /// Publishes a warning that is about one step alone. After the run's end nothing is told.
  func tell(_ warning: RunWarning) { events.publishUnlessFinished(.runWarning(warning)) }
}

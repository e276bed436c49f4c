/// A place where one thread waits until it is woken. A wake that comes before the wait is kept; several count as one.
package final class Wakeup: Sendable {
  private let parking = Parking()

  package init() {}

  /// Returns after a wake, or when `limit` has passed. For one thread.
  package func wait(atMost limit: Duration? = nil) { _ = parking.park(atMost: limit) }

  /// Wakes the waiting thread. For any thread.
  package func wake() { parking.unpark() }
}

/// Where one thread waits until another has something for it. A wake that comes first is kept; several
/// count once.
package final class Wakeup: Sendable {
  private let parking = Parking()

  package init() {}

  /// For one thread. Returns after a wake, or when `limit` has passed.
  package func wait(atMost limit: Duration? = nil) { _ = parking.park(atMost: limit) }

  /// For any thread.
  package func wake() { parking.unpark() }
}

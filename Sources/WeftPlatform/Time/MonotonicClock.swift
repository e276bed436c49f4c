import CWeftPlatform

/// Time that only goes forward, whatever happens to the wall clock.
package enum MonotonicClock {
  /// Since an arbitrary moment before this process began.
  package static var now: Duration { .nanoseconds(weft_monotonic_nanoseconds()) }
}

/// The time of day, for people and records; it may jump.
package enum WallClock {
  package static var now: Timestamp { Timestamp(nanoseconds: weft_wall_nanoseconds()) }
}

import CWeftPlatform

/// Time that only moves forward, whatever happens to the wall clock.
package enum MonotonicClock {
  /// The time since an arbitrary moment before this process started.
  package static var now: Duration { .nanoseconds(weft_monotonic_nanoseconds()) }
}

/// The time of day, for people and journals; it may jump.
package enum WallClock {
  package static var now: Timestamp { Timestamp(nanoseconds: weft_wall_nanoseconds()) }
}

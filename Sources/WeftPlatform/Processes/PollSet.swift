import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The descriptors to poll while a program runs.
struct PollSet {
  enum Place: Int, CaseIterable {
    case output, errors, feed, exit, wake
  }

  private let entries: UnsafeMutablePointer<pollfd>

  init() {
    entries = .allocate(capacity: Place.allCases.count)
    entries.initialize(
      repeating: pollfd(fd: -1, events: 0, revents: 0), count: Place.allCases.count)
  }

  func deallocate() { entries.deallocate() }

  subscript(place: Place) -> pollfd { entries[place.rawValue] }

  /// A negative `number` is not watched (POSIX `poll`).
  func watch(_ place: Place, _ number: Int32, for events: Int32) {
    entries[place.rawValue] = pollfd(fd: number, events: Int16(events), revents: 0)
  }

  /// Returns when something happened, at the time, or when a signal interrupts it; then nothing is ready.
  func poll(until time: Duration?) {
    let count = UInt32(Place.allCases.count)
    guard weft_poll(entries, count, Self.nanoseconds(until: time)) < 0 else { return }
    for place in Place.allCases { entries[place.rawValue].revents = 0 }
  }

  private static func nanoseconds(until time: Duration?) -> Int64 {
    guard let time else { return -1 }
    let left = (time - MonotonicClock.now).components
    guard left.seconds >= 0, left.attoseconds >= 0 else { return 0 }
    // Rounded up, so that the time has come when the poll returns; a century is as good as more.
    return min(left.seconds, 3_000_000_000) * 1_000_000_000 + left.attoseconds / 1_000_000_000 + 1
  }
}

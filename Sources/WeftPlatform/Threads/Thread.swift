import CWeftPlatform
import Synchronization

/// Starts operating-system threads.
package enum Thread {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Runs `body` on a new, detached thread that handles no signals: those of the process are left to the threads that
  /// are meant for them.
  package static func start(
    name: String, stackBytes: Int, _ body: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    let named: @Sendable () -> Void = {
      weft_name_thread(name)
      body()
    }
    let context = Unmanaged.passRetained(Body(named))
    let failed = weft_thread_start(
      stackBytes,
      { context in
        Unmanaged<Body>.fromOpaque(context!).takeRetainedValue().run()
      }, context.toOpaque())
    guard failed != 0 else { return }
    context.release()
    throw SystemError(number: failed)
  }
}

/// A place where one thread sleeps until it is woken; a wake that comes before the sleep is kept.
final class Parking: @unchecked Sendable {
  // A mutex, a condition and a flag, in C because they must not move. The pointer is only used by the calls below,
  // which lock the mutex. It is freed with the last reference, when no thread can use it.
  private let place: OpaquePointer

  init() {
    guard let place = weft_parking_create() else {
      fatalError("out of memory for a thread's parking")
    }
    self.place = place
  }

  deinit { weft_parking_destroy(place) }

  /// Waits for a wake; false if `limit` passed without one.
  func park(atMost limit: Duration?) -> Bool {
    weft_parking_park(place, limit.map(Self.nanoseconds) ?? -1) != 0
  }

  func unpark() { weft_parking_unpark(place) }

  private static func nanoseconds(_ duration: Duration) -> Int64 {
    let parts = max(.zero, duration).components
    return min(parts.seconds, 3_000_000_000) * 1_000_000_000 + parts.attoseconds / 1_000_000_000
  }
}

/// A place where one thread waits until it is woken. A wake that comes before the wait is kept; several count as one.
package final class Wakeup: Sendable {
  private let parking = Parking()

  package init() {}

  /// Returns after a wake, or when `limit` has passed. For one thread.
  package func wait(atMost limit: Duration? = nil) { _ = parking.park(atMost: limit) }

  /// Wakes the waiting thread. For any thread.
  package func wake() { parking.unpark() }
}

/// A pointer with a separate value in each thread.
struct ThreadLocal: Sendable {
  static let worker = ThreadLocal { _ in }

  private let key: UInt

  /// - Parameter release: Called with a thread's pointer, unless that is null, when the thread ends.
  init(release: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void) {
    let key = weft_thread_key_create(release)
    precondition(key >= 0, "no thread-specific key: error \(-key)")
    self.key = UInt(key)
  }

  var value: UnsafeMutableRawPointer? {
    get { weft_thread_key_get(key) }
    nonmutating set { weft_thread_key_set(key, newValue) }
  }
}

/// Does work some time after it was requested, once for all requests made meanwhile, on its own thread, which is
/// created when it is first needed.
package final class DelayedWork: Sendable {
  private enum Phase: Int {
    case idle, requested, hurried, ended
  }

  private let phase = Atomic(Phase.idle.rawValue)
  private let parking = Parking()
  private let isStarted = Atomic(false)
  private let delay: Duration
  private let name: String
  private let work: @Sendable () -> Void

  /// - Parameter name: The name of the thread; at most 15 bytes.
  package init(after delay: Duration, thread name: String, _ work: @escaping @Sendable () -> Void) {
    self.delay = delay
    self.name = name
    self.work = work
  }

  /// Requests the work, at almost no cost if it is already requested. If no thread can be created, the work is done
  /// immediately on this one.
  ///
  /// - Parameter atOnce: Whether to skip the delay, also for earlier requests.
  package func request(atOnce: Bool = false) {
    guard atOnce ? hurry() : ask() else { return }
    guard isStarted.exchange(true, ordering: .acquiringAndReleasing) else { return start() }
    parking.unpark()
  }

  private func ask() -> Bool {
    // Must not be read before the data for the work is written: the worker may be about to look for it.
    phase.load(ordering: .sequentiallyConsistent) == Phase.idle.rawValue
      && move(from: .idle, to: .requested)
  }

  private func hurry() -> Bool {
    phase.load(ordering: .sequentiallyConsistent) != Phase.hurried.rawValue
      && (move(from: .idle, to: .hurried) || move(from: .requested, to: .hurried))
  }

  /// Prevents the work from starting again; requested work that was not done is left to the caller.
  package func end() {
    phase.store(Phase.ended.rawValue, ordering: .sequentiallyConsistent)
    parking.unpark()
  }

  private func start() {
    do {
      try Thread.start(name: name, stackBytes: 256 << 10) { [self] in serve() }
    } catch {
      isStarted.store(false, ordering: .sequentiallyConsistent)
      runRequested()
    }
  }

  /// Resets the phase first: a request from now on wants the work done again.
  private func runRequested() {
    if move(from: .requested, to: .idle) || move(from: .hurried, to: .idle) { work() }
  }

  private func serve() {
    while true {
      switch Phase(rawValue: phase.load(ordering: .sequentiallyConsistent)) {
      case .ended?, nil: return
      case .idle?: _ = parking.park(atMost: nil)
      case .requested?:
        if parking.park(atMost: delay) { continue }
        runRequested()
      case .hurried?: runRequested()
      }
    }
  }

  private func move(from one: Phase, to other: Phase) -> Bool {
    phase.compareExchange(
      expected: one.rawValue, desired: other.rawValue, ordering: .sequentiallyConsistent
    ).exchanged
  }
}

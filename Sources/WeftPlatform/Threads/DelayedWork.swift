import Synchronization

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
      workIfAsked()
    }
  }

  /// Resets the phase first: a request from now on wants the work done again.
  private func workIfAsked() {
    if move(from: .requested, to: .idle) || move(from: .hurried, to: .idle) { work() }
  }

  private func serve() {
    while true {
      switch Phase(rawValue: phase.load(ordering: .sequentiallyConsistent)) {
      case .ended?, nil: return
      case .idle?: _ = parking.park(atMost: nil)
      case .requested?:
        if parking.park(atMost: delay) { continue }
        workIfAsked()
      case .hurried?: workIfAsked()
      }
    }
  }

  private func move(from one: Phase, to other: Phase) -> Bool {
    phase.compareExchange(
      expected: one.rawValue, desired: other.rawValue, ordering: .sequentiallyConsistent
    ).exchanged
  }
}

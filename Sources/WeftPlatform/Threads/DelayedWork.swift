import Synchronization

/// Does something a while after it was asked for, once for all who asked meanwhile, on a thread of its own
/// that is made when it is first needed.
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

  /// - Parameter name: The thread's; 15 bytes at most.
  package init(after delay: Duration, thread name: String, _ work: @escaping @Sendable () -> Void) {
    self.delay = delay
    self.name = name
    self.work = work
  }

  /// Costs next to nothing while the work has been asked for already. Without a thread the work is done at
  /// once, on this one.
  ///
  /// - Parameter atOnce: Without the delay, also for those who have asked before.
  package func request(atOnce: Bool = false) {
    guard atOnce ? hurry() : ask() else { return }
    guard isStarted.exchange(true, ordering: .acquiringAndReleasing) else { return start() }
    parking.unpark()
  }

  private func ask() -> Bool {
    // Not read before what is to be worked on is there: who works may be about to look for it.
    phase.load(ordering: .sequentiallyConsistent) == Phase.idle.rawValue
      && move(from: .idle, to: .requested)
  }

  private func hurry() -> Bool {
    phase.load(ordering: .sequentiallyConsistent) != Phase.hurried.rawValue
      && (move(from: .idle, to: .hurried) || move(from: .requested, to: .hurried))
  }

  /// The work is not begun any more; what has been asked for and was not done is the caller's to do.
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

  /// Who asks from now on wants it done again.
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

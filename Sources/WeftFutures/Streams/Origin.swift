import Synchronization

/// The producer of the signals of one subscription.
///
/// An origin reacts to events: a request from downstream, news from its inputs, a cancellation. Events may come from any
/// thread. They set a flag, and the first one puts the origin on the ``RunQueue`` of its thread. Events that come while it
/// is there, or runs, are found by that same drain. So an origin runs on one thread at a time and never inside itself,
/// nothing waits for a lock while a callback runs, and pipelines of any length need a constant amount of stack.
///
/// Sendable, although it has variables: ``flags`` decides which drain runs the origin, and only that drain uses them. An
/// atomic exchange of the flags comes first and last in each run, so successive runs are ordered.
@usableFromInline
class Origin: Continuation, @unchecked Sendable {
  private struct Flags {
    /// A drain runs this origin, or is going to. Never cleared after the end.
    static let scheduled: UInt8 = 1
    static let requested: UInt8 = 2
    static let news: UInt8 = 4
    static let cancelled: UInt8 = 8
  }

  private let flags = Atomic<UInt8>(0)
  @exclusivity(unchecked) @usableFromInline final private(set) var stage: Stage?
  /// Whether the receiver waits for a value.
  @exclusivity(unchecked) @usableFromInline final private(set) var isOpen = false
  @exclusivity(unchecked) final private(set) var isEnded = false
  /// Whether values may wait to be emitted although nothing has been posted.
  @exclusivity(unchecked) final var hasBacklog = false
  /// The place in the list of a ``HubCore``, guarded by its lock.
  @exclusivity(unchecked) final var position = -1
  @exclusivity(unchecked) final private var cancelHandlers: [() -> Void] = []

  /// Creates an origin whose receiver is `stage`. It does nothing before the first request.
  @usableFromInline
  init(_ stage: Stage) { self.stage = stage }

  deinit {
    guard stage != nil else { return }
    RunQueue.releasing { ready in
      if let ready, let stage { ready.discard(stage) }
      stage = nil
    }
  }

  override final func run(_ ready: RunQueue) { perform(ready) }

  /// Reacts to a request, or to news. Called while the origin has not ended.
  func react(_ ready: RunQueue) { preconditionFailure("\(type(of: self)) cannot react") }

  /// Releases and cancels everything upstream, after the last signal.
  func cleanUp() {}
}

extension Origin {
  /// Asks for the next value. Callable from any thread.
  final func request() { post(Flags.requested) }

  /// Ends the subscription: no value is emitted by a later run.
  final func cancel() { post(Flags.cancelled) }

  /// Has the origin react to something that was stored for it.
  final func notify() { post(Flags.news) }

  /// Whether a subscriber has cancelled. Visible at once, also to a run on a different thread.
  final var isCancelled: Bool { flags.load(ordering: .relaxed) & Flags.cancelled != 0 }

  private final func post(_ event: UInt8) {
    let before = flags.bitwiseOr(event | Flags.scheduled, ordering: .acquiringAndReleasing).oldValue
    if before & Flags.scheduled == 0 { RunQueue.draining { $0.append(self) } }
  }

  /// Adds what is called if a subscriber cancels before the end, the furthest downstream first.
  final func whenCancelled(_ handlers: [() -> Void]) { cancelHandlers = handlers }

  fileprivate final func perform(_ ready: RunQueue) {
    let kept = Flags.scheduled | Flags.cancelled
    while true {
      let events = flags.bitwiseAnd(kept, ordering: .acquiringAndReleasing).oldValue
      if events & Flags.cancelled != 0 {
        if !isEnded { end(byCancellation: true) }
        return
      }
      if events & Flags.requested != 0 { isOpen = true }
      react(ready)
      if isEnded || release() { return }
      // Others that are ready take turns with this origin.
      if ready.hasWork { return ready.append(self) }
    }
  }

  /// Gives up the right to run, unless an event has come meanwhile.
  private final func release() -> Bool {
    flags.compareExchange(
      expected: Flags.scheduled, desired: 0, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Takes the right to emit a value at once, if nothing is happening to the origin and its receiver waits. Called by a
  /// drain; ``release(_:)`` must follow.
  final func acquireIfIdle() -> Bool {
    let isIdle = flags.compareExchange(
      expected: 0, desired: Flags.scheduled, ordering: .acquiringAndReleasing
    ).exchanged
    guard isIdle else { return false }
    if isOpen, !hasBacklog { return true }
    if !release() { RunQueue.draining { $0.append(self) } }
    return false
  }

  /// Ends what ``acquireIfIdle()`` began.
  @usableFromInline
  final func release(_ ready: RunQueue) {
    if !isEnded, !release() { ready.append(self) }
  }

  /// Whether a loop that emits should return, because of an event or for others that are ready. The origin then reacts
  /// again later.
  @usableFromInline
  final func isInterrupted(_ ready: RunQueue) -> Bool {
    guard ready.hasWork || flags.load(ordering: .relaxed) != Flags.scheduled else { return false }
    flags.bitwiseOr(Flags.news, ordering: .relaxed)
    return true
  }

  /// Sends `value`, which the receiver must have asked for.
  @inlinable
  final func emit<Value>(_ value: Value) {
    guard let stage else { return }
    switch stage.send(value) {
    case .more: break
    case .wait: close()
    case .ended: end(byCancellation: false)
    }
  }

  @usableFromInline final func close() { isOpen = false }

  /// Sends the end, unless the subscription is cancelled.
  final func finish<Failure>(_ completion: Completion<Failure>) {
    guard !isEnded, !isCancelled else { return }
    let stage = stage
    end(byCancellation: false)
    stage?.end(completion)
  }

  /// Ends the origin, without a signal.
  @usableFromInline
  final func end(byCancellation isCancellation: Bool) {
    guard !isEnded else { return }
    isEnded = true
    isOpen = false
    let released = (stage, cancelHandlers)
    stage = nil
    cancelHandlers = []
    cleanUp()
    if isCancellation { for handler in released.1 { handler() } }
  }
}

/// An origin that makes the next value when it is asked for it. Sendable as every ``Origin`` is.
@usableFromInline
final class PullOrigin: Origin, @unchecked Sendable {
  @usableFromInline typealias Pump = (PullOrigin, RunQueue) -> Void

  @exclusivity(unchecked) private var pump: Pump?

  /// Creates an origin with a `pump` that emits as long as the origin is open.
  @usableFromInline
  init(_ stage: Stage, _ pump: @escaping Pump) {
    self.pump = pump
    super.init(stage)
  }

  override func react(_ ready: RunQueue) {
    if isOpen, let pump { pump(self, ready) }
  }

  override func cleanUp() { pump = nil }

  /// Ends the stream.
  @usableFromInline
  func finish() { finish(Completion<Never>.finished) }
}

import Synchronization

/// A subscription, as its subscriber sees it. Releasing it cancels.
///
/// Keep it as long as values are wanted, for example in a set:
///
/// ```swift
/// var subscriptions: Set<AnyCancellable> = []
/// publisher.sink { print($0) }.store(in: &subscriptions)
/// ```
public final class AnyCancellable: Sendable, Hashable {
  /// A struct, because a bare closure in a mutex is wrapped in one more thunk at each access.
  private struct Action {
    var cancel: (@Sendable () -> Void)?
  }

  private let action: Mutex<Action>

  /// Creates an object that calls `cancel` once, on ``cancel()`` or on release.
  public init(_ cancel: @escaping @Sendable () -> Void) { action = Mutex(Action(cancel: cancel)) }

  deinit { cancel() }

  /// Cancels; only the first call has an effect. Callable from any thread and inside callbacks, also those of the
  /// subscription itself.
  public func cancel() {
    let cancel = action.withLock { $0.cancel.take() }
    cancel?()
  }

  /// Puts the object into `set`, which then keeps the subscription alive.
  public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

  /// Whether both are the same object.
  public static func == (one: AnyCancellable, other: AnyCancellable) -> Bool { one === other }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The end of a pipeline: what a subscriber cancels.
@usableFromInline
final class Terminal: Sendable {
  private struct State {
    var origin: Origin?
    var isOver = false
  }

  private let state = Mutex(State())
  private let cancelled = Atomic<Bool>(false)

  @usableFromInline
  init() {}

  /// Whether callbacks must no longer be called.
  @usableFromInline var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Makes the subscription that ends in `stage`, and asks for the first value.
  ///
  /// - Parameter isPaused: Whether the first value is not wanted yet; see ``request()``.
  @usableFromInline
  func start(_ node: PublisherNode, _ stage: Stage, isPaused: Bool = false) {
    RunQueue.draining { _ in
      let origin = node.subscribe(stage)
      let isOver = state.withLock { state in
        if !state.isOver { state.origin = origin }
        return state.isOver
      }
      if isOver { return origin.cancel() }
      if !isPaused { origin.request() }
    }
  }

  /// Asks for the next value.
  func request() { state.withLock { $0.origin }?.request() }

  /// Notes the end of the stream, for which no cancellation is needed any more.
  @usableFromInline
  func finish() { _ = takeOrigin() }

  /// Cancels the subscription.
  @usableFromInline
  func cancel() {
    cancelled.store(true, ordering: .relaxed)
    takeOrigin()?.cancel()
  }

  private func takeOrigin() -> Origin? {
    state.withLock { state in
      state.isOver = true
      return state.origin.take()
    }
  }
}

extension AnyCancellable {
  /// Creates the handle of a subscription.
  @usableFromInline
  convenience init(_ terminal: Terminal) { self.init { terminal.cancel() } }
}

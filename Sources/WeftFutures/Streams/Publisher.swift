/// Values over time: what a ``Future`` is for one value, for any number of them.
///
/// ## A short tour
///
/// A publisher is a recipe. Each subscription follows it from the beginning: a source makes values, operators change them,
/// and the end of the pipeline uses them.
///
/// ```swift
/// let typed = PassthroughSubject<String, Never>()
/// let subscription = typed.publisher()
///   .map { $0.count }
///   .filter { $0 > 2 }
///   .sink { print($0) }
/// typed.send("weft")                      // prints 4 before it returns
/// subscription.cancel()
/// ```
///
/// **Cold.** Nothing runs before there is a subscription (`sink`, `assign`, `values()` …), and each has its own. `share`
/// lets several use one.
///
/// **Three ends.** A stream finishes, fails with a `Failure`, or is cancelled by its subscriber. Nothing is delivered
/// after an end. After `cancel()` no callback of that subscription begins; one that runs on a different thread meanwhile
/// is not waited for.
///
/// **One at a time.** The values of a subscription never overlap, and arrive in the order in which they were sent.
///
/// **Where callbacks run.** On the thread that sends, as for ``Future``. Sending, subscribing and cancelling *inside* a
/// callback only queue the resulting work; it runs on the same thread after the callback has returned, oldest first. Outside
/// of callbacks, all resulting work has run when the call returns, unless a different thread is delivering to the same
/// subscription: then that thread delivers this value too. A callback should not block.
///
/// **Demand.** A receiver takes one value at a time, and a source waits until it is asked for the next. A source that
/// cannot wait, such as a subject, has a ``BufferPolicy`` for each subscriber. Operators pass one value at a time and keep
/// nothing, if their comment does not say otherwise.
///
/// **Cancellation travels upstream**, to every source of the subscription, and releases what the pipeline holds. Releasing
/// an ``AnyCancellable`` cancels.
///
/// Inside, a pipeline is made of runs of ``Stage``s, each with an ``Origin`` that sends into it. An operator without memory
/// of its own is a stage. One that joins, buffers or waits is a ``Junction``: the end of one run and the origin of the
/// next.
public struct Publisher<Output: Sendable, Failure: Error>: Sendable {
  @usableFromInline let node: PublisherNode

  @usableFromInline
  init(_ node: PublisherNode) { self.node = node }

  /// Creates a publisher whose subscriptions are made by `make`.
  @usableFromInline
  init(source make: @escaping @Sendable (Stage) -> Origin) {
    self.init(PublisherNode(.source(make)))
  }

  /// A publisher that puts the stage made by `make` before the stage it is given.
  ///
  /// A run of stages is called recursively, so a relay ends one that would be too long.
  @usableFromInline
  func staged<NewOutput, NewFailure>(
    _ make: @escaping @Sendable (_ next: Stage) -> Stage
  ) -> Publisher<NewOutput, NewFailure> {
    let base = node.stageCount < PublisherNode.mostStages ? node : Self.relay { self }.node
    return Publisher<NewOutput, NewFailure>(
      PublisherNode(.stage(base, make), stageCount: base.stageCount + 1))
  }
}

/// The end of a stream that its subscriber has not cancelled.
public enum Completion<Failure: Error>: Sendable {
  /// There are no more values.
  case finished
  /// The stream has failed.
  case failure(Failure)
}

extension Completion: Equatable where Failure: Equatable {}

/// One step of the recipe that a ``Publisher`` is, without the types.
@usableFromInline
final class PublisherNode: Sendable {
  @usableFromInline
  enum Kind: Sendable {
    case source(@Sendable (Stage) -> Origin)
    case stage(PublisherNode, @Sendable (_ next: Stage) -> Stage)
  }

  /// The number of stages from which a relay is put between them. Released and called recursively, they take a few
  /// kilobytes of stack.
  static let mostStages = 32

  // Written by `deinit` only, when there is a single reference left.
  nonisolated(unsafe) private var kind: Kind?
  /// The number of stages since the last origin.
  let stageCount: Int

  @usableFromInline
  init(_ kind: Kind, stageCount: Int = 0) {
    self.kind = kind
    self.stageCount = stageCount
  }

  deinit {
    // The recipe of a long pipeline is a list, and its sources hold further lists.
    RunQueue.releasing { ready in
      if let ready, let kind { ready.discard(kind) }
      kind = nil
    }
  }

  /// Makes a subscription that ends in `stage`. It starts with ``Origin/request()``. Called by a drain.
  func subscribe(_ stage: Stage) -> Origin {
    var node = self
    var stage = stage
    var handlers: [() -> Void] = []
    while true {
      switch node.kind {
      case .stage(let upstream, let make):
        stage = make(stage)
        if let handler = stage.cancelled { handlers.append(handler) }
        node = upstream
      case nil: preconditionFailure("a released publisher was subscribed to")
      case .source(let make):
        let origin = make(stage)
        if !handlers.isEmpty { origin.whenCancelled(handlers) }
        return origin
      }
    }
  }
}

import Synchronization

/// The state shared by the inputs of a joined future.
@usableFromInline
final class Join: Sendable {
  /// Handles the settling of the input at an index.
  ///
  /// - Returns: Whether that decides the joined future, which it has then settled.
  @usableFromInline typealias Hear =
    @Sendable (Int, [FutureCore], _ joined: FutureCore, RunQueue) -> Bool
  /// Settles the joined future when every input has settled and none was decisive.
  @usableFromInline typealias Conclude =
    @Sendable ([FutureCore], _ joined: FutureCore, RunQueue) -> Void

  private let joined: FutureCore
  private let inputs: [FutureCore]
  private let undecided: Atomic<Int>
  private let hear: Hear
  private let conclude: Conclude

  private init(
    _ joined: FutureCore, _ inputs: [FutureCore], hear: @escaping Hear, conclude: @escaping Conclude
  ) {
    self.joined = joined
    self.inputs = inputs
    undecided = Atomic(inputs.count)
    self.hear = hear
    self.conclude = conclude
  }

  /// Attaches `joined`, which is not shared yet, to `inputs`.
  @usableFromInline
  static func start(
    _ joined: FutureCore, _ inputs: [FutureCore], hear: @escaping Hear, conclude: @escaping Conclude
  ) {
    RunQueue.draining { ready in
      guard !inputs.isEmpty else { return conclude([], joined, ready) }
      let join = Join(joined, inputs, hear: hear, conclude: conclude)
      for (index, input) in inputs.enumerated() { input.attach(JoinInput(index, of: join)) }
      joined.stand(on: .all(inputs), ready)
    }
  }

  fileprivate func hear(_ index: Int, _ ready: RunQueue) {
    guard !hear(index, inputs, joined, ready) else { return }
    let before = undecided.wrappingSubtract(1, ordering: .acquiringAndReleasing).oldValue
    if before == 1 { conclude(inputs, joined, ready) }
  }
}

/// The entry of a join in the waiter list of one of its inputs. Sendable as every ``Waiter`` is: it only adds
/// constants.
private final class JoinInput: Continuation, @unchecked Sendable {
  private let join: Join
  private let index: Int

  init(_ index: Int, of join: Join) {
    self.join = join
    self.index = index
  }

  override func run(_ ready: RunQueue) { join.hear(index, ready) }
}

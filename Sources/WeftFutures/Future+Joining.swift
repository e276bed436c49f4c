import Synchronization

/// None of the futures given to `firstSuccess` succeeded.
public struct AllFailed<Failure: Error>: Error {
  /// The failures, in the order of the futures; empty if there were no futures.
  public let failures: [Failure]

  /// Creates the error for code that replaces `firstSuccess`, such as tests.
  @inlinable
  public init(failures: [Failure]) { self.failures = failures }
}

extension AllFailed: Equatable where Failure: Equatable {}

extension Future {
  /// All values in the order of the futures, or the first failure as soon as one fails.
  ///
  /// On a failure, the join withdraws from the inputs that are still pending and does not wait for them. Without
  /// inputs, it succeeds immediately.
  @inlinable
  public static func zip<Element>(
    _ inputs: [Future<Element, Failure>]
  ) -> Future where Value == [Element] {
    joining(inputs) { outcome in
      switch outcome {
      case .success: nil
      case .failure(let failure): .failure(failure)
      }
    } conclude: { cells in
      .success(cells.map { Future<Element, Failure>(known: $0).settledValue })
    }
  }

  /// All values, of any number of types, or the first failure as soon as one fails.
  ///
  /// Behaves as the variant that takes an array.
  @inlinable
  public static func zip<each Element>(
    _ inputs: repeat Future<each Element, Failure>
  ) -> Future where Value == (repeat each Element) {
    var cells: [FutureCore] = []
    var failures: [@Sendable () -> Failure?] = []
    for input in repeat each inputs {
      cells.append(input.cell)
      failures.append { input.settledFailure }
    }
    let joined = Future.pending()
    Join.start(joined.cell, cells) { [failures] index, _, joined, ready in
      guard let failure = failures[index]() else { return false }
      Future(known: joined).settle(.failure(failure), ready, isEarly: true)
      return true
    } conclude: { _, joined, ready in
      Future(known: joined).settle(.success((repeat (each inputs).settledValue)), ready)
    }
    return joined
  }

  /// Not available: a join has one failure type.
  @_disfavoredOverload
  @available(*, unavailable, message: "the futures must have the same failure type; use mapError")
  public static func zip<each Element, each ElementFailure>(
    _ inputs: repeat Future<each Element, each ElementFailure>
  ) -> Future where Value == (repeat each Element), Failure == any Error {
    fatalError("unavailable")
  }

  /// All outcomes in the order of the futures, once all have settled. Never fails.
  @inlinable
  public static func settleAll<Element, ElementFailure>(
    _ inputs: [Future<Element, ElementFailure>]
  ) -> Future where Value == [Result<Element, ElementFailure>], Failure == Never {
    joining(inputs) { _ in
      nil
    } conclude: { cells in
      .success(cells.map { Future<Element, ElementFailure>(known: $0).settledOutcome })
    }
  }

  /// The outcome of the first future to settle, a value or a failure.
  ///
  /// Withdraws from the others. If several are already settled, the first in order counts. There must be at least one.
  @inlinable
  public static func race(_ inputs: [Future]) -> Future {
    precondition(!inputs.isEmpty, "a race of no futures would never end")
    return joining(inputs) { outcome in
      outcome
    } conclude: { _ in
      preconditionFailure("no input has decided a race")
    }
  }

  /// The first value; if all fail, every failure.
  ///
  /// Withdraws from the others at the first value. Without inputs, it fails immediately.
  @inlinable
  public static func firstSuccess<ElementFailure>(
    _ inputs: [Future<Value, ElementFailure>]
  ) -> Future where Failure == AllFailed<ElementFailure> {
    joining(inputs) { outcome in
      switch outcome {
      case .success(let value): .success(value)
      case .failure: nil
      }
    } conclude: { cells in
      let inputs = cells.lazy.map { Future<Value, ElementFailure>(known: $0) }
      return .failure(AllFailed(failures: inputs.compactMap { $0.settledFailure }))
    }
  }
}

extension Future {
  /// Inlined, so that the two closures given to the join capture nothing and are not allocated.
  ///
  /// - Parameters:
  ///   - verdict: The outcome that an input's outcome decides for the join; `nil` to wait for the other inputs.
  ///   - conclude: The outcome if no input was decisive.
  @inlinable
  @inline(__always)
  static func joining<Input, InputFailure>(
    _ inputs: [Future<Input, InputFailure>],
    verdict: @escaping @Sendable (Result<Input, InputFailure>) -> Result<Value, Failure>?,
    conclude: @escaping @Sendable ([FutureCore]) -> Result<Value, Failure>
  ) -> Future {
    let cells = inputs.map { $0.cell as FutureCore }
    let joined = Future.pending()
    Join.start(joined.cell, cells) { index, cells, joined, ready in
      let input = Future<Input, InputFailure>(known: cells[index])
      guard let outcome = verdict(input.settledOutcome) else { return false }
      Future(known: joined).settle(outcome, ready, isEarly: true)
      return true
    } conclude: { cells, joined, ready in
      Future(known: joined).settle(conclude(cells), ready)
    }
    return joined
  }

  @inlinable
  var settledValue: Value {
    guard case .success(let value) = settledOutcome else {
      preconditionFailure("a failure was taken for a value: \(settledOutcome)")
    }
    return value
  }

  @inlinable
  var settledFailure: Failure? {
    guard case .failure(let failure) = settledOutcome else { return nil }
    return failure
  }
}

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

/// The entry of a join in the waiter list of one of its inputs.
///
/// `@unchecked Sendable`: its own members are constants of Sendable types; the proof of ``Continuation`` covers the
/// variable that it inherits.
private final class JoinInput: Continuation, @unchecked Sendable {
  private let join: Join
  private let index: Int

  init(_ index: Int, of join: Join) {
    self.join = join
    self.index = index
  }

  override func run(_ ready: RunQueue) { join.hear(index, ready) }
}

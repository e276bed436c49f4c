/// None of the futures given to `firstSuccess` succeeded.
public struct AllFailed<Failure: Error>: Error {
  /// In the order of the futures; empty if there were none.
  public let failures: [Failure]
}

extension AllFailed: Equatable where Failure: Equatable {}

extension Future {
  /// All values in the order of the futures, or the first failure as soon as one fails.
  ///
  /// On a failure the join withdraws from the inputs that are still pending; it does not wait for
  /// them. Without inputs it succeeds at once.
  public static func zip<Element>(
    _ inputs: [Future<Element, Failure>]
  ) -> Future where Value == [Element] {
    joining(inputs, verdict: failureOnly) { .success(inputs.map { $0.settledValue }) }
  }

  /// All values, of any number of types, or the first failure as soon as one fails.
  ///
  /// What is said of the form that takes an array holds here.
  public static func zip<each Element>(
    _ inputs: repeat Future<each Element, Failure>
  ) -> Future where Value == (repeat each Element) {
    var cells: [AnyCell] = []
    for input in repeat each inputs { cells.append(input.cell) }
    let join = Join<Value, Failure>(cells) { .success((repeat (each inputs).settledValue)) }
    Ready.draining { ready in
      join.start(ready) { ready in
        for input in repeat each inputs { join.listen(to: input, ready, failureOnly) }
      }
      if cells.isEmpty { join.settleUndecided(ready) }
    }
    return Future(join)
  }

  /// All outcomes in the order of the futures, when the last one has settled. Never fails.
  public static func settleAll<Element, ElementFailure>(
    _ inputs: [Future<Element, ElementFailure>]
  ) -> Future where Value == [Result<Element, ElementFailure>], Failure == Never {
    joining(inputs, verdict: { _ in nil }) { .success(inputs.map { $0.settledOutcome }) }
  }

  /// The outcome of whichever settles first, be it a value or a failure; the others are withdrawn from.
  ///
  /// Of several that are settled already, the first in order. There must be at least one.
  public static func race(_ inputs: [Future]) -> Future {
    precondition(!inputs.isEmpty, "a race of no futures would never end")
    return joining(inputs, verdict: { $0 }) { preconditionFailure("every input of a race decides") }
  }

  /// The first value; or when all have failed, every failure. Others are withdrawn from at the first value.
  ///
  /// Without inputs it fails at once.
  public static func firstSuccess<ElementFailure>(
    _ inputs: [Future<Value, ElementFailure>]
  ) -> Future where Failure == AllFailed<ElementFailure> {
    joining(inputs, verdict: successOnly) {
      .failure(AllFailed(failures: inputs.map { $0.settledFailure }))
    }
  }

  private static func joining<Input, InputFailure>(
    _ inputs: [Future<Input, InputFailure>],
    verdict: @escaping Join<Value, Failure>.Verdict<Input, InputFailure>,
    conclude: @escaping @Sendable () -> Result<Value, Failure>
  ) -> Future {
    let join = Join(inputs.map(\.cell), conclude: conclude)
    Ready.draining { ready in
      join.start(ready) { ready in
        for input in inputs { join.listen(to: input, ready, verdict) }
      }
      if inputs.isEmpty { join.settleUndecided(ready) }
    }
    return Future(join)
  }
}

extension Future {
  @Sendable
  fileprivate static func failureOnly<Input>(
    _ outcome: Result<Input, Failure>
  ) -> Result<Value, Failure>? {
    guard case .failure(let failure) = outcome else { return nil }
    return .failure(failure)
  }

  @Sendable
  fileprivate static func successOnly<InputFailure>(
    _ outcome: Result<Value, InputFailure>
  ) -> Result<Value, Failure>? {
    guard case .success(let value) = outcome else { return nil }
    return .success(value)
  }

  /// For those who have heard of the outcome.
  fileprivate var settledOutcome: Result<Value, Failure> {
    guard let outcome = cell.outcome else { preconditionFailure("joined before it had settled") }
    return outcome
  }

  fileprivate var settledValue: Value {
    guard case .success(let value) = settledOutcome else {
      preconditionFailure("a failure was taken for a value: \(settledOutcome)")
    }
    return value
  }

  fileprivate var settledFailure: Failure {
    guard case .failure(let failure) = settledOutcome else {
      preconditionFailure("a value was taken for a failure: \(settledOutcome)")
    }
    return failure
  }
}

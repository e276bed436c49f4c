import Testing
import WeftFutures

@Suite struct TransformingTests {
  typealias Derived = Future<Int, Oops>

  static let derivations: [(name: String, of: @Sendable (Derived) -> Derived)] = [
    ("map", { $0.map { $0 + 1 } }),
    ("mapError", { $0.mapError { Oops(number: $0.number + 1) } }),
    (
      "mapResult",
      {
        $0.mapResult { outcome in
          switch outcome {
          case .success(let value): .failure(Oops(number: value))
          case .failure(let failure): .success(failure.number)
          }
        }
      }
    ),
    ("recover", { $0.recover { $0.number }.failing(with: Oops.self) }),
    ("flatMap to a value", { $0.flatMap { Derived(value: $0 + 1) } }),
    ("flatMap to a failure", { $0.flatMap { Derived(failure: Oops(number: $0)) } }),
    (
      "flatMapResult",
      {
        $0.flatMapResult { outcome in
          switch outcome {
          case .success(let value): Derived(failure: Oops(number: value))
          case .failure(let failure): Derived(value: failure.number)
          }
        }
      }
    ),
    ("flatMapError to a value", { $0.flatMapError { Derived(value: $0.number + 1) } }),
    (
      "flatMapError to a failure",
      { $0.flatMapError { Derived(failure: Oops(number: $0.number + 1)) } }
    ),
  ]

  static let outcomes: [String: (success: Result<Int, Oops>, failure: Result<Int, Oops>)] = [
    "map": (.success(11), .failure(Oops(number: 20))),
    "mapError": (.success(10), .failure(Oops(number: 21))),
    "mapResult": (.failure(Oops(number: 10)), .success(20)),
    "recover": (.success(10), .success(20)),
    "flatMap to a value": (.success(11), .failure(Oops(number: 20))),
    "flatMap to a failure": (.failure(Oops(number: 10)), .failure(Oops(number: 20))),
    "flatMapResult": (.failure(Oops(number: 10)), .success(20)),
    "flatMapError to a value": (.success(10), .success(21)),
    "flatMapError to a failure": (.success(10), .failure(Oops(number: 21))),
  ]

  @Test(arguments: derivations, [true, false])
  func derivesFromTheOutcome(
    _ derivation: (name: String, of: @Sendable (Derived) -> Derived), derivedFirst: Bool
  ) throws {
    let expected = try #require(Self.outcomes[derivation.name])
    for (given, wanted) in [
      (Result.success(10), expected.success), (.failure(Oops(number: 20)), expected.failure),
    ] {
      let promise = Source()
      if !derivedFirst { promise.settle(given) }
      let derived = derivation.of(promise.future)
      #expect(derived.isSettled == !derivedFirst)
      promise.settle(given)
      #expect(derived.outcome == wanted)
    }
  }

  @Test func flatMapWaitsForTheInnerFuture() {
    let outer = Source()
    let inner = Source()
    let derived = outer.future.flatMap { [future = inner.future] _ in future }
    outer.succeed(1)
    #expect(!derived.isSettled)
    inner.succeed(2)
    #expect(derived.outcome == .success(2))
  }

  @Test func flatMapDoesNotCallForAFailure() {
    let calls = Tally()
    let derived = Derived(failure: Oops()).flatMap { value in
      calls.add()
      return Derived(value: value)
    }
    #expect(derived.outcome == .failure(Oops()))
    #expect(calls.total == 0)
  }

  @Test func infallibleFuturesComposeWithoutFailureTypes() {
    let promise = Promise<Int, Never>(ifDropped: .success(0))
    let text = promise.future.flatMap { Future(value: $0 * 2) }.map { "\($0)" }
    promise.succeed(4)
    #expect(text.outcome?.get() == "8")
  }

  @Test func releasesItsTransformationOnceCalled() {
    final class Captured: Sendable {}
    let promise = Source()
    weak var captured: Captured?
    let derived: Derived
    do {
      let kept = Captured()
      captured = kept
      derived = promise.future.map { value in withExtendedLifetime(kept) { value } }
    }
    #expect(captured != nil)
    promise.succeed(1)
    #expect(captured == nil)
    #expect(derived.isSettled)
  }
}

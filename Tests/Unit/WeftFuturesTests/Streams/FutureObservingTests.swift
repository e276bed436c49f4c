import Testing
import WeftFutures

@Suite struct FutureObservingTests {
  @Test func observersFormAChain() {
    let log = Log<String>()
    let (good, bad) = (Source(), Source())
    for promise in [good, bad] {
      promise.future.onSuccess { log.write("value \($0)") }
        .onFailure { log.write("failure \($0.number)") }
        .onCancel { log.write("cancelled") }
        .whenSettled { _ in log.write("settled") }
    }
    good.succeed(1)
    bad.fail(Oops(number: 2))
    #expect(log.entries == ["value 1", "settled", "failure 2", "settled"])
  }

  @Test func onCancelIsCalledAndCancelsTheSource() {
    let log = Log<String>()
    let promise = Source()
    promise.onCancel {
      log.write("asked")
      $0.fail(Oops())
    }
    let observed = promise.future.onCancel { log.write("cancelled") }.onSuccess { _ in }
    observed.cancel()
    observed.cancel()
    #expect(log.entries == ["cancelled", "asked"])
    #expect(observed.outcome == .failure(Oops()))
  }

  @Test func tryMapPassesTheErrorItThrows() {
    let parsed = Future<String, Oops>(value: "x").tryMap { text throws(Oops) in
      guard let number = Int(text) else { throw Oops(number: 4) }
      return number
    }
    #expect(parsed.outcome == .failure(Oops(number: 4)))
    #expect(Future<Int, Oops>(value: 1).tryMap { $0 + 1 }.outcome == .success(2))
    #expect(Future<Int, Oops>(failure: Oops()).tryMap { $0 + 1 }.outcome == .failure(Oops()))
  }

  @Test func aSinkCanBeTakenBack() {
    let log = Log<Result<Int, Oops>>()
    let (kept, cancelled, released) = (Source(), Source(), Source())
    let subscription = kept.future.sink { log.write($0) }
    cancelled.future.sink { log.write($0) }.cancel()
    _ = released.future.sink { log.write($0) }
    for promise in [kept, cancelled, released] { promise.succeed(1) }
    #expect(log.entries == [.success(1)])
    #expect(!kept.isCancelled)
    #expect(cancelled.isCancelled)
    #expect(released.isCancelled)
    subscription.cancel()
  }

  @Test func aPromiseIsCompletedWithAFuture() {
    let (outer, inner) = (Source(), Source())
    outer.complete(with: inner.future)
    outer.future.cancel()
    #expect(inner.isCancelled)
    inner.succeed(6)
    #expect(outer.future.outcome == .success(6))
  }

  @Test("E13: a wait can be given up") func aWaitCanBeGivenUp() async throws {
    let promise = Source()
    let task = Task { try await promise.future.valueUnlessCancelled }
    task.cancel()
    #expect(try await task.value == nil)
    #expect(!promise.future.isSettled)
    promise.succeed(2)
    #expect(try await promise.future.valueUnlessCancelled == 2)
    let failed = Future<Int, Oops>(failure: Oops(number: 3))
    await #expect(throws: Oops(number: 3)) { try await failed.valueUnlessCancelled }
  }

  private enum Problem: Error { case odd }

  private func half(_ number: Int) async throws(Problem) -> Int {
    guard number.isMultiple(of: 2) else { throw Problem.odd }
    return number / 2
  }

  @Test("E07: futures with an error type of their own are made from asynchronous code")
  func typedFuturesAreMadeFromAsynchronousCode() async {
    // The compiler takes a bare closure that throws for one that throws `any Error` (Swift 6.3).
    let spelled = Future<Int, Problem> { () async throws(Problem) in try await half(3) }
    #expect(await spelled.result == .failure(.odd))
    let caught = Future<Int, Problem> {
      do throws(Problem) {
        return .success(try await half(5))
      } catch {
        return .failure(error)
      }
    }
    #expect(await caught.result == .failure(.odd))
    let passed = Future<Int, Problem>(catching: half, 8)
    #expect(await passed.result == .success(4))
  }
}

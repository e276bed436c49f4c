import Testing
import WeftFutures

@Suite struct PromiseTests {
  @Test func onlyTheFirstOutcomeCounts() {
    let promise = Source()
    #expect(promise.future.outcome == nil)
    #expect(promise.succeed(1))
    #expect(!promise.succeed(2))
    #expect(!promise.fail(Oops()))
    #expect(promise.future.outcome == .success(1))
  }

  @Test func everyCallbackIsCalledOnceInTheOrderOfRegistration() {
    let promise = Source()
    let log = Log<String>()
    for name in ["a", "b"] { promise.future.whenSettled { log.write("\(name): \($0)") } }
    promise.succeed(1)
    promise.succeed(2)
    promise.future.whenSettled { log.write("c: \($0)") }
    #expect(log.entries == ["a: success(1)", "b: success(1)", "c: success(1)"])
  }

  @Test func aFutureCanBeSettledFromTheBeginning() {
    #expect(Future<Int, Oops>(value: 1).outcome == .success(1))
    #expect(Future<Int, Oops>(failure: Oops()).outcome == .failure(Oops()))
    #expect(Future<Int, Never>(result: .success(2)).isSettled)
  }

  @Test func aPromiseOfNothingSucceedsWithoutAnArgument() {
    let promise = Promise<Void, any Error>()
    promise.succeed()
    #expect(promise.future.isSettled)
  }

  @Test func callbackConsequencesRunAfterTheCallback() {
    let first = Source()
    let second = Source()
    let log = Log<String>()
    first.future.whenSettled { _ in
      log.write("first begins")
      second.succeed(2)
      Future<Int, Never>(value: 3).whenSettled { _ in log.write("settled long ago") }
      log.write("first ends")
    }
    first.future.whenSettled { _ in log.write("first again") }
    second.future.whenSettled { _ in log.write("second") }
    first.succeed(1)
    #expect(
      log.entries == ["first begins", "first ends", "first again", "second", "settled long ago"])
  }

  @Test func anOutcomeIsVisibleToTheCallbackThatCausedIt() {
    let first = Source()
    let second = Source()
    let seen = Log<Result<Int, Oops>?>()
    first.future.whenSettled { _ in
      second.succeed(2)
      seen.write(second.future.outcome)
    }
    first.succeed(1)
    #expect(seen.entries == [.success(2)])
  }
}

import Testing
import WeftFutures

@Suite struct AsyncTests {
  @Test(arguments: [Result.success(1), .failure(Oops(number: 2))])
  func awaitingGivesTheOutcome(_ outcome: Result<Int, Oops>) async {
    let promise = Source()
    async let early = promise.future.result
    promise.settle(outcome)
    #expect(await early == outcome)
    #expect(await promise.future.result == outcome)
  }

  @Test func infallibleFutureIsAwaitedWithoutTry() async {
    #expect(await Future<Int, Never>(value: 1).value == 1)
  }

  @Test func throwsTheFailureItself() async {
    do throws(Oops) {
      _ = try await Future<Int, Oops>(failure: Oops(number: 3)).get()
      Issue.record("a failure was awaited as a value")
    } catch {
      #expect(error == Oops(number: 3))
    }
  }

  @Test func anAsyncClosureBecomesAFuture() async {
    let fine = Future<Int, Oops> { 1 }
    let bad = Future<Int, Oops> { () async throws(Oops) -> Int in throw Oops(number: 4) }
    #expect(await fine.result == .success(1))
    #expect(await bad.result == .failure(Oops(number: 4)))
  }

  @Test func cancellingTheFutureCancelsItsTask() async {
    let future = Future<Bool, Never> {
      let asked = Promise<Void, Never>(ifDropped: .success(()))
      return await withTaskCancellationHandler {
        await asked.future.value
        return Task.isCancelled
      } onCancel: {
        asked.succeed()
      }
    }
    future.map { $0 }.cancel()
    #expect(await future.value)
  }

  @Test func cancellingTheAwaitingTaskCancelsTheFutureAndStillWaits() async {
    let promise = Source()
    let asked = Promise<Void, Never>(ifDropped: .success(()))
    promise.onCancel { asked.succeed() }
    let task = Task { [future = promise.future] in await future.result }
    task.cancel()
    await asked.future.value
    promise.succeed(7)
    #expect(await task.value == .success(7))
  }

  @Test func aTaskThatIsCancelledBeforeItAwaitsCancelsTheFuture() async {
    let promise = Source()
    promise.onCancel { $0.fail(Oops(number: 1)) }
    let task = Task { [future = promise.future] in
      withUnsafeCurrentTask { $0?.cancel() }
      return await future.result
    }
    #expect(await task.value == .failure(Oops(number: 1)))
  }

  @Test func cancelledTaskLeavesTheFutureToOthers() async {
    let promise = Source()
    let other = promise.future.map { $0 }
    let task = Task { [future = promise.future] in
      withUnsafeCurrentTask { $0?.cancel() }
      return await future.result
    }
    promise.future.whenSettled { _ in }
    promise.succeed(1)
    #expect(await task.value == .success(1))
    #expect(!promise.isCancelled)
    #expect(other.outcome == .success(1))
  }
}

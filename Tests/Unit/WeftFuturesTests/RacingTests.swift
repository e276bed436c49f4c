import Testing
import WeftFutures

/// Several threads at one future, released at the same moment, many times.
@Suite struct RacingTests {
  init() { DropReports.divert() }

  private static let threadCount = 4

  /// Runs the bodies that `round` sets up, one for each thread.
  private func hammer(_ round: () -> [@Sendable () -> Void]) {
    for _ in 0..<100 { onThreads(round()) }
  }

  @Test func firstOfManySettlementsWins() {
    let winners = Log<Int>()
    let seen = Log<Result<Int, Oops>>()
    hammer {
      let promise = Source()
      promise.future.whenSettled { seen.write($0) }
      return (0..<Self.threadCount).map { thread in
        { if promise.succeed(thread) { winners.write(thread) } }
      }
    }
    #expect(winners.entries.count == 100)
    #expect(seen.entries == winners.entries.map { .success($0) })
  }

  @Test func lateSubscribersReceiveTheOutcome() {
    let reported = Tally()
    hammer {
      let promise = Source()
      let come: @Sendable () -> Void = {
        for _ in 0..<20 { promise.future.map { $0 }.whenSettled { _ in reported.add() } }
      }
      return [{ promise.succeed(1) }] + Array(repeating: come, count: Self.threadCount - 1)
    }
    #expect(reported.total == 100 * (Self.threadCount - 1) * 20)
  }

  @Test func zipConcludesOnceWhicheverInputIsLast() {
    let seen = Log<Result<[Int], Oops>>()
    hammer {
      let promises = (0..<Self.threadCount).map { _ in Source() }
      Future.zip(promises.map(\.future)).whenSettled { seen.write($0) }
      return promises.enumerated().map { index, promise in { promise.succeed(index) } }
    }
    #expect(seen.entries == Array(repeating: .success(Array(0..<Self.threadCount)), count: 100))
  }

  @Test func raceHasOneWinner() {
    let seen = Tally()
    let settled = Tally()
    hammer {
      let promises = (0..<Self.threadCount).map { _ in Source() }
      let first = Future.race(promises.map(\.future))
      first.whenSettled { _ in seen.add() }
      return promises.enumerated().map { index, promise in
        {
          promise.succeed(index)
          if first.isSettled { settled.add() }
        }
      }
    }
    #expect(seen.total == 100)
    #expect(settled.total == 100 * Self.threadCount)
  }

  @Test func aHandlerRunsOnceThoughItIsRegisteredDuringTheRequest() {
    let asked = Tally()
    hammer {
      let promise = Source()
      return [
        { promise.future.cancel() },
        { promise.onCancel { asked.add() } },
        { promise.future.cancel() },
      ]
    }
    #expect(asked.total == 100)
  }

  @Test func theLastOfManyWithdrawalsCancelsOnce() {
    let asked = Tally()
    hammer {
      let promise = Source()
      promise.onCancel { asked.add() }
      let branches = (0..<Self.threadCount).map { _ in promise.future.map { $0 } }
      return branches.map { branch in { withExtendedLifetime(promise) { branch.cancel() } } }
    }
    #expect(asked.total == 100)
  }

  @Test func aRequestReachesTheInnerFutureThoughItComesDuringTheSwitch() {
    let asked = Tally()
    hammer {
      let outer = Source()
      let inner = Source()
      inner.onCancel { asked.add() }
      let derived = outer.future.flatMap { [future = inner.future] _ in future }
      return [
        { outer.succeed(1) },
        {
          withExtendedLifetime(inner) { derived.cancel() }
        },
      ]
    }
    #expect(asked.total == 100)
  }

  @Test func aFailureWhileTheJoinIsMadeWithdrawsFromTheOtherInputs() {
    let asked = Tally()
    hammer {
      let failing = Source()
      let slow = Source()
      slow.onCancel { asked.add() }
      return [
        { withExtendedLifetime(slow) { _ = failing.fail(Oops()) } },
        {
          let inputs = [failing.future] + Array(repeating: slow.future, count: 20)
          withExtendedLifetime(slow) { Future.zip(inputs).whenSettled { _ in } }
        },
      ]
    }
    #expect(asked.total == 100)
  }

  @Test func cancellingWhileSettlingChangesNoOutcome() {
    let seen = Log<Result<Int, Oops>>()
    hammer {
      let promise = Source()
      promise.onCancel { $0.succeed(1) }
      let derived = Future.zip(promise.future, promise.future).map { $0 + $1 }
      derived.whenSettled { seen.write($0) }
      return [{ promise.succeed(1) }, { derived.cancel() }, { promise.future.cancel() }]
    }
    #expect(seen.entries == Array(repeating: .success(2), count: 100))
  }

  @Test func deferredWorkStartsOnce() {
    let starts = Tally()
    let seen = Tally()
    hammer {
      let lazy = Future<Int, Oops>.deferred {
        starts.add()
        return Future(value: 1)
      }
      return (0..<Self.threadCount).map { _ in { lazy.whenSettled { _ in seen.add() } } }
    }
    #expect(starts.total == 100)
    #expect(seen.total == 100 * Self.threadCount)
  }
}

import Testing
import WeftFutures

@Suite struct JoiningTests {
  init() { DropReports.divert() }

  private static let inEveryOrder = [
    [0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0],
  ]

  @Test(arguments: inEveryOrder)
  func zipGivesValuesInTheOrderOfItsInputs(finishing order: [Int]) {
    let promises = (0..<3).map { _ in Source() }
    let all = Future.zip(promises.map(\.future))
    for index in order {
      #expect(!all.isSettled)
      promises[index].succeed(index * 10)
    }
    #expect(all.outcome == .success([0, 10, 20]))
  }

  @Test(arguments: 0..<3)
  func zipFailsAsSoonAsAnyInputFails(_ failing: Int) {
    let promises = (0..<3).map { _ in Source() }
    let all = Future.zip(promises.map(\.future))
    promises[failing].fail(Oops(number: failing))
    #expect(all.outcome == .failure(Oops(number: failing)))
    for index in 0..<3 { #expect(promises[index].isCancelled == (index != failing)) }
  }

  @Test func zipKeepsTheFirstFailure() {
    let promises = (0..<2).map { _ in Source() }
    let all = Future.zip(promises.map(\.future))
    promises[1].fail(Oops(number: 1))
    promises[0].fail(Oops(number: 0))
    #expect(all.outcome == .failure(Oops(number: 1)))
  }

  @Test func zipTakesAnyNumberOfTypes() {
    let number = Promise<Int, Never>(ifDropped: .success(0))
    let text = Promise<String, Never>(ifDropped: .success(""))
    let flag = Promise<Bool, Never>(ifDropped: .success(false))
    let all = Future.zip(number.future, text.future, flag.future)
    let sentence = all.map { "\($0) \($1) \($2)" }
    flag.succeed(true)
    number.succeed(1)
    #expect(!sentence.isSettled)
    text.succeed("one")
    #expect(sentence.outcome == .success("1 one true"))
  }

  @Test func zipOfTypesFailsWhileAnEarlierInputIsPending() {
    let number = Source()
    let text = Promise<String, Oops>(ifDropped: .failure(Oops()))
    let all = Future.zip(number.future, text.future)
    text.fail(Oops(number: 2))
    guard case .failure(Oops(number: 2)) = all.outcome else {
      Issue.record("\(String(describing: all.outcome))")
      return
    }
    #expect(number.isCancelled)
  }

  @Test func joiningNothingSettlesAtOnce() {
    let none: [Future<Int, Oops>] = []
    #expect(Future.zip(none).outcome == .success([]))
    #expect(Future.settleAll(none).outcome == .success([]))
    #expect(Future.firstSuccess(none).outcome == .failure(AllFailed(failures: [])))
  }

  @Test func joiningTheSameFutureTwiceIsNoDifferent() {
    let promise = Source()
    let both = Future.zip([promise.future, promise.future])
    promise.succeed(1)
    #expect(both.outcome == .success([1, 1]))
  }

  @Test(arguments: inEveryOrder)
  func settleAllWaitsForAll(finishing order: [Int]) {
    let promises = (0..<3).map { _ in Source() }
    let all = Future.settleAll(promises.map(\.future))
    for index in order {
      #expect(!all.isSettled)
      promises[index].settle(index == 1 ? .failure(Oops()) : .success(index))
    }
    #expect(all.outcome == .success([.success(0), .failure(Oops()), .success(2)]))
  }

  @Test(arguments: 0..<3, [true, false])
  func raceGoesToTheFirstToSettle(_ winner: Int, succeeding: Bool) {
    let promises = (0..<3).map { _ in Source() }
    let first = Future.race(promises.map(\.future))
    let outcome: Result<Int, Oops> = succeeding ? .success(winner) : .failure(Oops(number: winner))
    promises[winner].settle(outcome)
    #expect(first.outcome == outcome)
    for index in 0..<3 { #expect(promises[index].isCancelled == (index != winner)) }
    for promise in promises { promise.succeed(9) }
    #expect(first.outcome == outcome)
  }

  @Test func raceAmongSettledGoesToTheFirstInOrder() {
    let promise = Source()
    let first = Future.race([promise.future, Future(value: 1), Future(value: 2)])
    #expect(first.outcome == .success(1))
    #expect(promise.isCancelled)
  }

  @Test func firstSuccessOutlivesFailures() {
    let promises = (0..<3).map { _ in Source() }
    let first = Future.firstSuccess(promises.map(\.future))
    promises[0].fail(Oops(number: 0))
    #expect(!first.isSettled)
    promises[2].succeed(2)
    #expect(first.outcome == .success(2))
    #expect(promises.map(\.isCancelled) == [false, true, false])
  }

  @Test(arguments: inEveryOrder)
  func firstSuccessFailsWithEveryFailureInOrder(finishing order: [Int]) {
    let promises = (0..<3).map { _ in Source() }
    let first = Future.firstSuccess(promises.map(\.future))
    for index in order {
      #expect(!first.isSettled)
      promises[index].fail(Oops(number: index))
    }
    #expect(first.outcome == .failure(AllFailed(failures: (0..<3).map(Oops.init))))
  }
}

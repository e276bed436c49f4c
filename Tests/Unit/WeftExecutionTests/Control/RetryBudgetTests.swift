import Testing
import WeftDefinition

@testable import WeftEvents
@testable import WeftExecution

@Suite struct RetryBudgetTests {
  @Test(
    "G09: a run has further attempts for a fifth of its steps, and a hundred",
    arguments: [
      (0, 20, 100), (4, 20, 100), (5, 20, 101), (1_000, 20, 300), (1_000, 0, 100),
      (1_000, 250, 2_600), (Int.max, 20, .max),
    ])
  func isAShareOfTheSteps(steps: Int, percent: Int, limit: Int) {
    #expect(RetryBudget(steps: steps, percent: percent).limit == limit)
  }

  @Test("G09: what is not in the budget is refused")
  func endsWhereItsLimitIs() {
    var budget = RetryBudget(steps: 1_000)
    let taken = (0..<400).map { _ in budget.take() }
    #expect(taken.prefix(300).allSatisfy { $0 })
    #expect(!taken.dropFirst(300).contains(true))
  }

  @Test func elementsThatComeToBeKnownAddToIt() {
    var budget = RetryBudget(steps: 0)
    while budget.take() {}
    budget.add(steps: 10)
    let taken = (0..<3).map { _ in budget.take() }
    #expect(taken == [true, true, false])
  }

  @Test(arguments: [
    (["network"], true), (["network:dns", "network"], true), (["http:503", "http:5xx"], true),
    (["exit:1", "exit"], false), (["httpd"], false), (["timeout"], false), ([], false),
  ])
  func isForFailuresThatManyHaveAtOnce(classes: [String], isCovered: Bool) {
    let failure = StepFailure(classes: classes.map(ErrorClass.init(unchecked:)), message: "failed")
    #expect(RetryBudget.covers(failure) == isCovered)
  }
}

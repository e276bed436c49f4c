import Testing
import WeftDefinition
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct RetryLedgerTests {
  private static let failed = StepFailure(
    classes: [.exit(3), .exit], message: "exited with code 3")
  private static let stalled = StepFailure(classes: [.stall], message: "stalled")
  private static let unstarted = StepFailure(classes: [.spawn], message: "did not start")

  private static func policy(
    max: Int, delay: Duration = .seconds(1), factor: Double = 2, maxDelay: Duration = .seconds(60),
    within: Duration? = nil, on classes: [ErrorClass]? = nil, when condition: Condition? = nil
  ) -> RetryPolicy {
    RetryPolicy(
      max: max, delay: delay, factor: factor, maxDelay: maxDelay, jitter: .none, within: within,
      classes: classes, condition: condition)
  }

  /// A ledger whose first attempt started at 100 s, and a clock.
  private struct Story {
    var ledger: RetryLedger
    var now = Duration.seconds(100)
    var random = SeededGenerator(seed: 1)

    init(_ policies: RetryPolicy...) {
      ledger = RetryLedger(policies: policies, startedAt: .seconds(100))
    }

    mutating func decide(
      _ failure: StepFailure = failed, retryAfter: Duration? = nil,
      allows: (RetryPolicy, Int) -> Bool = { _, _ in true }
    ) -> RetryLedger.Decision {
      ledger.decide(
        after: failure, at: now, retryAfter: retryAfter, allows: allows, using: &random)
    }

    /// The decisions about successive failures.
    mutating func decide(_ failures: [StepFailure]) -> [RetryLedger.Decision] {
      failures.map { decide($0) }
    }
  }

  @Test func retriesOfAnEarlierEngineCountForThePoliciesInOrder() {
    let policies = [
      Self.policy(max: 1, on: [.exit]), Self.policy(max: 2, factor: 3, on: [.stall]),
    ]
    var story = Story()
    story.ledger = RetryLedger(policies: policies, startedAt: .seconds(100), after: 2)
    #expect(
      story.decide([Self.failed, Self.stalled, Self.stalled]) == [
        .giveUp(.usedUp(1)), .retry(after: .seconds(3), policy: 1), .giveUp(.usedUp(2)),
      ])
  }

  @Test func stepWithoutRetriesHasNoRefusal() {
    var (none, zero) = (Story(), Story(Self.policy(max: 0)))
    let decisions = [none.decide(), zero.decide()]
    #expect(decisions == [.giveUp(nil), .giveUp(nil)])
  }

  @Test func delaysGrowExactlyUpToTheLimit() {
    var story = Story(
      Self.policy(max: 7, delay: .milliseconds(100), factor: 3, maxDelay: .seconds(5)))
    let decisions = story.decide(Array(repeating: Self.failed, count: 8))
    #expect(
      decisions == [100, 300, 900, 2700, 5000, 5000, 5000].map {
        .retry(after: .milliseconds($0), policy: 0)
      } + [.giveUp(.usedUp(7))])
  }

  @Test func thePolicyThatIsForTheFailureTakesItAndCountsItsOwn() {
    var story = Story(
      Self.policy(max: 1, delay: .seconds(1), on: [.stall]),
      Self.policy(max: 2, delay: .seconds(10), on: [.exit(3)]),
      Self.policy(max: 9, delay: .seconds(100), on: [.exit, .stall]))
    let decisions = story.decide([
      Self.failed, Self.stalled, Self.failed, Self.failed, Self.stalled, Self.unstarted,
    ])
    #expect(
      decisions == [
        .retry(after: .seconds(10), policy: 1), .retry(after: .seconds(1), policy: 0),
        .retry(after: .seconds(20), policy: 1),
        // A failure whose policy is used up is not retried by a different policy.
        .giveUp(.usedUp(2)), .giveUp(.usedUp(1)), .giveUp(.notListed(.spawn)),
      ])
  }

  @Test func policyWithAFalseConditionIsSkipped() {
    var story = Story(
      Self.policy(max: 1, delay: .seconds(1), when: "self.exitCode == 75"),
      Self.policy(max: 1, delay: .seconds(2)))
    var asked: [Int] = []
    let second = story.decide { _, index in
      asked.append(index)
      return false
    }
    #expect(second == .retry(after: .seconds(2), policy: 1))
    let first = story.decide { _, index in
      asked.append(index)
      return true
    }
    #expect(first == .retry(after: .seconds(1), policy: 0))
    // The policy without a condition is not evaluated.
    #expect(asked == [0, 0])
  }

  @Test func refusalNamesUnmetConditions() {
    var story = Story(Self.policy(max: 1, when: "false"), Self.policy(max: 1, on: [.stall]))
    let decision = story.decide { _, _ in false }
    #expect(decision == .giveUp(.conditionIsFalse))
  }

  @Test func noConditionIsAskedOfAPolicyThatIsNotForTheFailure() {
    var story = Story(Self.policy(max: 1, on: [.stall], when: "self.exitCode == 1"))
    let decision = story.decide { _, _ in
      Issue.record("asked")
      return true
    }
    #expect(decision == .giveUp(.notListed(ErrorClass("exit:3"))))
  }

  @Test(arguments: [
    (7, RetryLedger.Decision.retry(after: .seconds(3), policy: 0)),
    (8, .giveUp(.tooLate(.seconds(10)))), (10, .giveUp(.tooLate(.seconds(10)))),
    (11, .giveUp(.tooLate(.seconds(10)))),
  ])
  func anAttemptThatWouldBeginTooLateIsNotMade(second: Int, decision: RetryLedger.Decision) {
    var story = Story(Self.policy(max: 5, delay: .seconds(3), within: .seconds(10)))
    story.now = .seconds(100 + second)
    let made = story.decide()
    #expect(made == decision)
  }

  @Test(arguments: [
    (0.5, RetryLedger.Decision.retry(after: .seconds(1), policy: 0)),
    (7, .retry(after: .seconds(7), policy: 0)), (60, .retry(after: .seconds(60), policy: 0)),
    (60.5, .giveUp(.askedToWaitTooLong(.milliseconds(60_500), most: .seconds(60)))),
  ])
  func theOtherSideMayAskForALongerWait(seconds: Double, decision: RetryLedger.Decision) {
    var story = Story(Self.policy(max: 1))
    let made = story.decide(retryAfter: .milliseconds(Int(seconds * 1000)))
    #expect(made == decision)
  }

  @Test func aRefusedAttemptIsNotCounted() {
    var story = Story(Self.policy(max: 1))
    _ = story.decide(retryAfter: .seconds(3600))
    let decision = story.decide()
    #expect(decision == .retry(after: .seconds(1), policy: 0))
  }

  @Test(arguments: [
    (RetryRefusal.usedUp(1), "the only retry has been used"),
    (.usedUp(3), "all 3 retries have been used"),
    (.tooLate(.seconds(90)), "the next attempt would start more than 1m30s after the first"),
    (
      .askedToWaitTooLong(.seconds(7200), most: .seconds(60)),
      "the server asks to wait 2h, but \"maxDelay\" is 1m"
    ),
    (.notListed(.spawn), "\"retry\" does not cover failures of class \"spawn\""),
    (.notRestarted, "\"restart\" only starts a service again that has ended early"),
    (.conditionIsFalse, "the condition \"when\" of \"retry\" is false"),
    (
      .budgetSpent(104),
      "the run has used its budget of 104 retries for failures of class \"network\" and \"http\""
    ),
  ])
  func aRefusalIsASentence(refusal: RetryRefusal, message: String) {
    #expect(refusal.message == message)
  }
}

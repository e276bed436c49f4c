import Testing
import WeftJSON
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution

/// The end of an action's attempt, whatever happens in whichever order.
@Suite struct ActionEndingTests {
  private static let limit = Duration.seconds(5)
  private let returned = AttemptEnd.Status.returned(.string("done"))
  private let timedOut = AttemptEnd.Status.timedOut(after: limit, nil)

  @Test func returnedStatusEndsTheAction() {
    var ending = ActionEnding()
    #expect(ending.actionEnded(returned) == .end(returned, isAbandoned: false))
    #expect(ending.isOver)
  }

  @Test func actionReturningAfterItsTimeoutHasTimedOut() {
    var ending = ActionEnding()
    #expect(ending.timeoutPassed(Self.limit) == .cancel)
    #expect(!ending.isOver)
    #expect(ending.actionEnded(returned) == .end(timedOut, isAbandoned: false))
  }

  @Test func actionReturningAfterAStopWasStopped() {
    var ending = ActionEnding()
    #expect(ending.stopRequested(.graceful) == .cancel)
    #expect(ending.actionEnded(returned) == .end(.stopped(nil), isAbandoned: false))
  }

  @Test func theFirstReasonToEndItCounts() {
    var ending = ActionEnding()
    #expect(ending.timeoutPassed(Self.limit) == .cancel)
    #expect(ending.stopRequested(.graceful) == .nothing)
    #expect(ending.gracePassed() == .end(timedOut, isAbandoned: true))
  }

  @Test func aStopWithoutAGraceLeavesItBehindAtOnce() {
    var ending = ActionEnding()
    #expect(ending.stopRequested(.graceful) == .cancel)
    #expect(ending.stopRequested(.now) == .end(.stopped(nil), isAbandoned: true))
    var other = ActionEnding()
    #expect(other.stopRequested(.now) == .end(.stopped(nil), isAbandoned: true))
  }

  @Test func graceAppliesOnlyAfterAStopRequest() {
    var ending = ActionEnding()
    #expect(ending.gracePassed() == .nothing)
    #expect(!ending.isOver)
  }

  @Test("G11: what comes when the attempt is over changes nothing")
  func laterEventsDoNotChangeTheEnd() {
    var ending = ActionEnding()
    _ = ending.timeoutPassed(Self.limit)
    _ = ending.gracePassed()
    #expect(ending.actionEnded(returned) == .nothing)
    #expect(ending.timeoutPassed(Self.limit) == .nothing)
    #expect(ending.stopRequested(.graceful) == .nothing)
    #expect(ending.stopRequested(.now) == .nothing)
    #expect(ending.gracePassed() == .nothing)
  }
}

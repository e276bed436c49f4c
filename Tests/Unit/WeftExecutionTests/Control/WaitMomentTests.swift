import Synchronization
import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Steps that wait for a time of the wall clock.
@Suite struct WaitMomentTests {
  private static func workflow(until moment: Int64) -> Workflow {
    Workflow(steps: [
      Step("w", wait: .until(WallMoment(nanoseconds: moment, text: "then"))),
      Step("after", run: ["x"]),
    ])
  }

  private static let today: Int64 = 1_795_274_017_000_000_000

  @Test(
    "X09: a step waits for any moment that there is",
    arguments: [.min, .min + 1, -8_520_336_000_000_000_000, -1, 0, today - 1, today] as [Int64])
  func pastMoments(moment: Int64) throws {
    for clock in [WaitMomentTests.today, .max, 0] where clock >= moment {
      let run = try RunHarness(
        WaitMomentTests.workflow(until: moment),
        configuring: { $0.wallClock = { WallTime(nanoseconds: clock) } })
      run.time.advance(by: .zero)
      #expect(run.states == ["w: success", "after: running"])
    }
  }

  @Test(
    "X09: a moment that is far away is waited for",
    arguments: [today + 60_000_000_001, 1 << 62, .max] as [Int64])
  func futureMoments(moment: Int64) throws {
    for clock in [WaitMomentTests.today, .min, 0] {
      let run = try RunHarness(
        WaitMomentTests.workflow(until: moment),
        configuring: { $0.wallClock = { WallTime(nanoseconds: clock) } })
      run.time.advance(by: .seconds(3600))
      #expect(run.states == ["w: waiting", "after: pending"])
    }
  }

  @Test("X09: a recorded moment is any", arguments: [Int64.min, -1, 0, .max])
  func recordedMoments(moment: Int64) throws {
    var recorded = RunState()
    let kinds: [RunRecord.Kind] = [
      .opened(RecordOpening(run: RunID("20261121-151337-4f2a9c"))),
      .event(.stepStarted(StepAddress("w"), attempt: 1)),
      .waiting(StepAddress("w"), until: WallTime(nanoseconds: moment)),
    ]
    for (index, kind) in kinds.enumerated() {
      recorded.apply(RunRecord(number: UInt64(index + 1), at: WallTime(nanoseconds: 0), kind))
    }
    for wait in [Waiting.duration(.seconds(5)), .until(WallMoment(nanoseconds: 0, text: ""))] {
      let run = try RunHarness(
        Workflow(steps: [Step("w", wait: wait)]),
        configuring: {
          $0.journal.recorded = recorded
          $0.wallClock = { WallTime(nanoseconds: WaitMomentTests.today) }
        })
      run.time.advance(by: .seconds(60))
      #expect(run.states == [moment == .max ? "w: waiting" : "w: success"])
    }
  }

  @Test(
    "X86: a wall clock that is set, or that goes on during a suspension, ends a wait within a minute"
  )
  func clocksThatJump() throws {
    let clock = Mutex(WaitMomentTests.today)
    let hour: Int64 = 3_600_000_000_000
    let run = try RunHarness(
      WaitMomentTests.workflow(until: WaitMomentTests.today + hour),
      configuring: { $0.wallClock = { WallTime(nanoseconds: clock.withLock { $0 }) } })
    run.time.advance(by: .seconds(600))
    #expect(run.states.first == "w: waiting")
    clock.withLock { $0 += hour }
    run.time.advance(by: .seconds(60))
    #expect(run.states.first == "w: success")
  }

  @Test("X86: a wait does not end before its moment where the wall clock was set back")
  func clocksThatAreSetBack() throws {
    let clock = Mutex(WaitMomentTests.today)
    let run = try RunHarness(
      WaitMomentTests.workflow(until: WaitMomentTests.today + 90_000_000_000),
      configuring: { $0.wallClock = { WallTime(nanoseconds: clock.withLock { $0 }) } })
    run.time.advance(by: .seconds(3600))
    #expect(run.states.first == "w: waiting")
    clock.withLock { $0 += 90_000_000_000 }
    run.time.advance(by: .seconds(60))
    #expect(run.states.first == "w: success")
  }
}

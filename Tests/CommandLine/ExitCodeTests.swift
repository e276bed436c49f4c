import Testing
import Weft

@testable import WeftCLI
@testable import WeftEvents
@testable import WeftExecution
@testable import WeftPlatform

struct ExitCodeTests {
  @Test(
    arguments: [
      (ExitCode.success, 0), (.failure, 1), (.usage, 2), (.rejected, 3), (.broken, 4),
      (.timedOut, 124), (.signal(2), 130), (.signal(15), 143), (.signal(1), 129),
    ] as [(ExitCode, Int32)])
  func theNumbersAreThoseOfTheManual(code: ExitCode, status: Int32) {
    #expect(code.status == status)
  }

  @Test(
    arguments: [
      (Outcome.success, nil, .success), (.failure, nil, .failure),
      (.cancelled, .runTimeout(.seconds(1)), .timedOut),
      (.failure, .runTimeout(.seconds(1)), .timedOut),
      (.cancelled, .signal("INT"), .signal(2)), (.cancelled, .signal("TERM"), .signal(15)),
      (.success, .signal("HUP"), .signal(1)), (.cancelled, .requested, .signal(2)),
      (.cancelled, .filesChanged, .signal(2)),
    ] as [(Outcome, CancelReason?, ExitCode)])
  func aRunEndsWithTheCodeOfWhatEndedIt(
    outcome: Outcome, reason: CancelReason?, code: ExitCode
  ) {
    let end = RunEnd.having(outcome, cancellation: reason)
    #expect(ExitCode(of: end, keptPromises: true) == code)
  }

  @Test func aRejectedSuccessIsAFailure() {
    let end = RunEnd.having(.success, tolerated: 1)
    #expect(ExitCode(of: end, keptPromises: true) == .success)
    #expect(ExitCode(of: end, isRejected: true, keptPromises: true) == .failure)
  }

  @Test("a broken promise is told unless a signal ended the run")
  func brokenPromiseIsReportedUnlessASignalEndedTheRun() {
    for outcome in Outcome.allCases {
      let end = RunEnd.having(outcome)
      #expect(ExitCode(of: end, keptPromises: false) == .broken)
    }
    let interrupted = RunEnd.having(.cancelled, cancellation: .signal("INT"))
    #expect(ExitCode(of: interrupted, keptPromises: false) == .signal(2))
  }
}

extension ExitCodeTests {
  @Test("K14: what cannot be killed makes a run exit 4, a signal or not")
  func unkillableProcessesDecideTheExitCode() {
    for reason in [nil, CancelReason.signal("INT"), .runTimeout(.seconds(1))] {
      let end = RunEnd.having(.cancelled, cancellation: reason, unkillable: [7])
      #expect(ExitCode(of: end, keptPromises: true) == .broken)
    }
  }
}

extension RunEnd {
  fileprivate static func having(
    _ outcome: Outcome, cancellation: CancelReason? = nil, tolerated: Int = 0,
    unkillable: [Int32] = []
  ) -> RunEnd {
    var counts = OutcomeCounts()
    counts.tolerated = tolerated
    return RunEnd(
      outcome: outcome, firstFailure: nil, cancellation: cancellation, duration: .seconds(1),
      counts: counts,
      unkillable: unkillable.map { LeftoverProcess(process: $0, command: "x") })
  }
}

struct InterruptionsTests {
  @Test("K15, K16: first cancels, second kills, third and every later one leaves")
  func firstCancelsSecondKillsThirdLeaves() {
    var interruptions = Interruptions()
    #expect(
      (1...4).map { interruptions.next(.interrupt, at: .seconds($0)) }
        == [.cancel, .kill, .leave, .leave])
  }

  @Test("a signal that is sent twice is one request, unless it is a stronger one")
  func repetitionsAreOneRequest() {
    var interruptions = Interruptions()
    let sent: [(Signal, Duration)] = [
      (.terminate, .zero), (.terminate, .milliseconds(1)), (.hangup, .milliseconds(99)),
      (.terminate, .milliseconds(100)), (.interrupt, .milliseconds(199)),
      (.interrupt, .milliseconds(200)),
    ]
    #expect(
      sent.map { interruptions.next($0.0, at: $0.1) } == [.cancel, nil, nil, .kill, nil, .leave])
    interruptions = Interruptions()
    #expect(
      [Signal.interrupt, .quit, .quit].map { interruptions.next($0, at: .zero) }
        == [.cancel, .kill, nil])
  }

  @Test("QUIT kills at once", arguments: [0, 1])
  func quitIsNotGraceful(signalsBefore: Int) {
    var interruptions = Interruptions()
    for _ in 0..<signalsBefore { _ = interruptions.next(.interrupt, at: .zero) }
    #expect((1...2).map { interruptions.next(.quit, at: .seconds($0)) } == [.kill, .leave])
  }

  @Test func firstSignalAfterTheRunExits() {
    var interruptions = Interruptions()
    interruptions.runIsOver = true
    #expect(
      (1...3).map { interruptions.next(.interrupt, at: .seconds($0)) }
        == [.leaveOnceClosed, .leaveOnceClosed, .leave])
  }
}

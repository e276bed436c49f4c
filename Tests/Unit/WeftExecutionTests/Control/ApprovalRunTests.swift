import Synchronization
import Testing
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Steps that wait for an approval: by an approver of this process, by a control request, or by neither.
@Suite struct ApprovalRunTests {
  private static let workflow = Workflow(steps: [
    Step(id: "ask", action: .approve(Approval(message: "go on?"))), Step("after", run: ["x"]),
  ])

  @Test func anAnswerFromElsewhereIsAsGoodAsOneFromHere() throws {
    let person = SilentPerson()
    let run = try RunHarness(
      ApprovalRunTests.workflow, configuring: { $0.resources.approver = person })
    #expect(
      run.newEvents() == [
        "run started", "ask queued", "ask started", "ask asks go on?",
      ])
    run.run.answer(StepAddress("ask"), .approved(by: "me"))
    #expect(person.wasLetGo)
    #expect(run.newEvents() == ["ask success", "after queued", "after started"])
  }

  @Test func rejectionFromElsewhereFailsTheStep() throws {
    let run = try RunHarness(
      ApprovalRunTests.workflow, configuring: { $0.resources.approver = SilentPerson() })
    run.run.answer(StepAddress("ask"), .rejected)
    #expect(run.states == ["ask: failure", "after: skipped after ask"])
  }

  @Test("the computed time limit of an approval passes, and its computed allowFailure counts")
  func computedKeysOfApprovalsCount() throws {
    var ask = Step(id: "ask", action: .approve(Approval(message: "go on?")))
    ask.$timeout = .computed("${{ steps.a.outcome == 'success' && '5s' || '9s' }}", until: nil)
    ask.$allowFailure = .computed("${{ steps.a.outcome == 'success' }}", until: .none)
    let workflow = Workflow(steps: [Step("a", run: ["a"]), ask, Step("after", run: ["x"])])
    let run = try RunHarness(
      workflow, configuring: { $0.resources.approver = SilentPerson() })
    run.executor.exit("a")
    run.time.advance(by: .seconds(4))
    #expect(run.states == ["a: success", "ask: asking", "after: pending"])
    run.time.advance(by: .seconds(1))
    #expect(run.states == ["a: success", "ask: failure tolerated", "after: running"])
  }

  @Test("the approver of a step is kept whose outputs cannot be computed")
  func approverOfFailedOutputsIsKept() throws {
    let outputs = [OutputDeclaration("wrong", value: "${{ fromJSON(self.outcome) }}")]
    let ask = Step(id: "ask", action: .approve(Approval(message: "go on?")), outputs: outputs)
    let run = try RunHarness(
      Workflow(steps: [ask]), configuring: { $0.resources.approver = SilentPerson() })
    run.run.answer(StepAddress("ask"), .approved(by: "me"))
    guard case .finished(let end)? = run.run.report.steps.first?.state else {
      Issue.record("it has not ended")
      return
    }
    #expect(end.failure?.classes == [.output])
    #expect(end.approvedBy == "me")
  }

  @Test("X35: an answer that is older than the question does not count")
  func olderAnswersDoNotCount() throws {
    let inbox = MemoryInbox([.approve(StepAddress("ask"))])
    let run = try RunHarness(
      ApprovalRunTests.workflow,
      configuring: {
        $0.journal.inbox = inbox
        $0.resources.approver = SilentPerson()
      })
    #expect(run.states == ["ask: asking", "after: pending"])
    inbox.leave(.approve(StepAddress("ask")))
    run.time.advance(by: .seconds(1))
    #expect(run.states == ["ask: success", "after: running"])
    // The answer is removed once the end of the step is recorded, and so is one that came too late.
    #expect(inbox.requests.isEmpty)
  }

  @Test("of two answers to a question the later counts")
  func theLaterAnswerCounts() throws {
    let inbox = MemoryInbox([])
    let run = try RunHarness(
      ApprovalRunTests.workflow,
      configuring: {
        $0.journal.inbox = inbox
        $0.resources.approver = SilentPerson()
      })
    inbox.leave(.approve(StepAddress("ask")))
    inbox.leave(.reject(StepAddress("ask")))
    run.time.advance(by: .seconds(1))
    #expect(run.states == ["ask: failure", "after: skipped after ask"])
  }

  @Test("X35: an answer that an earlier engine was waiting for counts when the run goes on")
  func answersToAnEarlierEngineCount() throws {
    var recorded = RunState()
    let kinds: [RunRecord.Kind] = [
      .opened(RecordOpening(run: RunID("20261121-151337-4f2a9c"))),
      .event(.stepStarted(StepAddress("ask"), attempt: 1)),
      .event(.stepAsking(StepAddress("ask"), message: "go on?")),
    ]
    for (index, kind) in kinds.enumerated() {
      recorded.apply(
        RunRecord(number: UInt64(index + 1), at: WallTime(nanoseconds: 1_795_274_017), kind))
    }
    let inbox = MemoryInbox([.approve(StepAddress("ask"))])
    let run = try RunHarness(
      ApprovalRunTests.workflow,
      configuring: {
        $0.journal.recorded = recorded
        $0.journal.inbox = inbox
        $0.journal.suspendsWhileWaiting = true
      })
    #expect(run.states == ["ask: success", "after: running"])
  }

  @Test("an approver is not asked once the time to answer is over", arguments: [true, false])
  func nobodyIsAskedTooLate(isTooLate: Bool) throws {
    var recorded = RunState()
    let (ask, now) = (StepAddress("ask"), WallTime(nanoseconds: 1_795_274_017_000_000_000))
    let end = now.advanced(by: isTooLate ? .seconds(-60) : .seconds(60))
    let kinds: [RunRecord.Kind] = [
      .opened(RecordOpening(run: RunID("20261121-151337-4f2a9c"))),
      .event(.stepStarted(ask, attempt: 1)), .event(.stepAsking(ask, message: "go on?")),
      .waiting(ask, until: end),
    ]
    for (index, kind) in kinds.enumerated() {
      recorded.apply(
        RunRecord(number: UInt64(index + 1), at: now.advanced(by: .seconds(-3600)), kind))
    }
    var step = Step(id: "ask", action: .approve(Approval(message: "go on?")))
    step.timeout = .seconds(3600)
    let workflow = Workflow(steps: [step, Step("after", run: ["x"])])
    let run = try RunHarness(
      workflow,
      configuring: {
        $0.journal.recorded = recorded
        $0.resources.approver = QuickPerson()
        $0.wallClock = { now }
      })
    run.time.advance(by: .seconds(1))
    #expect(
      run.states
        == (isTooLate
          ? ["ask: failure", "after: skipped after ask"] : ["ask: success", "after: running"]))
  }

  @Test func anAnswerIsForOneQuestion() throws {
    let ask = Step(id: "ask", action: .approve(Approval(message: "go on?")))
    let group = Step("again", steps: [ask, Step("fails", run: ["x"])])
      .retry(RetryPolicy(max: 1, delay: .zero))
    let run = try RunHarness(
      Workflow(steps: [group]), configuring: { $0.resources.approver = SilentPerson() })
    run.run.answer(StepAddress("ask"), .approved(by: "me"))
    // A second approval of the same step arrives a moment later.
    run.run.answer(StepAddress("ask"), .approved(by: "me"))
    run.executor.exit("fails", code: 1)
    run.time.advance(by: .seconds(1))
    #expect(run.states == ["ask: asking", "fails: failure"])
  }

  @Test func approvalFailsWithoutApproverAndRecord() throws {
    let run = try RunHarness(ApprovalRunTests.workflow)
    #expect(run.states == ["ask: failure", "after: skipped after ask"])
  }

  @Test func runIsSuspendedOnceIdle() throws {
    let workflow = Workflow(parallel: [
      Step(id: "ask", action: .approve(Approval(message: "go on?"))), Step("busy", run: ["x"]),
      Step("after", run: ["y"], needs: ["ask"]),
    ])
    let run = try RunHarness(workflow, configuring: { $0.journal.suspendsWhileWaiting = true })
    run.time.advance(by: .seconds(60))
    #expect(!run.newEvents().contains { $0.hasPrefix("run waits") })
    run.executor.exit("busy")
    run.time.advance(by: .seconds(5))
    #expect(run.newEvents() == ["busy success", "run waits for ask"])
    #expect(run.states == ["ask: asking", "busy: success", "after: pending"])
    #expect(run.run.completion.isSettled)
    #expect(run.run.report.end == nil)
  }

  @Test func timedWaitKeepsTheRunFromSuspending() throws {
    let workflow = Workflow(parallel: [
      Step(id: "ask", action: .approve(Approval(message: "go on?"))),
      Step(id: "pause", action: .wait(.duration(.seconds(30)))),
    ])
    let run = try RunHarness(workflow, configuring: { $0.journal.suspendsWhileWaiting = true })
    run.time.advance(by: .seconds(29))
    #expect(!run.run.completion.isSettled)
    run.time.advance(by: .seconds(9))
    #expect(run.run.report.pause?.requests.map(\.step) == [StepAddress("ask")])
  }

  @Test func suspendedRunSkipsItsFinally() throws {
    var workflow = ApprovalRunTests.workflow
    workflow.finally = [Step("last", run: ["z"])]
    let run = try RunHarness(workflow, configuring: { $0.journal.suspendsWhileWaiting = true })
    run.time.advance(by: .seconds(5))
    #expect(run.newEvents().last == "run waits for ask")
    #expect(run.running == [])
  }

  @Test func aRunThatIsBeingEndedIsNotLeft() throws {
    var ask = Step(id: "ask", action: .approve(Approval(message: "go on?")))
    ask = ask.if("always()")
    let workflow = Workflow(steps: [Step("busy", run: ["x"]), ask])
    let run = try RunHarness(workflow, configuring: { $0.journal.suspendsWhileWaiting = true })
    run.run.cancel(.signal("INT"))
    run.executor.end("busy", .stopped(.signal("TERM")))
    run.time.advance(by: .seconds(3))
    #expect(run.states == ["busy: cancelled", "ask: failure"])
    #expect(run.newEvents().last == "run finished: cancelled")
  }

  @Test("an answer given in time counts although another thread has just taken it from the inbox")
  func theTimerThreadMayTakeTheAnswer() async throws {
    let (ask, moment) = (StepAddress("ask"), WallTime(nanoseconds: 1_795_274_017_000_000_000))
    let kinds: [RunRecord.Kind] = [
      .opened(RecordOpening(run: RunID("20261121-151337-4f2a9c"))),
      .event(.stepStarted(ask, attempt: 1)), .event(.stepAsking(ask, message: "go on?")),
      .waiting(ask, until: moment.advanced(by: .seconds(1))),
    ]
    var recorded = RunState()
    for (index, kind) in kinds.enumerated() {
      recorded.apply(RunRecord(number: UInt64(index + 1), at: moment, kind))
    }
    var step = Step(id: "ask", action: .approve(Approval(message: "go on?")))
    step.timeout = .seconds(1)
    let plan = try #require(Planner.plan(Workflow(steps: [step])).plan)
    for _ in 1...100 {
      let inbox = MemoryInbox()
      inbox.leave(.approve(ask), at: moment)
      var configuration = EngineConfiguration()
      configuration.journal.recorded = recorded
      configuration.journal.inbox = SlowInbox(inbox: inbox)
      configuration.journal.suspendsWhileWaiting = true
      let (stop, other, ended) = (StopSwitch(), ThreadPool(limit: 1), Wakeup())
      let run = RunEngine.start(
        plan, configuration: configuration, executor: ScriptedExecutor(), time: Timers()
      ) { run in
        try? other.submit {
          while stop.level == .none { run.heedRequests() }
          ended.wake()
        }
      }
      stop.request(.now)
      ended.wait()
      #expect(await run.completion.value.end?.outcome == .success)
    }
  }

  @Test func aCancellationThatWasAskedForIsHeard() throws {
    let inbox = MemoryInbox([])
    let run = try RunHarness(
      ApprovalRunTests.workflow,
      configuring: { configuration in
        configuration.journal.inbox = inbox
        configuration.resources.approver = SilentPerson()
      })
    inbox.leave(.cancel)
    run.time.advance(by: .seconds(1))
    #expect(run.newEvents().last == "run finished: cancelled")
    #expect(inbox.requests.isEmpty)
  }
}

/// An approver that never answers, and returns when asked to.
final class SilentPerson: Approver {
  private let released = Mutex(false)

  var wasLetGo: Bool { released.withLock { $0 } }

  func ask(
    _ request: ApprovalRequest, stop: StopSwitch, reportAbsence: AbsenceReport?
  ) -> Future<ApprovalAnswer, Never> {
    let promise = Promise<ApprovalAnswer, Never>(ifDropped: .success(.rejected))
    stop.whenRequested { [self] in
      released.withLock { $0 = true }
      promise.succeed(.unanswered("let go"))
    }
    return promise.future
  }
}

/// An inbox that hands out requests some time after it has taken them.
private struct SlowInbox: ControlInbox {
  let inbox: MemoryInbox

  func take(answersTo steps: Set<StepAddress>) -> [ControlRequest] {
    let requests = inbox.take(answersTo: steps)
    if !requests.isEmpty { Wakeup().wait(atMost: .milliseconds(1)) }
    return requests
  }

  func discard(answersTo step: StepAddress) { inbox.discard(answersTo: step) }

  func discard(answersTo step: StepAddress, givenAfter moment: WallTime) {
    inbox.discard(answersTo: step, givenAfter: moment)
  }

  func close(after outcome: Outcome?) { inbox.close(after: outcome) }
}

/// An approver that approves at once.
private struct QuickPerson: Approver {
  func ask(
    _ request: ApprovalRequest, stop: StopSwitch, reportAbsence: AbsenceReport?
  ) -> Future<ApprovalAnswer, Never> {
    Future(value: .approved(by: "me"))
  }
}

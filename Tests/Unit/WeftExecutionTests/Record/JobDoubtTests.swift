import Testing
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// A step that was running when its engine was killed is in doubt, unless its program was a job and the step would be one
/// again: then the runner finds out how far it got.
@Suite struct JobDoubtTests {
  @Test(
    arguments: [
      (nil, "local", true), (nil, "slurm", true), (nil, "adopt", true),
      (.slurm, "local", true), (.slurm, "slurm", false), (.slurm, "adopt", false),
      (.local, "local", true), (.local, "slurm", false), (.local, "adopt", false),
    ] as [(JobKind?, String, Bool)])
  func onlyJobsAreRemembered(job: JobKind?, present: String, isInDoubt: Bool) throws {
    var step = Step("a", run: ["true"])
    step.settings.runner = present == "slurm" ? "slurm" : "local"
    if present == "adopt" { step.control.onInterrupted = .adopt }
    let plan = try #require(Planner.plan(Workflow(steps: [step])).plan)
    let address = StepAddress("a")
    var run = RunState()
    for (index, event) in [
      RunEvent.Kind.stepQueued(address), .stepStarted(address, attempt: 1, job: job),
    ].enumerated() {
      let kind = RunRecord.Kind.event(event)
      run.apply(RunRecord(number: UInt64(index + 1), at: WallTime(nanoseconds: 0), kind))
    }
    #expect(ResumePolicy(plan: plan, recorded: run).interrupted == (isInDoubt ? [address] : []))
  }

  private struct Cluster: StepExecutor {
    func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
      Future(value: AttemptEnd(.ended(.code(0))))
    }

    func jobKind(of step: PlannedStep) -> JobKind? { .slurm }
  }

  @Test func aStepThatFailsBecauseItIsInDoubtIsNoJob() throws {
    let plan = try #require(
      Planner.plan(Workflow(parallel: [Step("a", run: ["true"]), Step("b", run: ["true"])])).plan)
    var run = RunState()
    run.apply(
      RunRecord(
        number: 1, at: WallTime(nanoseconds: 0), .event(.stepStarted(StepAddress("a"), attempt: 1)))
    )
    var configuration = EngineConfiguration()
    configuration.journal.recorded = run
    configuration.onFailure = .continue
    let keeper = RecordKeeper()
    configuration.journal.recorder = keeper
    let engine = RunEngine.start(
      plan, configuration: configuration, executor: Cluster(), time: ManualTime())
    #expect(engine.report.end != nil)
    // An engine that is killed before it records the failure must not seem to have started a job.
    let jobs = keeper.kinds.compactMap { kind -> String? in
      guard case .event(.stepStarted(let step, _, let job), _) = kind else { return nil }
      return "\(step) \(job?.rawValue ?? "none")"
    }
    #expect(jobs == ["a none", "b slurm"])
  }
}

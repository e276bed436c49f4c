package import WeftDefinition
public import WeftEvents
package import WeftFutures
package import WeftJSON
package import WeftPlanning
package import WeftPlatform

/// Runs attempts of steps. Knows nothing of order, slots, failure policies or the graph.
package protocol StepExecutor: Sendable {
  /// Starts the attempt.
  ///
  /// - Returns: The end of the attempt. It settles when nothing of the attempt is left running, also after
  ///   `attempt.stop` was requested; a non-zero exit status is a result, not an error.
  func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never>

  /// Looks for the sign that a service is ready. Called before the attempt is executed.
  ///
  /// - Parameter stop: Ends the search.
  /// - Returns: Whether it is ready; `false` only after a stop was requested.
  func probe(
    _ attempt: Attempt, for service: Command.Service, stop: StopSwitch
  ) -> Future<Bool, Never>

  /// The scheduler that will keep the program of a step whatever becomes of the engine; `nil` for none.
  func jobKind(of step: PlannedStep) -> JobKind?

  /// The containment of the processes that attempts start; `nil` if they start none.
  var containment: WeftEvents.ContainmentLevel? { get }

  /// Terminates orphans of attempts. Called once, after the last attempt.
  ///
  /// - Parameter stop: Shortens the termination when requested.
  func finish(stop: StopSwitch) -> Future<RunOrphans, Never>
}

extension StepExecutor {
  package func probe(
    _ attempt: Attempt, for service: Command.Service, stop: StopSwitch
  ) -> Future<Bool, Never> {
    Future(value: true)
  }

  package func jobKind(of step: PlannedStep) -> JobKind? { nil }
  package var containment: WeftEvents.ContainmentLevel? { nil }
  package func finish(stop: StopSwitch) -> Future<RunOrphans, Never> { Future(value: RunOrphans()) }
}

/// Orphans of an attempt, or of a run after its last step has ended.
public struct RunOrphans: Sendable, Hashable {
  /// Those that were terminated.
  public package(set) var leftovers: [LeftoverProcess] = []
  /// Those that could not be killed.
  public package(set) var unkillable: [LeftoverProcess] = []

  package init(leftovers: [LeftoverProcess] = [], unkillable: [LeftoverProcess] = []) {
    self.leftovers = leftovers
    self.unkillable = unkillable
  }
}

/// One execution of a step.
package final class Attempt: Sendable {
  let task: StepTask
  /// The step, its expressions evaluated.
  package let resolved: ResolvedStep
  /// The file to which it writes its outputs; `nil` if none are expected.
  package let outputFile: String?
  /// The reason why the file cannot be created.
  package let obstacle: StepFailure?
  /// Asks the attempt to end; possibly requested already.
  package let stop = StopSwitch()
  /// The destination of its output.
  package let output: StepOutputSink
  private let run: RunEngine

  init(
    _ task: StepTask, of run: RunEngine, resolved: ResolvedStep, outputFile: String?,
    obstacle: StepFailure?, output: StepOutputSink
  ) {
    self.task = task
    self.run = run
    self.resolved = resolved
    self.outputFile = outputFile
    self.obstacle = obstacle
    self.output = output
  }

  /// The logs of the run, for a step that reads the log of another.
  package var logs: StepLogs { run.logs }
  /// The warnings of the run.
  package var warnings: RunWarnings { run.warnings }
  /// The run's slots, for a step that shares free ones with the tools it runs.
  var slots: Slots { run.slots }
  /// The secrets to mask.
  var secrets: RunSecrets { run.secrets }
  /// The evaluator for a request's expressions about its responses.
  var questions: ResponseEvaluator { run.questions(of: task) }

  /// The folder of the run's temporary files.
  var folder: OutputFolder { run.values.folder }

  /// Publishes the progress of the attempt, which must not have ended.
  func publish(_ progress: StepProgress) { run.events.publish(.stepProgress(address, progress)) }

  /// Must be called when the job of the attempt has left the queue of its cluster.
  ///
  /// - Parameter time: The time since its program began.
  func began(_ time: Duration) { run.reportBegin(of: task, since: time) }

  /// Must be called when it has taken over a job that an earlier engine began.
  func wasAdopted() { run.durations?.adopted(task) }

  /// Must be called as soon as there is a process.
  package func spawned(_ program: StartedProgram) {
    run.events.record(.spawned(address, attempt: number, program.identity))
  }

  /// Must be called when the attempt's program has ended and processes it left behind are to be kept.
  package func recordKeptProcesses() { run.events.record(.kept(address, attempt: number)) }

  /// Whether the step's `allowFailure` accepts a failure.
  package func tolerates(_ failure: StepFailure) -> Bool {
    resolved.allowFailure.tolerates(failure.classes)
  }

  /// Whether it repeats a request of the same attempt.
  package var isPollingAgain: Bool { task.polling != nil }
  package var step: PlannedStep { task.step }
  /// The address of the step's instance.
  package var address: StepAddress { task.address }
  /// The step's index in the plan.
  package var index: Int { task.index }
  /// The step's instance number, unique among those running at the same time.
  package var instanceNumber: Int { task.instanceNumber }
  /// Counts from 1.
  package var number: Int { task.attempt }
  var instance: Instance { task.instance }
}

/// The end of an attempt.
package struct AttemptEnd: Sendable, Hashable {
  package enum Status: Sendable, Hashable {
    /// It ended by itself.
    case ended(ProgramExit)
    /// Terminated after its time limit; without an exit if it had not started.
    indirect case timedOut(after: Duration, ProgramExit?)
    /// Terminated after it wrote nothing for this long; without an exit if it had not started.
    indirect case stalled(after: Duration, ProgramExit?)
    /// Ended after a stop request; `nil` if it had not started.
    case stopped(ProgramExit?)
    /// It could not start, or failed otherwise than by its exit.
    indirect case failed(StepFailure)
    /// It succeeded, but its outputs cannot be used.
    indirect case misdelivered(ProgramExit, StepFailure)
    /// An action has returned this.
    indirect case returned(JSONValue)
    /// A request got the expected response.
    case answered
    /// A request did not get the expected response yet: it is repeated after this, as part of the same attempt.
    case pollsAgain(after: Duration)
    /// It is rehearsed, and ends as in an earlier run.
    indirect case rehearsed(RehearsedEnd)
  }

  package var status: Status
  let boxedUsage: Boxed<WeftEvents.ResourceUsage>?
  private var boxedOrphans: Boxed<RunOrphans>?
  private var boxedRequest: Boxed<RequestTrace>?
  /// The host where it ran; `nil` for this machine and jobs.
  var host: String?

  /// Orphans: processes that were still alive after its program had ended, and were terminated.
  package var leftovers: [LeftoverProcess] { boxedOrphans?.value.leftovers ?? [] }
  /// Processes that are still alive because they could not be killed.
  package var unkillable: [LeftoverProcess] { boxedOrphans?.value.unkillable ?? [] }

  /// Whether it was an HTTP request.
  var isOfRequest: Bool { boxedRequest != nil }

  /// The trace of an HTTP request.
  package var request: RequestTrace? {
    get { boxedRequest?.value }
    set { boxedRequest = newValue.map(Boxed.holding) }
  }
}

extension AttemptEnd {
  package init(
    _ status: Status, usage: WeftEvents.ResourceUsage? = nil, leftovers: [LeftoverProcess] = [],
    unkillable: [LeftoverProcess] = []
  ) {
    let orphans = RunOrphans(leftovers: leftovers, unkillable: unkillable)
    // Uses the memberwise initialiser: see ``ResolvedStep``.
    self.init(
      status: status, boxedUsage: usage.map { .holding($0) },
      boxedOrphans: leftovers.isEmpty && unkillable.isEmpty ? nil : .holding(orphans),
      boxedRequest: nil)
  }
}

/// Asks an approver whether a step may proceed.
package protocol Approver: Sendable {
  /// - Parameters:
  ///   - stop: Ends the request without an answer.
  ///   - reportAbsence: To be called with true while no person can be asked, and with false once one can again. `nil` if
  ///     the run cannot be suspended for that long: the request ends with `.unanswered` then.
  /// - Returns: The answer. It settles once no approver is being asked any more, and soon after a stop was
  ///   requested: the step and the run wait for that.
  func ask(_ request: ApprovalRequest, stop: StopSwitch, reportAbsence: AbsenceReport?) -> Future<
    ApprovalAnswer, Never
  >
}

package typealias AbsenceReport = @Sendable (_ isAbsent: Bool) -> Void

/// The result of an approval request.
package enum ApprovalAnswer: Sendable, Hashable {
  /// Approved by this approver, in words.
  case approved(by: String)
  case rejected
  /// No approver could be asked, for this reason: a clause without subject.
  case unanswered(String)
}

/// Lends the program's terminal to steps that need it, one at a time.
package protocol TerminalAccess: Sendable {
  /// Waits until no other step has the terminal and nothing else writes to it.
  ///
  /// - Throws: The reason why the step does not get it; `.stopped` if that was requested meanwhile. There is no
  ///   loan to give back then.
  func borrow(stop: StopSwitch) throws(SpawnError) -> TerminalLoan

  /// Returns the terminal after the program has ended or failed to start.
  func giveBack(_ loan: TerminalLoan)
}

extension CommandExecutor {
  /// Waits for the terminal and runs the program there; its output is not captured.
  func runAtTerminal(
    _ program: ChildProgram, for attempt: Attempt, started: (StartedProgram) -> Void
  ) throws(SpawnError) -> ProgramEnd {
    guard let terminal else { throw .terminalUnavailable(.notOffered) }
    let loan = try terminal.borrow(stop: attempt.stop)
    defer { terminal.giveBack(loan) }
    var program = program
    program.terminal = loan
    return try program.run(stop: attempt.stop, started: started, output: attempt.output)
  }
}

import WeftDefinition
package import WeftFutures
package import WeftJSON
package import WeftPlanning
package import WeftPlatform

/// Runs attempts of steps. Knows nothing of order, slots, failure policies or the graph.
package protocol StepExecutor: Sendable {
  /// Begins the attempt.
  ///
  /// - Returns: What came of it. It settles when nothing of the attempt is left behind, also after
  ///   `attempt.stop` was asked for; a non-zero exit status is a result and not an error.
  func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never>

  /// How surely it finds again what attempts start; `nil` where they start nothing.
  var containment: ContainmentLevel? { get }

  /// Ends what outlived its attempt. Called once, after the last of them.
  ///
  /// - Parameter stop: Asks for more haste.
  func finish(stop: StopSwitch) -> Future<Remains, Never>
}

extension StepExecutor {
  package var containment: ContainmentLevel? { nil }
  package func finish(stop: StopSwitch) -> Future<Remains, Never> { Future(value: Remains()) }
}

/// What was left of a run when its last step had ended.
package struct Remains: Sendable, Hashable {
  /// What has been ended now.
  package var leftovers: [LeftoverProcess] = []
  /// What could not be.
  package var unkillable: [LeftoverProcess] = []

  package init() {}
}

/// One go at running a step.
package final class Attempt: Sendable {
  let task: StepTask
  /// What it does, without expressions.
  package let resolved: ResolvedStep
  /// The file into which it writes what it hands on; `nil` where nothing is expected there.
  let outputFile: String?
  /// Why it cannot be made.
  let obstacle: StepFailure?
  /// Asks the attempt to end; it may have been asked for already.
  package let stop = StopSwitch()
  /// Where its output goes.
  package let output: StepOutputSink
  private let run: LiveRun

  init(
    _ task: StepTask, of run: LiveRun, resolved: ResolvedStep, outputFile: String?,
    obstacle: StepFailure?, output: StepOutputSink
  ) {
    self.task = task
    self.run = run
    self.resolved = resolved
    self.outputFile = outputFile
    self.obstacle = obstacle
    self.output = output
  }

  /// What steps have written so far, for one that reads the log of another.
  package var logs: StepLogs { run.logs }
  /// Where the attempt tells what the run goes on in spite of.
  package var warnings: RunWarnings { run.warnings }
  /// For a step that shares the run's free slots with the tools that it runs.
  var slots: Slots { run.slots }
  /// What is not to be told.
  var secrets: RunSecrets { run.secrets }
  /// What a request's own expressions say of its answers.
  var questions: AnswerQuestions { run.questions(of: task) }

  /// To be called as soon as there is a process.
  package func spawned(_ program: StartedProgram) {
    run.events.note(.spawned(address, attempt: number, program.identity))
  }

  /// To be called when the attempt's program has ended and what it left alive is to stay.
  package func leftSomething() { run.events.note(.kept(address, attempt: number)) }

  package var step: PlannedStep { task.step }
  /// What the step is called this time.
  package var address: StepAddress { task.address }
  /// The step's index in the plan.
  package var index: Int { task.index }
  /// The step's number in the run, which no other has at the same time.
  package var instance: Int { task.instance }
  /// Counts from 1.
  package var number: Int { task.attempt }
  var frame: Frame { task.frame }
}

/// What came of an attempt.
package struct AttemptEnd: Sendable, Hashable {
  package enum Status: Sendable, Hashable {
    /// It ended by itself.
    case ended(ProgramExit)
    /// Its time limit passed, and it was ended; without an exit if it had not started.
    indirect case timedOut(after: Duration, ProgramExit?)
    /// It wrote nothing for so long, and was ended; without an exit if it had not started.
    indirect case stalled(after: Duration, ProgramExit?)
    /// It was asked to stop, and ended; `nil` if it had not started.
    case stopped(ProgramExit?)
    /// It could not start, or failed in another way than by its exit.
    indirect case failed(StepFailure)
    /// It ended well, and what it hands on cannot be used.
    indirect case misdelivered(ProgramExit, StepFailure)
    /// It was no program but an action, and returned this.
    indirect case returned(JSONValue)
    /// It was a request, and the answer is what it was to be.
    case answered
    /// It was a request, and the answer is not yet what it is to be: the same is asked again after this, as a
    /// part of the same attempt.
    case asksAgain(after: Duration)
  }

  package var status: Status
  let boxedUsage: Boxed<ResourceUsage>?
  private var boxedSurvivors: Boxed<Survivors>?
  private var boxedRequest: Boxed<RequestTrace>?

  private struct Survivors: Sendable, Hashable {
    var leftovers: [LeftoverProcess] = []
    var unkillable: [LeftoverProcess] = []
  }

  /// Processes that were still alive after its program had ended, and were ended.
  package var leftovers: [LeftoverProcess] { boxedSurvivors?.value.leftovers ?? [] }
  /// Those that are still alive: they could not be killed.
  package var unkillable: [LeftoverProcess] { boxedSurvivors?.value.unkillable ?? [] }

  /// What the kernel counted for the program and all its waited-for children; `nil` if there was none.
  package var usage: ResourceUsage? { boxedUsage?.value }

  /// Whether it was a request.
  var isOfRequest: Bool { boxedRequest != nil }

  /// Of a request.
  package var request: RequestTrace? {
    get { boxedRequest?.value }
    set { boxedRequest = newValue.map(Boxed.holding) }
  }
}

extension AttemptEnd {
  package init(
    _ status: Status, usage: ResourceUsage? = nil, leftovers: [LeftoverProcess] = [],
    unkillable: [LeftoverProcess] = []
  ) {
    let isClean = leftovers.isEmpty && unkillable.isEmpty
    // By the initialiser of all members: see ``ResolvedStep``.
    self.init(
      status: status, boxedUsage: usage.map { .holding($0) },
      boxedSurvivors: isClean
        ? nil : .holding(Survivors(leftovers: leftovers, unkillable: unkillable)),
      boxedRequest: nil)
  }
}

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
  /// What steps have written so far, for one that reads the log of another.
  package let logs: StepLogs
  /// Where the attempt tells what the run goes on in spite of.
  package let warnings: RunWarnings
  /// To be called as soon as there is a process.
  package let spawned: @Sendable (StartedProgram) -> Void
  /// What a request's own expressions say of its answers; `nil` of all that sends none.
  let questions: AnswerQuestions?
  /// For a step that shares the run's free slots with the tools that it runs.
  let slots: Slots

  init(
    _ task: StepTask, resolved: ResolvedStep, outputFile: String?, obstacle: StepFailure?,
    output: StepOutputSink, logs: StepLogs, warnings: RunWarnings, slots: Slots,
    questions: AnswerQuestions? = nil, spawned: @escaping @Sendable (StartedProgram) -> Void
  ) {
    self.task = task
    self.resolved = resolved
    self.outputFile = outputFile
    self.obstacle = obstacle
    self.output = output
    self.logs = logs
    self.warnings = warnings
    self.slots = slots
    self.questions = questions
    self.spawned = spawned
  }

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
    case timedOut(after: Duration, ProgramExit?)
    /// It wrote nothing for so long, and was ended; without an exit if it had not started.
    case stalled(after: Duration, ProgramExit?)
    /// It was asked to stop, and ended; `nil` if it had not started.
    case stopped(ProgramExit?)
    /// It could not start, or failed in another way than by its exit.
    case failed(StepFailure)
    /// It ended well, and what it hands on cannot be used.
    case misdelivered(ProgramExit, StepFailure)
    /// It was no program but an action, and returned this.
    case returned(JSONValue)
    /// It was a request, and the answer is what it was to be.
    case answered
    /// It was a request, and the answer is not yet what it is to be: the same is asked again after this, as a
    /// part of the same attempt.
    case asksAgain(after: Duration)
  }

  package var status: Status
  package var usage: ResourceUsage?
  package var leftovers: [LeftoverProcess]
  package var unkillable: [LeftoverProcess]
  private var boxedRequest: Boxed<RequestTrace>?

  /// Of a request.
  package var request: RequestTrace? {
    get { boxedRequest?.value }
    set { boxedRequest = newValue.map(Boxed.holding) }
  }

  package init(
    _ status: Status, usage: ResourceUsage? = nil, leftovers: [LeftoverProcess] = [],
    unkillable: [LeftoverProcess] = []
  ) {
    self.status = status
    self.usage = usage
    self.leftovers = leftovers
    self.unkillable = unkillable
  }
}

public import WeftDefinition
public import WeftJSON
public import WeftPlanning

/// The result of a step, a group or a run. A step has two: its outcome is what happened, its conclusion is what
/// that counts as; they differ if a failure is tolerated.
public enum Outcome: String, Sendable, Hashable, CaseIterable {
  case success
  case failure
  case cancelled
  case skipped
}

/// The reason why a step never started.
public enum SkipReason: Sendable, Hashable {
  /// This dependency did not succeed.
  case dependencyFailed(StepAddress)
  /// Nothing new starts after this step or group failed (`onFailure`: `stop` or `cancel`).
  case heldBack(by: StepAddress)
  /// The run, or a group that contains the step, was being cancelled.
  case cancelled(CancelReason)
  /// The `if` of the step or of this enclosing group was not true. Its dependents are not blocked.
  case condition(of: StepAddress)
  /// It was not selected (`--only`, `--skip`, `--from`). Its dependents are not blocked.
  case notSelected

  public var outcome: Outcome {
    if case .cancelled = self { .cancelled } else { .skipped }
  }

  /// Whether it blocks its dependents.
  var holdsBack: Bool {
    switch self {
    case .condition, .notSelected: false
    case .dependencyFailed, .heldBack, .cancelled: true
    }
  }
}

/// The reason why something was cancelled, before its start or after.
public enum CancelReason: Sendable, Hashable {
  /// The embedding program cancelled the run.
  case requested
  /// The engine received this signal, named without `SIG`.
  case signal(String)
  /// The workflow's own time limit passed.
  case runTimeout(Duration)
  /// The time limit of this group passed.
  case groupTimeout(StepAddress, Duration)
  /// This step or group failed, and `onFailure` is `cancel`.
  case failure(of: StepAddress)
  /// Another member won the race of this group.
  case raceWon(StepAddress, by: StepAddress)
  /// The number of successes that this group waits for has been reached.
  case joined(StepAddress)
  /// The journal could not be written: nothing new starts, and running steps finish.
  case recordLost
}

/// The reason why a step or a group failed.
public struct StepFailure: Error, Sendable, Hashable {
  /// The error classes, narrowest first: `exit:3`, `exit`.
  public let classes: [ErrorClass]
  /// The failure as a clause without subject: `exited with code 3`.
  public let message: String
  /// The suggested remedy.
  public let help: String?

  package init(classes: [ErrorClass], message: String, help: String? = nil) {
    self.classes = classes
    self.message = message
    self.help = help
  }
}

/// An attempt that failed and is followed by another.
public struct Retry: Sendable, Hashable {
  /// The attempt that failed; counts from 1.
  public let attempt: Int
  /// The maximum number of attempts.
  public let attemptLimit: Int
  public internal(set) var failure: StepFailure
  /// The exit of its program; `nil` for a group, and if the program could not be started.
  public let exit: ProgramExit?
  /// From the attempt's start to its end.
  public let duration: Duration
  /// The backoff before the next attempt is queued. Waiting for a slot comes after that.
  public let delay: Duration
  public let usage: ResourceUsage?

  package init(
    attempt: Int, of attemptLimit: Int, failure: StepFailure, exit: ProgramExit?,
    duration: Duration, delay: Duration, usage: ResourceUsage? = nil
  ) {
    self.attempt = attempt
    self.attemptLimit = attemptLimit
    self.failure = failure
    self.exit = exit
    self.duration = duration
    self.delay = delay
    self.usage = usage
  }
}

/// The start of a group or a loop.
public struct GroupStart: Sendable, Hashable {
  /// Counts from 1.
  public let attempt: Int
  /// The number of elements; `nil` for a group that is not a loop.
  public let elements: Int?
  /// Whether it succeeded under a previous engine: none of its steps runs again.
  public let isRestored: Bool

  package init(attempt: Int = 1, elements: Int? = nil, isRestored: Bool = false) {
    self.attempt = attempt
    self.elements = elements
    self.isRestored = isRestored
  }
}

/// An output of a step, a group or a run.
public struct HandedOn: Sendable, Hashable {
  public let name: String
  /// `nil` for a secret output, whose value is never reported.
  public let value: JSONValue?

  package init(name: String, value: JSONValue?) {
    self.name = name
    self.value = value
  }
}

/// The way a program ended, by itself or terminated.
public enum ProgramExit: Sendable, Hashable {
  case code(Int)
  /// A signal, named without `SIG`.
  case signal(String)
}

/// An orphan: a process that outlived its step's program.
public struct LeftoverProcess: Sendable, Hashable {
  public let process: Int32
  /// Its command line, or its name in brackets.
  public let command: String

  package init(process: Int32, command: String) {
    self.process = process
    self.command = command
  }
}

/// The resources that a program used, as counted by the kernel (`getrusage(2)`).
public struct ResourceUsage: Sendable, Hashable {
  public let userTime: Duration
  public let systemTime: Duration
  public let minorFaults: Int
  public let majorFaults: Int
  public let voluntarySwitches: Int
  public let involuntarySwitches: Int
  /// The peak memory of the program or its largest child; `nil` if that is no more than the engine's own
  /// memory, which the kernel includes (`ru_maxrss`).
  public let peakMemoryBytes: Int?

  package init(
    userTime: Duration, systemTime: Duration, minorFaults: Int, majorFaults: Int,
    voluntarySwitches: Int, involuntarySwitches: Int, peakMemoryBytes: Int? = nil
  ) {
    self.userTime = userTime
    self.systemTime = systemTime
    self.minorFaults = minorFaults
    self.majorFaults = majorFaults
    self.voluntarySwitches = voluntarySwitches
    self.involuntarySwitches = involuntarySwitches
    self.peakMemoryBytes = peakMemoryBytes
  }
}

/// Elements of a loop that never started because the loop ended before; they have no events of their own.
public struct ElementsNotStarted: Sendable, Hashable {
  public let elements: Int
  /// The number of steps that the workflow has in them, without cleanup steps.
  public let steps: Int
  /// The outcome of these steps: `cancelled` or `skipped`.
  public let outcome: Outcome

  package init(elements: Int, steps: Int, outcome: Outcome) {
    self.elements = elements
    self.steps = steps
    self.outcome = outcome
  }
}

/// The end of a group that started.
public struct GroupEnd: Sendable, Hashable {
  public let outcome: Outcome
  /// `success` for a tolerated failure, else the outcome.
  public let conclusion: Outcome
  /// The cause of the failure: the group's own time limit, or its first failed member.
  public internal(set) var failure: StepFailure?
  /// The member that caused the failure; `nil` if the group failed by itself, or did not fail.
  public let cause: StepAddress?
  /// The number of attempts.
  public let attempts: Int
  /// The member that won a race.
  public let winner: StepAddress?
  /// Elements of a loop that never started; `nil` if all did, and for a group that is not a loop.
  public let notStarted: ElementsNotStarted?
  public let duration: Duration
  /// The outputs of the group.
  public internal(set) var outputs: [HandedOn]

  package init(
    outcome: Outcome, conclusion: Outcome, failure: StepFailure?, cause: StepAddress?,
    attempts: Int = 1, winner: StepAddress? = nil, notStarted: ElementsNotStarted? = nil,
    duration: Duration, outputs: [HandedOn] = []
  ) {
    self.outcome = outcome
    self.conclusion = conclusion
    self.failure = failure
    self.cause = cause
    self.attempts = attempts
    self.winner = winner
    self.notStarted = notStarted
    self.duration = duration
    self.outputs = outputs
  }
}

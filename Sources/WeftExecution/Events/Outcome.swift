public import WeftDefinition
public import WeftJSON
public import WeftPlanning

/// What happened to a step, a group or a run. Of a step there are two: its outcome is what happened,
/// its conclusion what that counts as; they differ when a failure is tolerated.
public enum Outcome: String, Sendable, Hashable, CaseIterable {
  case success
  case failure
  case cancelled
  case skipped
}

/// Why a step never started.
public enum SkipReason: Sendable, Hashable {
  /// Something it needs did not succeed: that step or group.
  case dependencyFailed(StepAddress)
  /// Nothing new starts after this step or group failed (`onFailure`: `stop` or `cancel`).
  case heldBack(by: StepAddress)
  /// The run, or the group around it, was being cancelled.
  case cancelled(CancelReason)
  /// Its `if`, or that of this group around it, was not true. It holds nothing back that waits for it.
  case condition(of: StepAddress)
  /// It was not asked for (`--only`, `--skip`, `--from`). It holds nothing back either.
  case notSelected

  public var outcome: Outcome {
    if case .cancelled = self { .cancelled } else { .skipped }
  }

  /// Whether those who wait for it go on as if it had succeeded.
  var holdsBack: Bool {
    switch self {
    case .condition, .notSelected: false
    case .dependencyFailed, .heldBack, .cancelled: true
    }
  }
}

/// Why something that ran, or would have run, was ended.
public enum CancelReason: Sendable, Hashable {
  /// The embedding program asked for it.
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
  /// So many members of this group have succeeded as it waits for.
  case joined(StepAddress)
  /// The record of the run could not be written: nothing new starts, and what runs goes on to its end.
  case recordLost
}

/// Why a step or a group failed.
public struct StepFailure: Error, Sendable, Hashable {
  /// What kind of failure it is, the narrowest name first: `exit:3`, `exit`.
  public let classes: [ErrorClass]
  /// What happened, in a sentence without its subject: `exited with code 3`.
  public let message: String
  /// What to do about it.
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
  /// How many attempts there are at most, should all of them fail.
  public let attemptLimit: Int
  public internal(set) var failure: StepFailure
  /// How its program ended; `nil` of a group, and if it could not be started.
  public let exit: ProgramExit?
  /// From the attempt's start to its end.
  public let duration: Duration
  /// How long it is until the next attempt is made ready. Waiting for a slot comes after that.
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

/// How a group, or what is run for many elements, begins.
public struct GroupStart: Sendable, Hashable {
  /// Counts from 1.
  public let attempt: Int
  /// For how many elements; `nil` of a group that is run as it is.
  public let elements: Int?
  /// Whether it has ended well in an earlier part of a run that is gone on with: nothing in it is done again.
  public let isRestored: Bool

  package init(attempt: Int = 1, elements: Int? = nil, isRestored: Bool = false) {
    self.attempt = attempt
    self.elements = elements
    self.isRestored = isRestored
  }
}

/// A value that a step, a group or a run hands on by name.
public struct HandedOn: Sendable, Hashable {
  public let name: String
  /// `nil` of one that is secret: it is told nowhere.
  public let value: JSONValue?

  package init(name: String, value: JSONValue?) {
    self.name = name
    self.value = value
  }
}

/// How a program ended by itself or was ended.
public enum ProgramExit: Sendable, Hashable {
  case code(Int)
  /// A signal, named without `SIG`.
  case signal(String)
}

/// A process that outlived its step's program.
public struct LeftoverProcess: Sendable, Hashable {
  public let process: Int32
  /// Its command line, or its name in brackets.
  public let command: String

  package init(process: Int32, command: String) {
    self.process = process
    self.command = command
  }
}

/// What a program used, as the kernel counted it (`getrusage(2)`).
public struct ResourceUsage: Sendable, Hashable {
  public let userTime: Duration
  public let systemTime: Duration
  public let minorFaults: Int
  public let majorFaults: Int
  public let voluntarySwitches: Int
  public let involuntarySwitches: Int
  /// The most that it, or one of its children, had in memory; `nil` where that was no more than the engine
  /// itself has, whose memory the kernel counts with it (`ru_maxrss`).
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

/// Elements of a loop that never began because the loop was ended before: no event tells of each.
public struct ElementsNotStarted: Sendable, Hashable {
  public let elements: Int
  /// How many steps the workflow has in them, without those that clean up.
  public let steps: Int
  /// What these steps count as: `cancelled` or `skipped`.
  public let outcome: Outcome

  package init(elements: Int, steps: Int, outcome: Outcome) {
    self.elements = elements
    self.steps = steps
    self.outcome = outcome
  }
}

/// How a group that started has ended.
public struct GroupEnd: Sendable, Hashable {
  public let outcome: Outcome
  /// `success` for a tolerated failure, else the outcome.
  public let conclusion: Outcome
  /// Why it failed: its own time limit, or the first of its members that did.
  public internal(set) var failure: StepFailure?
  /// The member at fault; `nil` when the group failed by itself, or did not fail.
  public let cause: StepAddress?
  /// How many attempts there were.
  public let attempts: Int
  /// Of a race, the member that won.
  public let winner: StepAddress?
  /// Elements of a loop that never began; `nil` if all did, and of a group that is no loop.
  public let notStarted: ElementsNotStarted?
  public let duration: Duration
  /// What the group hands on.
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

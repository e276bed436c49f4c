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

extension Outcome: CodedValue {
  package static var blank: Outcome { .success }
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
  package var blocksDependents: Bool {
    switch self {
    case .condition, .notSelected: false
    case .dependencyFailed, .heldBack, .cancelled: true
    }
  }
}

extension SkipReason: Payload {
  package static var blank: SkipReason { .notSelected }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var outcome = outcome
    try coder.code("outcome", &outcome)
    try coder.member("reason")
    try coder.beginObject()
    var (kind, step, cancellation) = members
    try coder.code("kind", &kind)
    try coder.code("of", &step)
    try coder.code("cancellation", &cancellation)
    try coder.endObject()
    guard Coder.isReading else { return }
    switch (kind, step, cancellation) {
    case ("dependencyFailed", let step?, _): self = .dependencyFailed(step)
    case ("heldBack", let step?, _): self = .heldBack(by: step)
    case ("condition", let step?, _): self = .condition(of: step)
    case ("notSelected", _, _): self = .notSelected
    case ("cancelled", _, let reason?): self = .cancelled(reason)
    default: throw coder.unfit("\"\(kind)\"")
    }
  }

  private var members: (kind: String, of: StepAddress?, cancellation: CancelReason?) {
    switch self {
    case .dependencyFailed(let step): ("dependencyFailed", step, nil)
    case .heldBack(let step): ("heldBack", step, nil)
    case .condition(let step): ("condition", step, nil)
    case .notSelected: ("notSelected", nil, nil)
    case .cancelled(let reason): ("cancelled", nil, reason)
    }
  }
}

/// The reason why something was cancelled, before its start or after.
public enum CancelReason: Sendable, Hashable {
  /// The embedding program cancelled the run.
  case requested
  /// Files of the workflow changed during a run of `weft run --watch`, which then starts the next one.
  case filesChanged
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

  /// Whether the members of a race or join are ended because it has succeeded.
  package var isDecision: Bool {
    switch self {
    case .raceWon, .joined: true
    case .requested, .filesChanged, .signal, .runTimeout, .groupTimeout, .failure, .recordLost:
      false
    }
  }
}

extension CancelReason: Payload {
  package static var blank: CancelReason { .requested }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var members = members
    try coder.code("kind", &members.kind)
    try coder.code("signal", &members.signal)
    try coder.code("of", &members.of)
    try coder.code("by", &members.by)
    try coder.code("limitUs", &members.limit)
    if Coder.isReading {
      guard let reason = members.reason else { throw coder.unfit("\"\(members.kind)\"") }
      self = reason
    }
  }

  private struct Members {
    var kind: String
    var signal: String?
    var of: StepAddress?
    var by: StepAddress?
    var limit: Duration?

    var reason: CancelReason? {
      switch kind {
      case "requested": .requested
      case "filesChanged": .filesChanged
      case "signal": signal.map { .signal($0) }
      case "runTimeout": limit.map { .runTimeout($0) }
      case "groupTimeout": of.flatMap { group in limit.map { .groupTimeout(group, $0) } }
      case "failure": of.map { .failure(of: $0) }
      case "raceWon": of.flatMap { group in by.map { .raceWon(group, by: $0) } }
      case "joined": of.map { .joined($0) }
      case "recordLost": .recordLost
      default: nil
      }
    }
  }

  private var members: Members {
    switch self {
    case .requested: Members(kind: "requested")
    case .filesChanged: Members(kind: "filesChanged")
    case .signal(let name): Members(kind: "signal", signal: name)
    case .runTimeout(let limit): Members(kind: "runTimeout", limit: limit)
    case .groupTimeout(let group, let limit): Members(kind: "groupTimeout", of: group, limit: limit)
    case .failure(let step): Members(kind: "failure", of: step)
    case .raceWon(let group, let winner): Members(kind: "raceWon", of: group, by: winner)
    case .joined(let group): Members(kind: "joined", of: group)
    case .recordLost: Members(kind: "recordLost")
    }
  }
}

/// The reason why a step or a group failed.
public struct StepFailure: Error, Sendable, Hashable {
  /// The error classes, narrowest first: `exit:3`, `exit`.
  public package(set) var classes: [ErrorClass]
  /// The failure as a clause without subject: `exited with code 3`.
  public package(set) var message: String
  /// The suggested remedy.
  public package(set) var help: String?

  package init(classes: [ErrorClass], message: String, help: String? = nil) {
    self.classes = classes
    self.message = message
    self.help = help
  }

  /// Adds a clause after the suggested remedy.
  package mutating func addHelp(_ clause: String) {
    help = help.map { "\($0); \(clause)" } ?? clause
  }
}

extension StepFailure: Payload {
  package static var blank: StepFailure { StepFailure(classes: [], message: "") }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("classes", &classes)
    try coder.code("message", &message)
    try coder.code("help", &help)
  }
}

extension ErrorClass: CodedValue {
  package static var blank: ErrorClass { ErrorClass(unchecked: "") }

  package mutating func codeValue<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var name = name
    try coder.code(&name)
    if Coder.isReading { self = ErrorClass(unchecked: name) }
  }
}

/// An attempt that failed and is followed by another.
public struct Retry: Sendable, Hashable {
  /// The attempt that failed; counts from 1.
  public package(set) var attempt: Int
  /// The maximum number of attempts.
  public package(set) var attemptLimit: Int
  public package(set) var failure: StepFailure
  /// The exit of its program; `nil` for a group, and if the program could not be started.
  public package(set) var exit: ProgramExit?
  /// From the attempt's start to its end.
  public package(set) var duration: Duration
  /// The backoff before the next attempt is queued. Waiting for a slot comes after that.
  public package(set) var delay: Duration
  public package(set) var usage: ResourceUsage?

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

extension Retry: Payload {
  package static var blank: Retry {
    Retry(attempt: 1, of: 1, failure: .blank, exit: nil, duration: .zero, delay: .zero)
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.count("attempt", &attempt)
    try coder.count("attemptLimit", &attemptLimit)
    try coder.code("exit", &exit)
    try coder.code("failure", &failure)
    try coder.code("durationUs", &duration)
    try coder.code("delayUs", &delay)
    try coder.code("usage", &usage)
  }
}

/// The start of a group or a loop.
public struct GroupStart: Sendable, Hashable {
  /// Counts from 1.
  public package(set) var attempt: Int
  /// The number of elements; `nil` for a group that is not a loop.
  public package(set) var elements: Int?
  /// Whether it succeeded under a previous engine: none of its steps runs again.
  public package(set) var isRestored: Bool

  package init(attempt: Int = 1, elements: Int? = nil, isRestored: Bool = false) {
    self.attempt = attempt
    self.elements = elements
    self.isRestored = isRestored
  }
}

extension GroupStart: Payload {
  package static var blank: GroupStart { GroupStart() }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.count("attempt", &attempt)
    try coder.number("elements", &elements, in: RecordLimits.counts, "a count")
    try coder.flag("restored", &isRestored)
  }
}

/// An output of a step, a group or a run.
public struct ReportedOutput: Sendable, Hashable {
  public package(set) var name: String
  /// `nil` for a secret output, whose value is never reported.
  public package(set) var value: JSONValue?

  package init(name: String, value: JSONValue?) {
    self.name = name
    self.value = value
  }
}

extension ReportedOutput: Payload {
  package static var blank: ReportedOutput { ReportedOutput(name: "", value: .none) }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("name", &name)
    try coder.code("value", &value)
    var isSecret = value == nil
    try coder.flag("secret", &isSecret)
  }
}

extension EventCoder {
  /// Codes outputs: values by name, then the names of secret ones.
  mutating func outputs(_ outputs: inout [ReportedOutput]) throws(Failure) {
    guard member("outputs", isPresent: !outputs.isEmpty) else { return }
    var values = outputs.compactMap { output in
      output.value.map { (key: output.name, value: $0) }
    }
    var secrets = outputs.filter { $0.value == nil }.map(\.name)
    try code(&values)
    try codeIfAny("secretOutputs", &secrets)
    guard Self.isReading else { return }
    outputs =
      values.map { ReportedOutput(name: $0.key, value: $0.value) }
      + secrets.map { ReportedOutput(name: $0, value: .none) }
  }
}

/// The way a program ended, by itself or terminated.
public enum ProgramExit: Sendable, Hashable {
  case code(Int)
  /// A signal, named without `SIG`.
  case signal(String)
}

extension ProgramExit: Payload {
  package static var blank: ProgramExit { .signal("") }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var code: Int? = if case .code(let code) = self { code } else { nil }
    try coder.code("code", &code)
    if let code {
      self = .code(code)
      return
    }
    var signal = if case .signal(let name) = self { name } else { "" }
    try coder.code("signal", &signal)
    self = .signal(signal)
  }
}

/// An orphan: a process that outlived its step's program.
public struct LeftoverProcess: Sendable, Hashable {
  public package(set) var process: Int32
  /// Its command line, or its name in brackets.
  public package(set) var command: String

  package init(process: Int32, command: String) {
    self.process = process
    self.command = command
  }
}

extension LeftoverProcess: Payload {
  package static var blank: LeftoverProcess { LeftoverProcess(process: 0, command: "") }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var id = Int(process)
    try coder.code("pid", &id)
    guard let known = Int32(exactly: id) else { throw coder.unfit("a process id") }
    process = known
    try coder.code("command", &command)
  }
}

/// The resources that a program used, as counted by the kernel (`getrusage(2)`), or by the shell that ran it elsewhere
/// (`times`): that knows only the times.
public struct ResourceUsage: Sendable, Hashable {
  public package(set) var userTime: Duration
  public package(set) var systemTime: Duration
  public package(set) var minorFaults: Int?
  public package(set) var majorFaults: Int?
  public package(set) var voluntarySwitches: Int?
  public package(set) var involuntarySwitches: Int?
  /// The peak memory of the program or its largest child; `nil` if that is no more than the engine's own
  /// memory, which the kernel includes (`ru_maxrss`). Of a job of a cluster, the peak of its control group, with files
  /// in its page cache: what the cluster compares with the request.
  public package(set) var peakMemoryBytes: Int?
  /// The `cpus` of the step's `resources`; `nil` if it requests none.
  public package(set) var requestedProcessors: Int?
  /// The `memory` of the step's `resources`; `nil` if it requests none.
  public package(set) var requestedMemoryBytes: Int?

  package init(
    userTime: Duration, systemTime: Duration, minorFaults: Int? = nil, majorFaults: Int? = nil,
    voluntarySwitches: Int? = nil, involuntarySwitches: Int? = nil, peakMemoryBytes: Int? = nil,
    requestedProcessors: Int? = nil, requestedMemoryBytes: Int? = nil
  ) {
    self.userTime = userTime
    self.systemTime = systemTime
    self.minorFaults = minorFaults
    self.majorFaults = majorFaults
    self.voluntarySwitches = voluntarySwitches
    self.involuntarySwitches = involuntarySwitches
    self.peakMemoryBytes = peakMemoryBytes
    self.requestedProcessors = requestedProcessors
    self.requestedMemoryBytes = requestedMemoryBytes
  }
}

extension ResourceUsage: Payload {
  package static var blank: ResourceUsage {
    ResourceUsage(userTime: .zero, systemTime: .zero)
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("userUs", &userTime)
    try coder.code("systemUs", &systemTime)
    try coder.amount("minorFaults", &minorFaults)
    try coder.amount("majorFaults", &majorFaults)
    try coder.amount("voluntarySwitches", &voluntarySwitches)
    try coder.amount("involuntarySwitches", &involuntarySwitches)
    try coder.amount("peakMemoryBytes", &peakMemoryBytes)
    try coder.amount("requestedProcessors", &requestedProcessors)
    try coder.amount("requestedMemoryBytes", &requestedMemoryBytes)
  }
}

/// Elements of a loop that never started because the loop ended before; they have no events of their own.
public struct ElementsNotStarted: Sendable, Hashable {
  public package(set) var elements: Int
  /// The number of steps that the workflow has in them, without cleanup steps.
  public package(set) var steps: Int
  /// The outcome of these steps: `cancelled` or `skipped`.
  public package(set) var outcome: Outcome

  package init(elements: Int, steps: Int, outcome: Outcome) {
    self.elements = elements
    self.steps = steps
    self.outcome = outcome
  }
}

extension ElementsNotStarted: Payload {
  package static var blank: ElementsNotStarted {
    ElementsNotStarted(elements: 0, steps: 0, outcome: .skipped)
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.count("elements", &elements, from: 0)
    try coder.count("steps", &steps, from: 0)
    try coder.code("outcome", &outcome)
  }
}

/// The end of a group that started.
public struct GroupEnd: Sendable, Hashable {
  public package(set) var outcome: Outcome
  /// `success` for a tolerated failure, else the outcome.
  public package(set) var conclusion: Outcome
  /// The cause of the failure: the group's own time limit, or its first failed member.
  public package(set) var failure: StepFailure?
  /// The member that caused the failure; `nil` if the group failed by itself, or did not fail.
  public package(set) var cause: StepAddress?
  /// The number of attempts.
  public package(set) var attempts: Int
  /// The member that won a race.
  public package(set) var winner: StepAddress?
  /// Elements of a loop that never started; `nil` if all did, and for a group that is not a loop.
  public package(set) var notStarted: ElementsNotStarted?
  /// The reason why it is not retried though it has `retry`, as a clause without subject.
  public package(set) var notRetried: String?
  public package(set) var duration: Duration
  /// The outputs of the group.
  public package(set) var outputs: [ReportedOutput]

  package init(
    outcome: Outcome, conclusion: Outcome, failure: StepFailure?, cause: StepAddress?,
    attempts: Int = 1, winner: StepAddress? = nil, notStarted: ElementsNotStarted? = nil,
    notRetried: String? = nil, duration: Duration, outputs: [ReportedOutput] = []
  ) {
    self.outcome = outcome
    self.conclusion = conclusion
    self.failure = failure
    self.cause = cause
    self.attempts = attempts
    self.winner = winner
    self.notStarted = notStarted
    self.notRetried = notRetried
    self.duration = duration
    self.outputs = outputs
  }
}

extension GroupEnd: Payload {
  package static var blank: GroupEnd {
    GroupEnd(
      outcome: .success, conclusion: .success, failure: nil, cause: nil, duration: .zero)
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("outcome", &outcome)
    try coder.code("conclusion", &conclusion)
    try coder.code("failure", &failure)
    try coder.code("cause", &cause)
    try coder.count("attempts", &attempts)
    try coder.code("winner", &winner)
    try coder.code("notStarted", &notStarted)
    try coder.code("notRetried", &notRetried)
    try coder.code("durationUs", &duration)
    try coder.outputs(&outputs)
  }
}

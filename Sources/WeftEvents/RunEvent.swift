public import WeftDefinition
import WeftJSON
public import WeftPlanning

/// Something that happened during a run, in the order in which it happened.
///
/// The order is the same for every subscriber:
/// * `runStarted` is first, exactly once; last, exactly once, is `runFinished`, or `runWaiting` if the run is
///   suspended for another engine to resume;
/// * for one step `stepQueued` < `stepStarted` < `stepBegun` < `stepAsking`, `stepWaiting`, `stepOutput`, `stepProgress`, `stepReady`…
///   < `stepFinished`; an attempt that is followed by another ends with `stepRetrying` instead, so that each start has one end; a step
///   that never starts has one `stepSkipped` instead of start and finish, one `stepCached` if it is restored from
///   the cache, after a `stepOutput` for each line of its cached log, or one `stepRestored` if it ended under a
///   previous engine;
/// * the dependencies of a step have finished, been skipped or, for a service, become ready before the step is queued;
/// * for one group `groupStarted` < everything inside < `groupFinished`; a group whose dependencies did not succeed
///   has neither, its steps are skipped;
/// * sequence numbers have no gaps except those that ``Kind/outputDropped(_:)`` and ``Kind/snapshot(_:)`` name.
public struct RunEvent: Sendable, Hashable {
  /// Counts from 1.
  public let sequence: UInt64
  /// Time since the run started, by a monotonic clock.
  public let elapsed: Duration
  public let kind: Kind

  package init(sequence: UInt64, elapsed: Duration, kind: Kind) {
    self.sequence = sequence
    self.elapsed = elapsed
    self.kind = kind
  }

  /// The payload of an event. The rarer and larger cases are boxed, so that a line of output stays small.
  public enum Kind: Sendable, Hashable {
    indirect case runStarted(RunStart)
    /// The step's dependencies are done; it waits for a slot of the run, and for these slots of pools. The reason is
    /// what it lacks at this moment; `nil` if it can start at once. It may change while the step waits, without
    /// a further event: `Run.waitingSteps(atMost:)` has the present ones.
    case stepQueued(StepAddress, waitingFor: [PoolRequest] = [], because: WaitReason? = nil)
    /// Attempts count from 1. Reported before the program starts. The job is `nil` for a program that ends with the engine.
    case stepStarted(StepAddress, attempt: Int, job: JobKind? = nil)
    /// The job of the attempt has left the queue of its cluster, and its program runs. Durations count from here.
    case stepBegun(StepAddress, attempt: Int)
    /// The step waits for an approval, with this message to the approver.
    indirect case stepAsking(StepAddress, message: String)
    /// The step only waits, for this long from now.
    indirect case stepWaiting(StepAddress, for: Duration)
    /// One line, or a part of a very long one.
    case stepOutput(StepAddress, StepOutput)
    /// The running attempt has come this far. At most ten a second for each step, and always the last state.
    indirect case stepProgress(StepAddress, StepProgress)
    /// The step is a service, and other steps can use it from now on. This is its end as far as they are concerned: its
    /// outputs, its attempts so far and the time until it was ready. `stepFinished` follows when it has really ended.
    indirect case stepReady(StepAddress, StepEnd)
    /// The attempt has failed and another follows. Replaces `stepFinished` for this attempt.
    indirect case stepRetrying(StepAddress, Retry)
    indirect case stepFinished(StepAddress, StepEnd)
    /// In a resumed run: the step ended this way under a previous engine. Replaces all its other events.
    indirect case stepRestored(StepAddress, StepEnd)
    /// The step was restored from the cache instead of running. It counts as a success; `duration` is that of
    /// the cached run.
    indirect case stepCached(StepAddress, StepEnd)
    /// The step never starts.
    indirect case stepSkipped(StepAddress, SkipReason)
    case groupStarted(StepAddress, GroupStart)
    /// The attempt of the whole group has failed and another follows.
    indirect case groupRetrying(StepAddress, Retry)
    indirect case groupFinished(StepAddress, GroupEnd)
    /// A problem that does not stop the run.
    indirect case runWarning(RunWarning)
    /// The run as a whole is being cancelled: running steps are stopped, no others start.
    indirect case runCancelling(CancelReason)
    /// Always last, also after cancellation; only ``runWaiting(_:)`` replaces it.
    indirect case runFinished(RunEnd)
    /// The run is suspended: nothing can proceed without an approval, and no approver can be asked here. Always
    /// last. A resumed run continues from here.
    indirect case runWaiting(RunPause)
    /// Replaces output events that a slow subscriber did not take in time.
    case outputDropped(OutputGap)
    /// First for a subscriber that came too late for the beginning: the state of the run so far. Its sequence
    /// number is that of the last event it includes.
    indirect case snapshot(RunReport)
  }
}

// MARK: JSON

/// The declaration of each kind of event: its name, its role in the journal, and its members in JSON.
extension RunEvent.Kind {
  package struct Traits: Sendable {
    /// The `type` in JSON.
    package let type: String
    /// Whether the journal has a record of it. `stepOutput` is in the step's log, `stepProgress` matters only while
    /// it happens, `stepWaiting` has a record with the moment at which the wait ends, `stepRestored` was recorded by a
    /// previous engine, and the others are made for one subscriber.
    package var isJournaled = true
    /// Whether its consequences must not be visible before the record is durable.
    package var isDecisive = false
    /// Whether the action that it announces must not start before the record is written.
    package var announcesAct = false
  }

  package var traits: Traits {
    switch self {
    case .runStarted: Traits(type: "run.started", isDecisive: true, announcesAct: true)
    case .stepQueued: Traits(type: "step.queued")
    case .stepStarted: Traits(type: "step.started", isDecisive: true, announcesAct: true)
    case .stepBegun: Traits(type: "step.begun")
    case .stepAsking: Traits(type: "step.asking", isDecisive: true)
    case .stepWaiting: Traits(type: "step.waiting", isJournaled: false)
    case .stepOutput: Traits(type: "step.output", isJournaled: false)
    case .stepProgress: Traits(type: "step.progress", isJournaled: false)
    case .stepReady: Traits(type: "step.ready", isDecisive: true)
    case .stepRetrying: Traits(type: "step.retrying", isDecisive: true)
    case .stepFinished: Traits(type: "step.finished", isDecisive: true)
    case .stepRestored: Traits(type: "step.restored", isJournaled: false)
    case .stepCached: Traits(type: "step.cached", isDecisive: true)
    case .stepSkipped: Traits(type: "step.skipped")
    case .groupStarted: Traits(type: "group.started", isDecisive: true, announcesAct: true)
    case .groupRetrying: Traits(type: "group.retrying", isDecisive: true)
    case .groupFinished: Traits(type: "group.finished", isDecisive: true)
    case .runWarning: Traits(type: "run.warning")
    case .runCancelling: Traits(type: "run.cancelling")
    case .runFinished: Traits(type: "run.finished", isDecisive: true)
    case .runWaiting: Traits(type: "run.waiting", isDecisive: true)
    case .outputDropped: Traits(type: "output.dropped", isJournaled: false)
    case .snapshot: Traits(type: "run.snapshot", isJournaled: false)
    }
  }

  /// One event of each kind, which a reader replaces.
  package static let blanks: [RunEvent.Kind] = [
    .runStarted(.blank), .stepQueued(.blank), .stepStarted(.blank, attempt: 1),
    .stepBegun(.blank, attempt: 1), .stepAsking(.blank, message: ""),
    .stepWaiting(.blank, for: .zero),
    .stepOutput(.blank, .blank), .stepProgress(.blank, .blank), .stepReady(.blank, .blank),
    .stepRetrying(.blank, .blank), .stepFinished(.blank, .blank),
    .stepRestored(.blank, .blank), .stepCached(.blank, .blank), .stepSkipped(.blank, .blank),
    .groupStarted(.blank, .blank), .groupRetrying(.blank, .blank), .groupFinished(.blank, .blank),
    .runWarning(.blank), .runCancelling(.blank), .runFinished(.blank), .runWaiting(.blank),
    .outputDropped(.blank), .snapshot(.blank),
  ]
}

extension RunEvent.Kind: Payload {
  package static var blank: RunEvent.Kind { blanks[0] }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    switch self {
    case .runStarted(var start):
      try start.code(&coder)
      if Coder.isReading { self = .runStarted(start) }
    case .stepQueued(var step, var pools, var reason):
      try coder.code("step", &step)
      try coder.code(&pools)
      try coder.code(&reason)
      if Coder.isReading { self = .stepQueued(step, waitingFor: pools, because: reason) }
    case .stepStarted(var step, var attempt, var job):
      try coder.code("step", &step)
      try coder.count("attempt", &attempt)
      try coder.code("job", &job)
      if Coder.isReading { self = .stepStarted(step, attempt: attempt, job: job) }
    case .stepBegun(var step, var attempt):
      try coder.code("step", &step)
      try coder.count("attempt", &attempt)
      if Coder.isReading { self = .stepBegun(step, attempt: attempt) }
    case .stepAsking(var step, var message):
      try coder.code("step", &step)
      try coder.code("message", &message)
      if Coder.isReading { self = .stepAsking(step, message: message) }
    case .stepWaiting(var step, var delay):
      try coder.code("step", &step)
      try coder.code("delayUs", &delay)
      if Coder.isReading { self = .stepWaiting(step, for: delay) }
    case .stepOutput(var step, var output):
      if try coder.code("step", &step, &output) { self = .stepOutput(step, output) }
    case .stepProgress(var step, var progress):
      if try coder.code("step", &step, &progress) { self = .stepProgress(step, progress) }
    case .stepReady(var step, var end):
      if try coder.code("step", &step, &end) { self = .stepReady(step, end) }
    case .stepRetrying(var step, var retry):
      if try coder.code("step", &step, &retry) { self = .stepRetrying(step, retry) }
    case .stepFinished(var step, var end):
      if try coder.code("step", &step, &end) { self = .stepFinished(step, end) }
    case .stepRestored(var step, var end):
      if try coder.code("step", &step, &end) { self = .stepRestored(step, end) }
    case .stepCached(var step, var end):
      if try coder.code("step", &step, &end) { self = .stepCached(step, end) }
    case .stepSkipped(var step, var reason):
      if try coder.code("step", &step, &reason) { self = .stepSkipped(step, reason) }
    case .groupStarted(var group, var start):
      if try coder.code("group", &group, &start) { self = .groupStarted(group, start) }
    case .groupRetrying(var group, var retry):
      if try coder.code("group", &group, &retry) { self = .groupRetrying(group, retry) }
    case .groupFinished(var group, var end):
      if try coder.code("group", &group, &end) { self = .groupFinished(group, end) }
    case .runWarning(var warning):
      try warning.code(&coder)
      if Coder.isReading { self = .runWarning(warning) }
    case .runCancelling(var reason):
      try coder.code("reason", &reason)
      if Coder.isReading { self = .runCancelling(reason) }
    case .runFinished(var end):
      try end.code(&coder)
      if Coder.isReading { self = .runFinished(end) }
    case .runWaiting(var pause):
      try pause.code(&coder)
      if Coder.isReading { self = .runWaiting(pause) }
    case .outputDropped(var gap):
      try gap.code(&coder)
      if Coder.isReading { self = .outputDropped(gap) }
    case .snapshot(var report):
      try report.code(&coder)
      if Coder.isReading { self = .snapshot(report) }
    }
  }
}

extension EventCoder {
  /// Codes the members of an event about a step or group.
  ///
  /// - Returns: Whether they were read.
  mutating func code(
    _ key: StaticString, _ address: inout StepAddress, _ payload: inout some Payload
  ) throws(Failure) -> Bool {
    try code(key, &address)
    try payload.code(&self)
    return Self.isReading
  }

  /// Codes the slots of pools that a step waits for.
  fileprivate mutating func code(_ pools: inout [PoolRequest]) throws(Failure) {
    guard member("waitingFor", isPresent: !pools.isEmpty) else { return }
    var slots = pools.map { (key: $0.pool, value: $0.slots) }
    try code(&slots)
    if Self.isReading { pools = slots.map { PoolRequest($0.key, slots: $0.value) } }
  }
}

extension RunEvent.Kind {
  /// The step that the event is about.
  package var step: StepAddress? {
    switch self {
    case .stepQueued(let step, _, _), .stepStarted(let step, _, _), .stepBegun(let step, _),
      .stepAsking(let step, _), .stepWaiting(let step, _), .stepOutput(let step, _),
      .stepProgress(let step, _),
      .stepReady(let step, _), .stepRetrying(let step, _), .stepFinished(let step, _),
      .stepRestored(let step, _), .stepCached(let step, _), .stepSkipped(let step, _):
      step
    case .runStarted, .groupStarted, .groupRetrying, .groupFinished, .runWarning, .runCancelling,
      .runFinished, .runWaiting, .outputDropped, .snapshot:
      nil
    }
  }

  /// The start of the run, for an event that can be a subscriber's first.
  var runStart: WallTime? {
    switch self {
    case .runStarted(let start): start.startedAt
    case .snapshot(let report): report.start.startedAt
    default: nil
    }
  }
}

// MARK: Texts

extension RunEvent.Kind {
  /// The event with all texts changed that may not come from the workflow itself. Output is not changed: it is masked
  /// before it becomes an event, since a secret may continue in the next one.
  package func changingTexts(_ change: (String) -> String) -> RunEvent.Kind {
    switch self {
    case .runStarted(var start):
      start.workflow = start.workflow.map(change)
      start.file = start.file.map(change)
      return .runStarted(start)
    case .stepRetrying(let step, var retry):
      retry.failure.changeTexts(change)
      return .stepRetrying(step, retry)
    case .groupRetrying(let group, var retry):
      retry.failure.changeTexts(change)
      return .groupRetrying(group, retry)
    case .stepRestored(let step, let end): return .stepRestored(step, end.changingTexts(change))
    case .stepCached(let step, let end): return .stepCached(step, end.changingTexts(change))
    case .stepFinished(let step, let end): return .stepFinished(step, end.changingTexts(change))
    case .stepReady(let step, let end): return .stepReady(step, end.changingTexts(change))
    case .groupFinished(let group, var end):
      end.failure?.changeTexts(change)
      end.outputs.changeTexts(change)
      return .groupFinished(group, end)
    case .runWarning(let warning):
      return .runWarning(
        RunWarning(
          kind: warning.kind, message: change(warning.message), help: warning.help.map(change)))
    case .runFinished(var end):
      end.failure?.changeTexts(change)
      end.outputs.changeTexts(change)
      end.leftovers.changeTexts(change)
      end.unkillable.changeTexts(change)
      return .runFinished(end)
    case .stepAsking(let step, let message): return .stepAsking(step, message: change(message))
    // Masked before it was truncated.
    case .stepProgress: return self
    case .runWaiting(var pause):
      pause.requests = pause.requests.map {
        ApprovalRequest(step: $0.step, message: change($0.message))
      }
      pause.leftovers.changeTexts(change)
      pause.unkillable.changeTexts(change)
      return .runWaiting(pause)
    case .stepQueued, .stepStarted, .stepBegun, .stepWaiting, .stepOutput, .stepSkipped,
      .groupStarted,
      .runCancelling:
      return self
    // Made from events that have been changed.
    case .outputDropped, .snapshot: return self
    }
  }
}

extension StepEnd {
  fileprivate func changingTexts(_ change: (String) -> String) -> StepEnd {
    var end = self
    end.failure?.changeTexts(change)
    end.outputs.changeTexts(change)
    if var http = end.http {
      http.url = change(http.url)
      http.savedTo = http.savedTo.map(change)
      http.staleReason = http.staleReason.map(change)
      end.http = http
    }
    end.ranBecause = end.ranBecause.map(change)
    end.leftovers.changeTexts(change)
    end.unkillable.changeTexts(change)
    return end
  }
}

extension StepFailure {
  fileprivate mutating func changeTexts(_ change: (String) -> String) {
    message = change(message)
    help = help.map(change)
  }
}

extension [LeftoverProcess] {
  fileprivate mutating func changeTexts(_ change: (String) -> String) {
    for index in indices { self[index].command = change(self[index].command) }
  }
}

extension [ReportedOutput] {
  fileprivate mutating func changeTexts(_ change: (String) -> String) {
    for index in indices { self[index].value = self[index].value?.changingTexts(change) }
  }
}

extension JSONValue {
  /// The value with all texts in it changed, including names.
  fileprivate func changingTexts(_ change: (String) -> String) -> JSONValue {
    switch self {
    case .null, .bool, .number: self
    case .string(let text): .string(change(text))
    case .array(let elements): .array(elements.map { $0.changingTexts(change) })
    case .object(let object):
      .object(
        JSONObject(object.members.map { (change($0.key), $0.value.changingTexts(change)) }))
    }
  }
}

/// The scheduler of a program that outlives its engine, so that a resumed run can adopt it.
public enum JobKind: String, Sendable, Hashable, CaseIterable {
  case slurm
  /// This machine, for steps with `"onInterrupted": "adopt"`.
  case local
}

extension JobKind {
  /// Whether its jobs wait in a queue before they begin, which ``RunEvent/Kind/stepBegun(_:attempt:)`` reports.
  package var hasQueue: Bool { self == .slurm }
}

extension JobKind: CodedValue {
  package static var blank: JobKind { .slurm }
}

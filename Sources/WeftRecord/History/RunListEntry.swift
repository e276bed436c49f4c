package import WeftEvents
import WeftPlatform

/// The entry of a run in a list of runs.
package struct RunListEntry: Sendable, Hashable {
  package var run: RunID
  package var state: RecordedState
  /// The time at which it first began.
  package var startedAt: WallTime?
  /// The workflow's name, if it has one.
  package var workflow: String?
  /// The path of its file as given; `nil` if it had none.
  package var file: String?
  /// The inputs; only the names of secret ones.
  package var inputs: [ReportedOutput] = []
  /// The time that engines held it, up to its end or last record; `nil` while it runs.
  package var duration: Duration?
  /// The start of the current engine; `nil` if there is none.
  package var runningSince: WallTime?
  package var counts = OutcomeCounts()
  /// The number of its steps, as far as known; `nil` if the run has ended, since its counts are complete.
  package var stepCount: Int?
  /// The reason why its state is unknown, as a sentence without a full stop.
  package var damage: String?

  package init(_ run: RunID, _ state: RecordedState) {
    self.run = run
    self.state = state
  }

  package static func damaged(_ run: RunID, because reason: String) -> RunListEntry {
    var glance = RunListEntry(run, .damaged)
    glance.damage = reason
    return glance
  }
}

extension StateDirectory {
  /// Inspects a run regardless of its lock: only the ends of its journal if it has ended, otherwise all of it.
  /// Changes nothing, and never blocks an engine.
  ///
  /// - Returns: `nil` if the run no longer exists. An unreadable run is reported as damaged, so that others can still
  ///   be listed.
  package func glance(at run: RunID, limits: JournalLimits = JournalLimits()) -> RunListEntry? {
    do throws(RunFolderError) {
      return try glance(at: run, in: try folder(of: run), limits)
    } catch {
      if case .unknown = error { return nil }
      return .damaged(run, because: error.message)
    }
  }

  private func glance(
    at run: RunID, in folder: PrivateDirectory, _ limits: JournalLimits
  ) throws(RunFolderError) -> RunListEntry {
    // Checked first: if no engine holds the run now, the journal is final when it is read.
    let isHeld = try RunFolder.isHeld(folder)
    let journal = try folder.journal(of: run, limits: limits)
    if let ends = try journal.ends(), ends.end != nil {
      return RunListEntry(run, ends, isHeld: isHeld)
    }
    let contents = journal.contents()
    if let damage = contents.damage { throw .damaged(damage) }
    if contents.lines == 0 {
      throw .missingOpening(run, journal: journal.name, bytes: contents.tornBytes)
    }
    return RunListEntry(run, contents.run, isHeld: isHeld)
  }
}

extension RunListEntry {
  /// - Parameter isHeld: Whether an engine holds it.
  package init(_ run: RunID, _ recorded: RunState, isHeld: Bool) {
    self.init(run, recorded.state(isHeld: isHeld))
    startedAt = recorded.startedAt
    workflow = recorded.opening?.workflow
    file = recorded.opening?.file
    inputs = recorded.opening?.inputs ?? []
    stepCount = recorded.end == nil ? recorded.stepCount : nil
    counts = recorded.end?.counts ?? recorded.counts
    if state == .running {
      runningSince = recorded.start?.startedAt ?? recorded.startedAt
    } else {
      duration = recorded.duration
    }
  }
}

extension RunListEntry: Payload {
  package static var blank: RunListEntry { RunListEntry(RunID(""), .success) }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("run", &run)
    try coder.code("state", &state)
    try coder.code("startedAt", &startedAt)
    try coder.code("workflow", &workflow)
    try coder.code("file", &file)
    try coder.codeIfAny("inputs", &inputs)
    try coder.code("durationUs", &duration)
    try coder.code("counts", &counts)
  }
}

extension RecordedState {
  init(_ outcome: Outcome) {
    switch outcome {
    case .success: self = .success
    case .failure: self = .failure
    case .cancelled, .skipped: self = .cancelled
    }
  }
}

extension RunState {
  /// - Parameter isHeld: Whether an engine holds it.
  package func state(isHeld: Bool) -> RecordedState {
    if let end { return RecordedState(end.outcome) }
    return isHeld ? .running : pause == nil ? .interrupted : .waiting
  }
}

/// The state of a recorded run.
package enum RecordedState: String, CodedValue, CaseIterable {
  case success
  case failure
  case cancelled
  /// Its engine has suspended it until a pending approval is answered.
  case waiting
  /// No engine holds it, and no end is recorded: the engine was killed, or the machine stopped.
  case interrupted
  /// An engine holds it.
  case running
  /// Its state cannot be determined.
  case damaged

  package static var blank: RecordedState { .success }
}

package import WeftPlanning
package import WeftPlatform

/// One record of a run's journal, written before the engine acts on it. The records are all events except output, and
/// what another engine needs in order to resume the run.
package struct RunRecord: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// An engine started the run, or resumed it. Always the first record of an engine.
    indirect case opened(RecordOpening)
    /// An event, as subscribers get it. The end of a step has the values that expressions read of it, so that both are
    /// recorded together or not at all.
    case event(RunEvent.Kind, keeping: RecordedValues = RecordedValues())
    /// The program of the attempt was spawned.
    case spawned(StepAddress, attempt: Int, ProcessIdentity)
    /// The program of the attempt ended, and its leftover processes are allowed to stay.
    case kept(StepAddress, attempt: Int)
    /// The elements of a loop, as its expressions evaluated to them.
    indirect case listed(StepAddress, RecordedElements)
    /// A group that an earlier engine started is skipped by this one; subscribers learn that from its members.
    case groupSkipped(StepAddress, SkipReason)
    /// The records of these steps no longer count: the run ended, and a group around them was skipped as a whole, or
    /// tried again without reaching them.
    indirect case outdated([StepAddress])
    /// The step waits until that moment, under any engine.
    case waiting(StepAddress, until: WallTime)
  }

  /// Counts from 1, without gaps, across all engines of the run.
  package var number: UInt64
  /// The wall clock at the engine's start, advanced by a monotonic clock; in whole milliseconds once it was read
  /// back.
  package var at: WallTime
  package var kind: Kind

  package init(number: UInt64, at: WallTime, _ kind: Kind) {
    self.number = number
    self.at = at
    self.kind = kind
  }
}

extension RunRecord.Kind {
  /// Whether the action that the record announces must not start before it is written.
  package var announcesAct: Bool {
    switch self {
    case .opened, .listed, .waiting: true
    case .event(let event, _): event.traits.announcesAct
    case .spawned, .kept, .groupSkipped, .outdated: false
    }
  }

  /// Leaves out the values of a step, which may be long.
  ///
  /// - Returns: Whether there were any.
  package mutating func omitValues() -> Bool {
    guard case .event(let event, let values) = self, values != values.withoutValues else {
      return false
    }
    self = .event(event, keeping: values.withoutValues)
    return true
  }

  /// Whether its consequences must not be visible before the record is durable.
  package var isDecisive: Bool {
    switch self {
    case .opened, .listed, .waiting: true
    case .event(let event, _): event.traits.isDecisive
    case .spawned, .kept, .groupSkipped, .outdated: false
    }
  }

  /// The step that the record is about.
  package var step: StepAddress? {
    switch self {
    case .spawned(let step, _, _), .kept(let step, _), .waiting(let step, _): step
    case .event(let event, _): event.step
    case .opened, .listed, .groupSkipped, .outdated: nil
    }
  }

  /// The record's `type`.
  package var type: String {
    switch self {
    case .opened: "record.opened"
    case .event(let event, _): event.traits.type
    case .spawned: "step.spawned"
    case .kept: "step.kept"
    case .listed: "group.listed"
    case .groupSkipped: "group.skipped"
    case .outdated: "steps.outdated"
    case .waiting: "step.waiting"
    }
  }

  /// Whether readers know records of this type.
  package static func isReadable(_ type: String) -> Bool { blanks[type] != nil }

  /// One record of each type that a journal may have, which a reader replaces.
  fileprivate static let blanks: [String: RunRecord.Kind] = {
    let events = RunEvent.Kind.blanks.filter { event in
      if case .stepRestored = event { true } else { event.traits.isJournaled }
    }
    let others: [RunRecord.Kind] = [
      .opened(.blank), .spawned(.blank, attempt: 1, ProcessIdentity(id: 0, startTicks: 0)),
      .kept(.blank, attempt: 1), .listed(.blank, .blank), .groupSkipped(.blank, .blank),
      .outdated([]), .waiting(.blank, until: .blank),
    ]
    return Dictionary(
      uniqueKeysWithValues: (events.map { RunRecord.Kind.event($0) } + others).map { ($0.type, $0) }
    )
  }()
}

extension RunRecord.Kind: Payload {
  package static var blank: RunRecord.Kind { .event(.blank) }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    switch self {
    case .opened(var opening):
      try opening.code(&coder)
      if Coder.isReading { self = .opened(opening) }
    case .event(var event, var values):
      try event.code(&coder)
      switch event {
      case .stepFinished, .stepCached, .stepReady:
        if coder.member("kept", isPresent: !values.isEmpty) { try values.codeValue(&coder) }
      default: break
      }
      if Coder.isReading { self = .event(event, keeping: values) }
    case .spawned(var step, var attempt, var process):
      try coder.code("step", &step)
      try coder.count("attempt", &attempt)
      // No step is process 1, and a signal to an id below that reaches many processes (kill(2)).
      try coder.identity(&process, from: 2)
      if Coder.isReading { self = .spawned(step, attempt: attempt, process) }
    case .kept(var step, var attempt):
      try coder.code("step", &step)
      try coder.count("attempt", &attempt)
      if Coder.isReading { self = .kept(step, attempt: attempt) }
    case .listed(var group, var elements):
      if try coder.code("group", &group, &elements) { self = .listed(group, elements) }
    case .groupSkipped(var group, var reason):
      if try coder.code("group", &group, &reason) { self = .groupSkipped(group, reason) }
    case .outdated(var steps):
      try coder.code("steps", &steps)
      if Coder.isReading { self = .outdated(steps) }
    case .waiting(var step, let moment):
      var nanoseconds = Int(moment.nanoseconds)
      try coder.code("step", &step)
      try coder.code("untilNs", &nanoseconds)
      if Coder.isReading {
        self = .waiting(step, until: WallTime(nanoseconds: Int64(nanoseconds)))
      }
    }
  }
}

extension RunRecord {
  /// Parses the line of a journal.
  ///
  /// - Parameter line: The line without its newline, with a verified checksum.
  package init(line: UnsafeRawBufferPointer) throws(RecordFormatError) {
    var scanner = RecordScanner(line)
    var (number, moment, type) = (0, WallTime.blank, "")
    try scanner.beginObject()
    try scanner.code("n", &number)
    guard number > 0 else { throw .unfit("a number below 1") }
    try scanner.code("at", &moment)
    scanner.moment = moment
    try scanner.code("type", &type)
    guard var kind = RunRecord.Kind.blanks[type] else { throw .unknownType(type) }
    try kind.code(&scanner)
    try scanner.endObject()
    self.init(number: UInt64(number), at: moment, kind)
  }
}

import WeftDefinition
package import WeftPlanning
package import WeftPlatform

/// The recorded state of a step.
package struct RecordedStep: Sendable, Hashable {
  package enum State: Sendable, Hashable {
    case queued
    /// The attempt started, and may have taken effect.
    case started(attempt: Int)
    /// The attempt failed, and another was to follow.
    indirect case retrying(Retry)
    indirect case finished(StepEnd, RecordedValues)
    case skipped(SkipReason)
  }

  package var state: State
  /// The number of the record of this state.
  package var number: UInt64 = 0
  /// The number of the record of the last started attempt, whatever the state is now; 0 if none started.
  package var lastStart: UInt64 = 0
  /// The engine that wrote the record, as the ``RecordOpening/resumption`` of the run.
  package var engine = 0
  /// The start of its first attempt in that engine's part of the run; `nil` if none started.
  package var startedAt: WallTime?
  /// Whether its result was restored from the cache.
  package var isCached = false
  /// Whether it is a service that is ready, and whose end is not recorded.
  package var isServing = false
  /// The process of a step in doubt. Start ticks and process id belong to the boot that the engine's
  /// ``RecordOpening`` names.
  package var process: ProcessIdentity?
  /// Whether the last engine ended the run without reaching the step, so that no report contains it.
  package var isOutdated = false
  // A journal may have millions of steps, few of which have any of these.
  private var boxedRest: Boxed<Rest>?

  package init(_ state: State) {
    self.state = state
  }

  /// Whether it is unknown if the step took effect. Also true if a later engine left it in doubt, and reported that
  /// by a failure of the class ``ErrorClass/inDoubt``.
  package var isInDoubt: Bool {
    switch state {
    // A step that waits, for an approval or a time, has no effects.
    case .started: question == nil && waitsUntil == nil
    case .finished(let end, _): isLeftInDoubt || end.hasRequestInDoubt
    case .queued, .retrying, .skipped: false
    }
  }

  /// Whether an engine that resumed the run left the step in doubt. One that the user accepted as done is not: its
  /// failure is tolerated.
  package var isLeftInDoubt: Bool {
    guard case .finished(let end, _) = state, end.conclusion != .success else { return false }
    return end.failure?.classes.contains(.inDoubt) ?? false
  }
}

extension RecordedStep {
  private struct Rest: Sendable, Hashable {
    var pools: [String] = []
    var waitReason: WaitReason?
    var waitsUntil: WallTime?
    var question: String?
    var isUnanswered = false
    var excluded: SkipReason?
    var job: JobKind?
    var isSubmitted = false
    var readyAfter: Duration?
    var wasDone = false
  }

  private var rest: Rest {
    get { boxedRest?.value ?? Rest() }
    set { boxedRest = newValue == Rest() ? nil : .holding(newValue) }
  }

  /// The pools from which it takes slots.
  package var pools: [String] {
    get { boxedRest?.value.pools ?? [] }
    set { rest.pools = newValue }
  }

  /// The reason why it had to wait when it was queued; `nil` if there was none, or an older version of the program
  /// wrote the record.
  package var waitReason: WaitReason? {
    get { boxedRest?.value.waitReason }
    set { rest.waitReason = newValue }
  }

  /// The moment at which a wait ends, under any engine; `nil` for other steps.
  package var waitsUntil: WallTime? {
    get { boxedRest?.value.waitsUntil }
    set { rest.waitsUntil = newValue }
  }

  /// The message of the approval that the step waits for; `nil` if it waits for none.
  package var question: String? {
    get { boxedRest?.value.question }
    set { rest.question = newValue }
  }

  /// Whether it has asked for an approval that nothing has decided: no answer, and no end but a cancellation.
  package var isUnanswered: Bool {
    get { boxedRest?.value.isUnanswered ?? false }
    set { rest.isUnanswered = newValue }
  }

  /// The reason why a later engine skipped a step in doubt.
  package var excluded: SkipReason? {
    get { boxedRest?.value.excluded }
    set { rest.excluded = newValue }
  }

  /// The scheduler that keeps its program, if it has started; `nil` for none.
  package var job: JobKind? {
    get { boxedRest?.value.job }
    set { rest.job = newValue }
  }

  /// Whether its job waits in the queue of a cluster.
  package var isSubmitted: Bool {
    get { boxedRest?.value.isSubmitted ?? false }
    set { rest.isSubmitted = newValue }
  }

  /// The time after which a service was ready for the first time; `nil` for other steps.
  package var readyAfter: Duration? {
    get { boxedRest?.value.readyAfter }
    set { rest.readyAfter = newValue }
  }

  /// Whether it succeeded: if it is in doubt, that is only because a value that others read from it is not recorded.
  package var wasDone: Bool {
    if case .finished(let end, _) = state, end.conclusion == .success { return true }
    return isLeftInDoubt && (boxedRest?.value.wasDone ?? false)
  }

  /// The step as the latest record shows it: one that was in doubt, and that a later engine skipped, is skipped.
  package var shown: RecordedStep {
    guard let excluded else { return self }
    var shown = self
    shown.state = .skipped(excluded)
    return shown
  }

  /// Takes over the parts of an earlier state that outlast it.
  mutating func keep(_ earlier: RecordedStep) {
    lastStart = earlier.lastStart
    defer { if staysDone(after: earlier) { rest.wasDone = true } }
    guard let known = earlier.boxedRest?.value else { return }
    rest = Rest(
      pools: known.pools, waitsUntil: known.waitsUntil,
      isUnanswered: known.isUnanswered && !state.decidesQuestion,
      readyAfter: state == .started(attempt: 1) ? nil : known.readyAfter)
  }
}

extension RecordedStep {
  /// Whether an earlier success, of which this engine only needs the values, is the last that happened in the step.
  private func staysDone(after earlier: RecordedStep) -> Bool {
    switch state {
    case .queued, .started, .skipped: break
    case .retrying: return false
    case .finished:
      // An engine that leaves it in doubt for its values starts no program, and ends it at once.
      guard isLeftInDoubt, earlier.engine == engine else { return false }
    }
    return earlier.wasDone || (earlier.boxedRest?.value.wasDone ?? false)
  }
}

extension RecordedStep.State {
  /// Whether nothing can answer an earlier question of the step any more.
  fileprivate var decidesQuestion: Bool {
    switch self {
    case .queued, .started: false
    case .finished(let end, _): end.outcome != .cancelled
    case .skipped(let reason): !reason.blocksDependents
    case .retrying: true
    }
  }
}

/// The recorded steps of a run by address, in the order of their first records.
///
/// An array with an index of small numbers: a dictionary of the steps themselves would reserve up to 2.7 times as much,
/// and move them all whenever it grows.
package struct RecordedSteps: Sendable {
  package typealias Element = (address: StepAddress, step: RecordedStep)

  fileprivate struct Row: Sendable {
    let address: StepAddress
    /// `nil` for a step that is no longer recorded. It keeps its place in the order.
    var step: RecordedStep?
  }

  private var rows: [Row] = []
  private var places: [StepAddress: Int32] = [:]
  /// The place that was changed last: the next record is often about the same step.
  private var recent = 0
  package private(set) var count = 0

  package init() {}

  package subscript(address: StepAddress) -> RecordedStep? {
    knownPlace(of: address).flatMap { rows[$0].step }
  }

  /// The addresses in order.
  package var addresses: [StepAddress] { map(\.address) }

  /// Changes the step with an address: `nil` if it is not recorded, and to stop recording it.
  mutating func change(_ address: StepAddress, _ change: (inout RecordedStep?) -> Void) {
    let place = place(of: address)
    count -= rows[place].step == nil ? 0 : 1
    change(&rows[place].step)
    count += rows[place].step == nil ? 0 : 1
  }

  /// Changes the step with an address if it is recorded.
  mutating func changeKnown(_ address: StepAddress, _ change: (inout RecordedStep) -> Void) {
    guard let place = knownPlace(of: address), rows[place].step != nil else { return }
    recent = place
    change(&rows[place].step!)
  }

  mutating func changeAll(_ change: (inout RecordedStep) -> Void) {
    for place in rows.indices where rows[place].step != nil { change(&rows[place].step!) }
  }

  private func knownPlace(of address: StepAddress) -> Int? {
    if recent < rows.count, rows[recent].address == address { return recent }
    return places[address].map(Int.init)
  }

  private mutating func place(of address: StepAddress) -> Int {
    recent = knownPlace(of: address) ?? rows.count
    if recent == rows.count {
      places[address] = Int32(recent)
      rows.append(Row(address: address))
    }
    return recent
  }
}

extension RecordedSteps: Sequence {
  package var underestimatedCount: Int { count }

  package struct Iterator: IteratorProtocol {
    fileprivate var rest: [Row].Iterator

    package mutating func next() -> Element? {
      while let row = rest.next() {
        if let step = row.step { return (row.address, step) }
      }
      return nil
    }
  }

  package func makeIterator() -> Iterator { Iterator(rest: rows.makeIterator()) }
}

/// The recorded state of a group or loop.
package struct RecordedGroup: Sendable, Hashable {
  package enum State: Sendable, Hashable {
    /// Only the elements of the loop are recorded.
    case listed
    case started(GroupStart)
    indirect case retrying(Retry)
    case finished(GroupEnd)
    /// An earlier engine started it, and a later one skipped it.
    case skipped(SkipReason)
  }

  package var state = State.listed
  /// The number of the last record about the group itself.
  package var number: UInt64 = 0
  /// The number of the last record of its end by an engine that kept it, and computed its outputs again if that was
  /// requested; 0 if there is none.
  package var outputsNumber: UInt64 = 0
  /// The number of the record of its last start, whatever the state is now; 0 if it never started.
  package var lastStart: UInt64 = 0
  /// The number of the record that announced its latest retry; older records of its members are void.
  package var startedBy: UInt64 = 0
  /// Whether the current engine reports it again although it is reusable.
  var isRestored = false
  /// The elements, if it is a loop.
  package var elements: RecordedElements?
  /// Elements that the loop had under an earlier engine and no longer has.
  package var formerElements: [RecordedElements.Element] = []
  /// The number of the record that lists the elements.
  package var listedBy: UInt64 = 0

  package init() {}

  /// The end of the group; `nil` if it has not ended since its last start.
  package var end: GroupEnd? {
    if case .finished(let end) = state { end } else { nil }
  }

  /// Whether it succeeded, or its failure was tolerated.
  package var hasSucceeded: Bool { end?.conclusion == .success }

  /// The failure of the group or loop itself, rather than of a member; `nil` if there is none.
  package var ownFailure: StepFailure? {
    guard let end, end.outcome == .failure, end.cause == nil else { return nil }
    return end.failure
  }

  /// All elements that may have started, the current ones first; empty if the list is secret.
  package var allElements: [RecordedElements.Element] {
    elements?.isSecret == true ? [] : (elements?.elements ?? []) + formerElements
  }
}

/// The part of a run under one engine.
package struct RecordedPart: Sendable, Hashable {
  package let startedAt: WallTime
  package let duration: Duration
}

/// The resources that a run has used, in all attempts that ended under all of its engines.
package struct RunUsage: Sendable, Hashable {
  package private(set) var attempts = 0
  /// The time of its programs on processors.
  package private(set) var processorTime = Duration.zero
  /// The memory of its largest program; `nil` if it is not known.
  package private(set) var peakMemoryBytes: Int?
  /// The output of steps that ended.
  package private(set) var outputBytes: UInt64 = 0

  /// Adds attempts of which only the number is known.
  mutating func addAttempts(_ count: Int) { attempts += count }

  mutating func add(_ end: StepEnd) {
    attempts += 1
    outputBytes += end.outputBytes
    add(end.usage)
  }

  mutating func add(_ retry: Retry) {
    attempts += 1
    add(retry.usage)
  }

  private mutating func add(_ usage: ResourceUsage?) {
    guard let usage else { return }
    processorTime += usage.processorTime
    if let peak = usage.peakMemoryBytes { peakMemoryBytes = max(peak, peakMemoryBytes ?? 0) }
  }
}

extension ResourceUsage {
  /// The time on processors, of the program and in the kernel.
  package var processorTime: Duration { userTime + systemTime }
}

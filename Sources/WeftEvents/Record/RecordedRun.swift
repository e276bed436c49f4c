import WeftDefinition
package import WeftPlanning
package import WeftPlatform

/// The state of each step and group according to the records of a run.
///
/// A pure fold: its size grows with the steps of the run, not with its records. It needs no plan, so it cannot know
/// which steps are inside a group. Numbers show what a later attempt of a group has voided: a step counts if its
/// ``RecordedStep/number`` is larger than the ``RecordedGroup/startedBy`` of each group around it; see
/// ``step(_:since:)``.
///
/// A resumed engine decides by it what to keep (``ResumePolicy``); the history and the commands show it.
package struct RecordedRun: Sendable {
  /// The opening of the first engine; `nil` before the first record.
  package private(set) var opening: RecordOpening?
  /// The opening of the last engine; equal to `opening` if the run was never resumed.
  package private(set) var lastOpening: RecordOpening?
  /// All engines of the run, in order, each with the processes that `leftovers` allows to outlive it.
  package private(set) var engines: [RecordedEngine] = []
  /// The times of the first and the last record.
  package private(set) var startedAt: WallTime?
  package private(set) var lastAt: WallTime?
  /// The start of the last engine's part of the run, and the duration of the parts before it.
  private var partStartedAt: WallTime?
  private var earlierDuration = Duration.zero
  /// The number of the last record; 0 before the first.
  package private(set) var number: UInt64 = 0
  /// The payload of the previous engine's `runStarted`.
  package private(set) var start: RunStart?
  /// The reason why the run was being cancelled when the last record was written.
  package private(set) var cancellation: CancelReason?
  /// The end of the run; `nil` if it has not ended, or was resumed.
  package private(set) var end: RunEnd?
  /// The approvals that the run waits for, if its engine suspended it because of them.
  package private(set) var pause: RunPause?
  package private(set) var steps: [StepAddress: RecordedStep] = [:]
  /// Groups and loops.
  package private(set) var groups: [StepAddress: RecordedGroup] = [:]
  /// The number of the record by which a step was last requested to rerun. Earlier records of it are void. Contains
  /// steps of the plan and steps of single elements.
  package private(set) var rerunSince: [StepAddress: UInt64] = [:]
  /// The first ``RunReport/warningLimit`` warnings.
  package private(set) var warnings: [RunWarning] = []

  package init() {}

  /// The time that engines spent on the run, up to the last record, without the time between engines.
  package var duration: Duration {
    if let known = end?.duration ?? pause?.duration { return known }
    guard let from = partStartedAt, let to = lastAt else { return .zero }
    return earlierDuration + max(.zero, to.since(from))
  }

  /// The number of times the run was resumed.
  package var resumptions: Int { lastOpening?.resumption ?? 0 }

  /// Steps for which it is unknown whether they took effect: an attempt started, and its end is not recorded. Sorted
  /// by address.
  package var inDoubt: [StepAddress] {
    steps.keys.filter(isInDoubt).sorted { $0.text < $1.text }
  }

  /// Whether it is unknown if the step took effect, and no rerun of it was requested since.
  package func isInDoubt(_ address: StepAddress) -> Bool {
    guard let step = steps[address], step.isInDoubt else { return false }
    if rerunSince.isEmpty { return true }
    let planned = address.planned { known in rerunSince.keys.contains { $0.isInside(known) } }
    return step.number > max(rerunSince[address] ?? 0, rerunSince[planned] ?? 0)
  }

  /// The recorded state of a step; `nil` if there is none, or only one from an earlier attempt of a group around it.
  ///
  /// - Parameter beginning: The largest ``RecordedGroup/startedBy`` of the groups around it; 0 if there are none.
  package func step(_ address: StepAddress, since beginning: UInt64 = 0) -> RecordedStep? {
    steps[address].flatMap { $0.number > beginning ? $0 : nil }
  }

  /// The recorded state of a group or loop; `nil` in the same cases as for a step.
  package func group(_ address: StepAddress, since beginning: UInt64 = 0) -> RecordedGroup? {
    groups[address].flatMap { $0.number > beginning ? $0 : nil }
  }

  // MARK: Folding

  package mutating func apply(_ record: RunRecord) {
    number = record.number
    if case .opened = record.kind { earlierDuration = duration }
    lastAt = record.at
    switch record.kind {
    case .opened(let opening): open(opening, at: record.at)
    case .event(let event, let values): apply(event, keeping: values, record.number)
    case .spawned(let step, _, let process): steps[step]?.process = process
    case .kept(let step, let attempt):
      guard lastOpening?.cookie != nil, !engines.isEmpty else { break }
      engines[engines.count - 1].kept.insert(AttemptName(step: step.text, number: attempt))
    case .listed(let address, let elements):
      var known = groups[address] ?? RecordedGroup()
      let keys = Set(elements.elements.map(\.key))
      known.formerElements = known.allElements.filter { !keys.contains($0.key) }
      (known.elements, known.listedBy) = (elements, record.number)
      if case .listed = known.state { known.number = record.number }
      groups[address] = known
    case .groupSkipped(let group, let reason): skip(group: group, reason, record.number)
    case .outdated(let addresses): for step in addresses { steps[step]?.isOutdated = true }
    case .waiting(let step, let moment): steps[step]?.waitsUntil = moment
    }
  }

  private mutating func open(_ opening: RecordOpening, at moment: WallTime) {
    if self.opening == nil {
      self.opening = opening
      startedAt = moment
    }
    partStartedAt = moment
    lastOpening = opening
    if let cookie = opening.cookie {
      engines.append(
        RecordedEngine(cookie: cookie, process: opening.engine, bootID: opening.bootID))
    }
    for group in groups.keys { groups[group]?.isRestored = false }
    for (step, known) in steps where known.isOutdated { steps[step]?.isOutdated = false }
    for step in opening.rerun { rerunSince[step] = number }
    end = nil
    pause = nil
    cancellation = nil
  }

  private mutating func apply(
    _ event: RunEvent.Kind, keeping values: RecordedValues, _ number: UInt64
  ) {
    switch event {
    case .runStarted(let start): self.start = start
    case .stepQueued(let step, let pools):
      // A step in doubt stays so until a new attempt of it starts.
      if !isInDoubt(step) { set(step: step, .queued, number) }
      steps[step]?.pools = pools.map(\.pool)
    case .stepStarted(let step, let attempt): set(step: step, .started(attempt: attempt), number)
    case .stepAsking(let step, let message): steps[step]?.question = message
    case .stepRetrying(let step, let retry): set(step: step, .retrying(retry), number)
    case .stepFinished(let step, let end): set(step: step, .finished(end, values), number)
    case .stepCached(let step, let end):
      set(step: step, .finished(end, values), number)
      steps[step]?.isCached = true
    case .stepSkipped(let step, let reason):
      // A step in doubt stays so: skipping it says nothing about its effects.
      if isInDoubt(step) {
        steps[step]?.excluded = reason
      } else {
        set(step: step, .skipped(reason), number)
      }
      skip(group: step, reason, number)
    case .groupStarted(let group, let start):
      // The group is reusable and reported again; its state has not changed.
      if start.isRestored {
        groups[group]?.isRestored = true
        break
      }
      // An address has one state, the latest: a group that was skipped as a whole has started now.
      steps[group] = nil
      var known = groups[group] ?? RecordedGroup()
      known.state = .started(start)
      known.number = number
      known.lastStart = number
      groups[group] = known
    case .groupRetrying(let group, let retry):
      set(group: group, .retrying(retry), number)
      groups[group]?.startedBy = number
    case .groupFinished(let group, let end):
      if groups[group]?.isRestored != true { set(group: group, .finished(end), number) }
      groups[group]?.isRestored = false
    case .runWarning(let warning):
      if warnings.count < RunReport.warningLimit { warnings.append(warning) }
    case .runCancelling(let reason): cancellation = reason
    case .runFinished(let end): self.end = end
    case .runWaiting(let pause): self.pause = pause
    case .stepRestored, .stepWaiting, .stepOutput, .outputDropped, .snapshot: break
    }
  }

  private mutating func set(
    step: StepAddress, _ state: RecordedStep.State, _ number: UInt64
  ) {
    var known = RecordedStep(state)
    known.number = number
    known.engine = resumptions
    known.lastStart = steps[step]?.lastStart ?? 0
    known.waitsUntil = steps[step]?.waitsUntil
    known.pools = steps[step]?.pools ?? []
    if case .started = state { known.lastStart = number }
    switch state {
    case .started(attempt: 1): known.startedAt = lastAt
    case .started, .retrying, .finished: known.startedAt = steps[step]?.startedAt
    case .queued, .skipped: break
    }
    steps[step] = known
  }

  /// Records that a loop or group that an earlier engine started is skipped now. Its elements stay known.
  private mutating func skip(group: StepAddress, _ reason: SkipReason, _ number: UInt64) {
    guard groups[group] != nil else { return }
    set(group: group, .skipped(reason), number)
    groups[group]?.isRestored = false
  }

  private mutating func set(
    group: StepAddress, _ state: RecordedGroup.State, _ number: UInt64
  ) {
    groups[group, default: RecordedGroup()].state = state
    groups[group]?.number = number
  }
}

/// The recorded state of a step.
package struct RecordedStep: Sendable, Hashable {
  package enum State: Sendable, Hashable {
    case queued
    /// The attempt started, and may have taken effect.
    case started(attempt: Int)
    /// The attempt failed, and another was to follow.
    case retrying(Retry)
    case finished(StepEnd, RecordedValues)
    case skipped(SkipReason)
  }

  package var state: State
  /// The number of the record of this state.
  package var number: UInt64 = 0
  /// The number of the record of the last started attempt, whatever the state is now; 0 if none started.
  package var lastStart: UInt64 = 0
  /// The engine that wrote the record, as the ``RecordOpening/resumption`` of the run.
  package var engine = 0
  /// The pools from which it takes slots.
  package var pools: [String] = []
  /// The start of its first attempt in that engine's part of the run; `nil` if none started.
  package var startedAt: WallTime?
  /// Whether its result was restored from the cache.
  package var isCached = false
  /// The process of a step in doubt. Start ticks and process id belong to the boot that the engine's
  /// ``RecordOpening`` names.
  package var process: ProcessIdentity?
  /// The moment at which a wait ends, under any engine; `nil` for other steps.
  package var waitsUntil: WallTime?
  /// The message of the approval that the step waits for; `nil` if it waits for none.
  package var question: String?
  /// Whether the last engine ended the run without reaching the step, so that no report contains it.
  package var isOutdated = false
  /// The reason why a later engine skipped a step in doubt.
  package var excluded: SkipReason?

  package init(_ state: State) {
    self.state = state
  }

  /// Whether it is unknown if the step took effect. Also true if a later engine left it in doubt, and reported that
  /// by a failure of the class ``ErrorClass/inDoubt``.
  package var isInDoubt: Bool {
    switch state {
    // A step that waits for an approval has no effects.
    case .started: question == nil
    case .finished(let end, _): end.failure?.classes.contains(.inDoubt) ?? false
    case .queued, .retrying, .skipped: false
    }
  }
}

/// The recorded state of a group or loop.
package struct RecordedGroup: Sendable, Hashable {
  package enum State: Sendable, Hashable {
    /// Only the elements of the loop are recorded.
    case listed
    case started(GroupStart)
    case retrying(Retry)
    case finished(GroupEnd)
    /// An earlier engine started it, and a later one skipped it.
    case skipped(SkipReason)
  }

  package var state = State.listed
  /// The number of the last record about the group itself.
  package var number: UInt64 = 0
  /// The number of the record of its last start, whatever the state is now; 0 if it never started.
  package var lastStart: UInt64 = 0
  /// The number of the record that announced its latest retry; older records of its members are void.
  package var startedBy: UInt64 = 0
  /// Whether the current engine reports it again although it is reusable.
  fileprivate(set) var isRestored = false
  /// The elements, if it is a loop.
  package var elements: RecordedElements?
  /// Elements that the loop had under an earlier engine and no longer has.
  package var formerElements: [RecordedElements.Element] = []
  /// The number of the record that lists the elements.
  package var listedBy: UInt64 = 0

  package init() {}

  /// All elements that may have started, the current ones first; empty if the list is secret.
  package var allElements: [RecordedElements.Element] {
    elements?.isSecret == true ? [] : (elements?.elements ?? []) + formerElements
  }
}

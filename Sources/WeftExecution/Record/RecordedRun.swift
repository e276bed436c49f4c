import WeftDefinition
package import WeftPlanning
package import WeftPlatform

/// What the records of a run come to: where each step and group stood when the last was written.
///
/// A pure fold: it grows with the steps of the run, not with its records. Nobody's plan is needed for it, so
/// it cannot know which steps are inside a group. What a later attempt of a group has made void is told by
/// numbers: a step counts if its ``RecordedStep/number`` is larger than the ``RecordedGroup/begunBy`` of each
/// group around it; see ``step(_:since:)``.
package struct RecordedRun: Sendable {
  /// As the run began. `nil` before the first record.
  package private(set) var opening: RecordOpening?
  /// As it was taken up the last time; the same as `opening` if it never was.
  package private(set) var lastOpening: RecordOpening?
  /// All engines that it had, each with what it has left alive for good; in their order.
  package private(set) var engines: [RecordedEngine] = []
  /// When the first record was written, and the last.
  package private(set) var startedAt: WallTime?
  package private(set) var lastAt: WallTime?
  /// When the last part of the run began, and for how long an engine had it in the parts before.
  private var partStartedAt: WallTime?
  private var earlierDuration = Duration.zero
  /// Of the last record; 0 before the first.
  package private(set) var number: UInt64 = 0
  /// What the engine that wrote last said at its start.
  package private(set) var start: RunStart?
  /// Why the run was being cancelled when the last record was written.
  package private(set) var cancellation: CancelReason?
  /// How the run has ended; `nil` if it has not, or goes on again.
  package private(set) var end: RunEnd?
  /// What the run waits for, if its engine has gone because of that.
  package private(set) var pause: RunPause?
  package private(set) var steps: [StepAddress: RecordedStep] = [:]
  /// Groups, and what is run for many elements.
  package private(set) var groups: [StepAddress: RecordedGroup] = [:]
  /// The number of the record by which a step was last told to run again; what is recorded of it until then is
  /// void. Steps of the plan, and of single elements.
  package private(set) var rerunSince: [StepAddress: UInt64] = [:]
  /// What was told though it stopped nothing; the first ``RunReport/warningLimit``.
  package private(set) var warnings: [RunWarning] = []

  package init() {}

  /// For how long engines had the run, up to the last record; the time between its parts is not counted.
  package var duration: Duration {
    if let known = end?.duration ?? pause?.duration { return known }
    guard let from = partStartedAt, let to = lastAt else { return .zero }
    return earlierDuration + max(.zero, to.since(from))
  }

  /// How often it has been resumed.
  package var resumptions: Int { lastOpening?.resumption ?? 0 }

  /// Steps of which nobody knows whether they have done what they do: an attempt had begun, and no end of it
  /// is recorded. By address.
  package var inDoubt: [StepAddress] {
    steps.keys.filter(isInDoubt).sorted { $0.text < $1.text }
  }

  /// Whether nobody knows if the step has done what it does, and nobody has asked since to run it again.
  package func isInDoubt(_ address: StepAddress) -> Bool {
    guard let step = steps[address], step.isInDoubt else { return false }
    if rerunSince.isEmpty { return true }
    let planned = address.planned { known in rerunSince.keys.contains { $0.isInside(known) } }
    return step.number > max(rerunSince[address] ?? 0, rerunSince[planned] ?? 0)
  }

  /// What is known of a step; `nil` if nothing, or only of an earlier attempt of what is around it.
  ///
  /// - Parameter beginning: The largest ``RecordedGroup/begunBy`` of the groups around it; 0 without.
  package func step(_ address: StepAddress, since beginning: UInt64 = 0) -> RecordedStep? {
    steps[address].flatMap { $0.number > beginning ? $0 : nil }
  }

  /// The same for a group.
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
    case .event(let event): apply(event, record.number)
    case .finished(let step, let end, let kept):
      set(step: step, .finished(end, kept), record.number)
    case .cached(let step, let end, let kept):
      set(step: step, .finished(end, kept), record.number)
      steps[step]?.isCached = true
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

  private mutating func apply(_ event: RunEvent.Kind, _ number: UInt64) {
    switch event {
    case .runStarted(let start): self.start = start
    case .stepQueued(let step, let pools):
      // What is in doubt stays so until an attempt of it has begun.
      if !isInDoubt(step) { set(step: step, .queued, number) }
      steps[step]?.pools = pools.map(\.pool)
    case .stepStarted(let step, let attempt): set(step: step, .started(attempt: attempt), number)
    case .stepAsking(let step, let message): steps[step]?.asks = message
    case .stepRetrying(let step, let retry): set(step: step, .retrying(retry), number)
    case .stepFinished(let step, let end), .stepCached(let step, let end):
      set(step: step, .finished(end, KeptValues()), number)
    case .stepSkipped(let step, let reason):
      // Nobody knows more of what was in doubt.
      if isInDoubt(step) {
        steps[step]?.leftOut = reason
      } else {
        set(step: step, .skipped(reason), number)
      }
      skip(group: step, reason, number)
    case .groupStarted(let group, let start):
      // It is told again of what stands, and nothing has changed.
      if start.isRestored {
        groups[group]?.isRestored = true
        break
      }
      // An address has one state, the latest: what was skipped as a whole has begun.
      steps[group] = nil
      var known = groups[group] ?? RecordedGroup()
      known.state = .started(start)
      known.number = number
      known.lastStart = number
      groups[group] = known
    case .groupRetrying(let group, let retry):
      set(group: group, .retrying(retry), number)
      groups[group]?.begunBy = number
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

  /// A loop or group that had begun does not start any more. Its elements stay known.
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

/// Where a step stood.
package struct RecordedStep: Sendable, Hashable {
  package enum State: Sendable, Hashable {
    case queued
    /// The attempt had begun, and perhaps done everything.
    case started(attempt: Int)
    /// The attempt has failed, and another was to follow.
    case retrying(Retry)
    case finished(StepEnd, KeptValues)
    case skipped(SkipReason)
  }

  package var state: State
  /// Of the record that says so.
  package var number: UInt64 = 0
  /// The number of the record by which an attempt last began, whatever has become of the step since; 0: none has.
  package var lastStart: UInt64 = 0
  /// Which engine wrote it: the ``RecordOpening/resumption`` of the run.
  package var engine = 0
  /// The pools of which it takes slots.
  package var pools: [String] = []
  /// When its first attempt began in that part of the run; `nil` of one that never did.
  package var startedAt: WallTime?
  /// Whether it was not run, since it had made the same before.
  package var isCached = false
  /// Of what is in doubt: the process that its program was. Ticks and ids are of the boot that the engine's
  /// ``RecordOpening`` names.
  package var process: ProcessIdentity?
  /// Of a step that does nothing but wait: until when, whoever runs the engine.
  package var waitsUntil: WallTime?
  /// What a person is asked, if the step waits for one.
  package var asks: String?
  /// Whether the last part of the run has ended without coming to it, so that it is in no report.
  package var isOutdated = false
  /// Of what is in doubt: why a later engine did not come to it.
  package var leftOut: SkipReason?

  package init(_ state: State) {
    self.state = state
  }

  /// Whether nobody knows if it has done what it does: also when a later engine has left it at that, and
  /// said so by a failure of the class ``ErrorClass/inDoubt``.
  package var isInDoubt: Bool {
    switch state {
    // Who waits for an answer has done nothing.
    case .started: asks == nil
    case .finished(let end, _): end.failure?.classes.contains(.inDoubt) ?? false
    case .queued, .retrying, .skipped: false
    }
  }
}

/// Where a group, or what is run for many elements, stood.
package struct RecordedGroup: Sendable, Hashable {
  package enum State: Sendable, Hashable {
    /// Nothing but its elements is known.
    case listed
    case started(GroupStart)
    case retrying(Retry)
    case finished(GroupEnd)
    /// It had begun, and a later engine did not start it.
    case skipped(SkipReason)
  }

  package var state = State.listed
  /// Of the last record about the group itself.
  package var number: UInt64 = 0
  /// The number of the record by which it last began, whatever has become of it since; 0: it never has.
  package var lastStart: UInt64 = 0
  /// Of the record that says that it was to be tried again: what is inside and older is void.
  package var begunBy: UInt64 = 0
  /// Whether it is being told of again though it stands.
  fileprivate(set) var isRestored = false
  /// What it is run for, if it is.
  package var elements: RecordedElements?
  /// Elements that it had in an earlier part of the run, and has no more.
  package var formerElements: [RecordedElements.Element] = []
  /// The number of the record that says so.
  package var listedBy: UInt64 = 0

  package init() {}

  /// All elements that may have begun, those it has first; none of a secret list.
  package var allElements: [RecordedElements.Element] {
    elements?.isSecret == true ? [] : (elements?.elements ?? []) + formerElements
  }
}

import Synchronization
import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftFutures
package import WeftPlanning
import WeftPlatform

/// Steps with `approve`, which wait for a person. Such a step holds no slot while it waits, and is cut short like a
/// pause when its scope lets nothing new start.
extension RunEngine {
  /// Answers an approval on behalf of a person whom the ``Approver`` did not ask: at another terminal, or through the
  /// embedding program. The answer to a step that has not asked yet is kept until it asks. An answer after the first
  /// one is dropped, even if the step asks again.
  package func answer(_ step: StepAddress, _ answer: ApprovalAnswer) {
    state.withLock { $0.approvals.answer(step, answer) }?.promise.succeed(answer)
  }

  private enum Ending: Sendable {
    case answer(ApprovalAnswer)
    case pause(Pause.End)
  }

  func approve(_ task: StepTask) -> Future<NodeResult, Never> {
    guard case .approve(let approval) = task.step.action else {
      preconditionFailure("\(task.address) does not ask")
    }
    let message: String
    switch text(of: approval, for: task) {
    case .success(let text): message = text
    case .failure(let failure): return Future(value: failAtStart(task, failure))
    }
    var resolved = ResolvedStep(
      asWritten: task.step, directory: plan.workingDirectory(of: task.step))
    if let failure = StepResolver(values, in: task.instance).resolve(
      task.index, attempt: 1, &resolved)
    {
      return Future(value: failAtStart(task, failure))
    }
    let (timeout, tolerance) = (resolved.timeout, resolved.allowFailure)
    let approver = configuration.resources.approver
    let suspendsWhileWaiting = configuration.journal.suspendsWhileWaiting
    guard approver != nil || suspendsWhileWaiting else {
      return Future(value: failAtStart(task, .noApprover))
    }
    reportStart(of: task)
    let isAlreadyPending = isAlreadyPending(task)
    // A step that has ended asks again, for all of its time.
    let knownEnd =
      isAlreadyPending
      ? resumePolicy?.openQuestion(of: task).flatMap { $0.isOver ? nil : $0.waitsUntil } : nil
    beginQuestion(task, isAlreadyPending: isAlreadyPending)
    events.publish(.stepAsking(task.address, message: message), step: task.place)
    let (since, stop) = (time.now, StopSwitch())
    let request = ApprovalRequest(step: task.address, message: message)
    let left = timeLeft(for: task, of: timeout, until: knownEnd)
    let elsewhere = expectAnswer(to: request, of: task.instanceNumber)
    questionIsOpen(isAlreadyPending: isAlreadyPending)
    // An answer that was given in time counts, even if the time has passed since.
    let isAnswered = state.withLock { $0.approvals.isAnswered(task.instanceNumber) }
    let limit = pause(
      task.instanceNumber, in: task.scope, for: isAnswered ? nil : left, immunity: task.immunity)
    let isTooLate = knownEnd.map { $0.nanoseconds < configuration.wallClock().nanoseconds } ?? false
    let asked: Future<ApprovalAnswer, Never> =
      if isTooLate {
        Future(value: .unanswered("the time to answer is over"))
      } else if let approver {
        approver.ask(
          request, stop: stop,
          reportAbsence: suspendsWhileWaiting ? absenceReport(for: task.instanceNumber) : nil)
      } else {
        Future(value: .unanswered("there is no terminal"))
      }
    let here = asked.flatMap { [self] answer in
      guard case .unanswered = answer, suspendsWhileWaiting || isTooLate else {
        return Future(value: answer)
      }
      setApproverAbsent(true, for: task.instanceNumber)
      return elsewhere
    }
    return Future.race([
      here.map { Ending.answer($0) }, elsewhere.map { Ending.answer($0) },
      limit.map { Ending.pause($0) },
    ])
    .flatMap { [self] ending in
      endPause(task.instanceNumber)
      let pending = state.withLock { $0.approvals.remove(task.instanceNumber) }
      stop.request(.now)
      pending?.promise.succeed(.rejected)
      // The approver lets go of the terminal before the step ends.
      return asked.map { [self] _ in
        let end = end(
          of: task, ending, timeout, tolerating: tolerance, lasting: time.now - since)
        let result = concludeComputing(task, end)
        // The end of the step is recorded by now. One that was cancelled has not taken an answer, and may ask again.
        if result.conclusion != .cancelled { inbox?.discard(answersTo: task.address) }
        return result
      }
    }
  }

  /// The answer that arrives from outside, not through the ``Approver``.
  private func expectAnswer(
    to request: ApprovalRequest, of instanceNumber: Int
  ) -> Future<ApprovalAnswer, Never> {
    let pending = PendingApproval(request: request)
    let early = state.withLock { $0.approvals.add(pending, instanceNumber) }
    if let early { pending.promise.succeed(early) }
    return pending.promise.future
  }

  /// The remaining time limit of the approval; for one that already waited under an earlier engine, the time until its
  /// end.
  private func timeLeft(
    for task: StepTask, of timeout: Duration?, until knownEnd: WallTime?
  ) -> Duration? {
    guard let timeout else { return nil }
    let end = knownEnd ?? configuration.wallClock().advanced(by: timeout)
    events.record(.waiting(task.address, until: end))
    return knownEnd == nil ? timeout : timeUntil(end.nanoseconds)
  }

  private func text(of approval: Approval, for task: StepTask) -> Result<String, StepFailure> {
    guard let text = plan.values.texts(ofStep: task.index).first(at: .message) else {
      return .success(approval.message)
    }
    return Result { () throws(StepFailure) in
      let scope = try StepResolver(values, in: task.instance).scope(ofStep: task.index)
      return try text.evaluated(in: plan) { (template) throws(ExpressionError) in
        try template.text(in: scope).text
      }
    }
  }

  private func end(
    of task: StepTask, _ ending: Ending, _ timeout: Duration?,
    tolerating tolerance: FailureTolerance, lasting duration: Duration
  ) -> StepEnd {
    var failure: StepFailure?
    var cancellation: CancelReason?
    var approver: String?
    switch ending {
    case .answer(.approved(let name)): approver = name
    case .answer(.rejected): failure = .rejected
    case .answer(.unanswered(let reason)): failure = .unanswered(reason)
    case .pause(.over): failure = .timedOut(after: timeout ?? .zero)
    case .pause(.cutShort):
      cancellation =
        state.withLock { $0.cancelReasonOfWait(in: task.scope) } ?? .requested
    }
    let (outcome, conclusion) = tolerance.judge(failure, cancellation)
    var end = StepEnd(
      outcome: outcome, conclusion: conclusion, attempts: 1, exit: nil, failure: failure,
      cancellation: cancellation, duration: duration)
    end.approvedBy = approver
    return end
  }
}

/// A step that waits for an answer.
struct PendingApproval: Sendable {
  let request: ApprovalRequest
  let promise = Promise<ApprovalAnswer, Never>(ifDropped: .success(.rejected))
  /// Whether the approver said that it cannot give one.
  fileprivate var isUnattended = false
  /// Whether an answer is on its way.
  fileprivate var isAnswered = false
}

/// The approvals of a run, by the instance number of the step that waits for each.
struct Approvals: Sendable {
  private var pending: [Int: PendingApproval] = [:]
  /// All steps that have asked for approval.
  private var asked: Set<StepAddress> = []
  /// Answers that arrived before their step asked.
  private var early: [StepAddress: ApprovalAnswer] = [:]

  /// Adds an approval that is waited for.
  ///
  /// - Returns: The answer, if it has arrived already.
  mutating func add(_ approval: PendingApproval, _ instanceNumber: Int) -> ApprovalAnswer? {
    pending[instanceNumber] = approval
    asked.insert(approval.request.step)
    return early.removeValue(forKey: approval.request.step)
  }

  mutating func remove(_ instanceNumber: Int) -> PendingApproval? {
    pending.removeValue(forKey: instanceNumber)
  }

  /// The approval that an answer is for. The first answer to a step that has not asked yet is kept until it asks.
  mutating func answer(_ step: StepAddress, _ answer: ApprovalAnswer) -> PendingApproval? {
    if let (number, waiting) = pending.first(where: { $0.value.request.step == step }) {
      pending[number]?.isAnswered = true
      return waiting
    }
    if !asked.contains(step), early[step] == nil { early[step] = answer }
    return nil
  }

  /// Records whether the approver cannot give the answer.
  mutating func setUnattended(_ isUnattended: Bool, _ instanceNumber: Int) {
    pending[instanceNumber]?.isUnattended = isUnattended
  }

  func hasAsked(_ step: StepAddress) -> Bool { asked.contains(step) }

  func isAnswered(_ instanceNumber: Int) -> Bool { pending[instanceNumber]?.isAnswered ?? false }

  func isWaiting(_ instanceNumber: Int) -> Bool { pending[instanceNumber] != nil }

  /// The approvals that are waited for, in the order of their steps.
  private var sorted: [PendingApproval] { pending.sorted { $0.key < $1.key }.map(\.value) }

  var requests: [ApprovalRequest] { sorted.map(\.request) }

  var unattended: [PendingApproval] { sorted.filter(\.isUnattended) }

  /// Whether no approver is being asked.
  var areUnattended: Bool { pending.values.allSatisfy(\.isUnattended) }
}

extension StepFailure {
  fileprivate static let noApprover = StepFailure(
    classes: [.spawn], message: "cannot ask for approval: there is no terminal",
    help: "start the run at a terminal, or with a journal, so that \"weft approve\" can answer"
  )
  fileprivate static let rejected = StepFailure(
    classes: [.rejected], message: "was rejected")

  fileprivate static func unanswered(_ reason: String) -> StepFailure {
    StepFailure(
      classes: [.spawn], message: "cannot ask for approval: \(reason)",
      help:
        "start the run in the foreground of a terminal, or with a journal, so that "
        + "\"weft approve\" can answer"
    )
  }
}

/// Suspends a run in which nothing can proceed without an approval that cannot be given here. The run stays in its
/// journal, to be resumed.
///
/// ``IdleDetector`` decides whether the run has been idle long enough.
extension RunEngine {
  fileprivate func absenceReport(for instanceNumber: Int) -> AbsenceReport {
    { [weak self] in self?.setApproverAbsent($0, for: instanceNumber) }
  }

  /// Records whether a step waits for an answer that cannot be given here, and starts to watch whether the run is idle.
  fileprivate func setApproverAbsent(_ isAbsent: Bool, for instanceNumber: Int) {
    let begins = state.withLock { state in
      state.approvals.setUnattended(isAbsent, instanceNumber)
      guard isAbsent, state.idleDetector == nil else { return false }
      state.idleDetector = IdleDetector()
      return true
    }
    if begins { check() }
  }

  private func check() {
    // The waiting steps are read before the running ones: a step goes from the former to the latter.
    let (nobodyWaits, happened) = (slots.waiting().isEmpty, events.changeCount)
    let verdict = state.withLock { state -> IdleDetector.Verdict? in
      guard !state.approvals.unattended.isEmpty, state.canBeSuspended else {
        // The next unanswered approval starts the watch again.
        state.idleDetector = nil
        return nil
      }
      let isIdle = nobodyWaits && state.isIdle
      let verdict = state.idleDetector?.check(isIdle: isIdle, happened: happened)
      guard case .atRest? = verdict else { return verdict }
      state.left = SuspendedRun(requests: state.approvals.requests, counts: events.counts)
      // No `finally` and no cleanup: the run has not ended.
      state.killsAtOnce = true
      // Within the lock: an answer that arrives from now on is for the engine that resumes the run.
      events.mute()
      return .atRest
    }
    switch verdict {
    case .again(let delay)?:
      let timer = time.schedule(after: delay) { [weak self] in self?.check() }
      state.withLock { $0.restTimer = timer }
    // The events are muted by now, so this is not reported.
    case .atRest?: endNow()
    case nil: giveUpAnswers()
    }
  }
}

extension RunEngine {
  /// Fails the approvals that cannot be answered here, if the run is being cancelled: such a run is not suspended.
  private func giveUpAnswers() {
    let given = state.withLock { state -> [PendingApproval] in
      guard state.scopes.runCancellation != nil, state.left == nil else { return [] }
      return state.approvals.unattended
    }
    for pending in given {
      pending.promise.succeed(.unanswered("the run is ending"))
    }
  }
}

/// The approvals that a run waited for when its engine suspended it.
struct SuspendedRun: Sendable {
  let requests: [ApprovalRequest]
  let counts: OutcomeCounts
}

extension RunEngine.State {
  fileprivate var canBeSuspended: Bool {
    !killsAtOnce && scopes.runCancellation == nil && left == nil
  }

  /// Whether nothing proceeds except waiting for answers that cannot be given here.
  fileprivate var isIdle: Bool {
    running.isEmpty && approvals.areUnattended && pauses.keys.allSatisfy(approvals.isWaiting)
  }
}

/// Decides when a run is idle: nothing can proceed, and nothing has happened between two checks. The second
/// check covers work that is passing from one step to the next, which no counter shows.
struct IdleDetector: Sendable, Hashable {
  enum Verdict: Sendable, Hashable {
    case atRest
    /// To be checked again after this delay.
    case again(after: Duration)
  }

  static let shortest = Duration.milliseconds(25)
  static let longest = Duration.seconds(1)

  private var wait = IdleDetector.shortest
  /// The number of events when nothing could last proceed.
  private var stillSince: UInt64?

  /// - Parameters:
  ///   - isIdle: Whether nothing runs, and nothing waits for a slot or a point in time.
  ///   - happened: The number of events so far, without output and progress.
  mutating func check(isIdle: Bool, happened: UInt64) -> Verdict {
    if isIdle, stillSince == happened { return .atRest }
    stillSince = isIdle ? happened : nil
    // A run that seems idle is checked again soon; one that runs for hours costs one check per second.
    wait = isIdle ? IdleDetector.shortest : min(wait * 2, IdleDetector.longest)
    return .again(after: wait)
  }
}

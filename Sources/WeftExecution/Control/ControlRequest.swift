import Synchronization
package import WeftEvents
import WeftFutures
package import WeftPlanning
import WeftPlatform

/// A request from another process to a run, running or suspended.
package enum ControlRequest: Sendable, Hashable {
  case approve(StepAddress)
  case reject(StepAddress)
  /// Cancels the run, as by ``RunEngine/cancel(_:)``.
  case cancel
  /// Ends the run without a grace period, as by ``RunEngine/killNow()``.
  case kill

  /// The step whose approval it decides.
  package var answeredStep: StepAddress? { answer?.step }

  /// The answer to the question of a step.
  fileprivate var answer: (step: StepAddress, ApprovalAnswer)? {
    switch self {
    case .approve(let step): (step, .approved(by: "\(ThisProcess.userName), with weft approve"))
    case .reject(let step): (step, .rejected)
    case .cancel, .kill: nil
    }
  }
}

/// The place where other processes leave control requests for a run.
package protocol ControlInbox: Sendable {
  /// Takes the requests since the last call, oldest first: those to end the run, and answers to these steps.
  /// Answers to other steps stay. Called on the timer thread, so it must not block.
  func take(answersTo steps: Set<StepAddress>) -> [ControlRequest]

  /// Removes all answers to a step that have arrived so far: before the step asks, because they do not answer
  /// that question, and after its end is recorded.
  func discard(answersTo step: StepAddress)

  /// Removes the answers to a step that were given after a moment: its time was over.
  func discard(answersTo step: StepAddress, givenAfter moment: WallTime)

  /// Closes the inbox when the engine has ended or suspended the run.
  ///
  /// Answers remain unless the run has succeeded: the next engine drops those that are not due.
  ///
  /// - Parameter outcome: The outcome of the run; `nil` if it is suspended.
  func close(after outcome: Outcome?)
}

/// The control requests of a run that an inbox has read, by the names under which they were left.
///
/// A name begins with the time in nanoseconds, so that names sort by age.
package struct StoredRequests: Sendable {
  private var requests: [String: ControlRequest] = [:]
  private var taken: Set<String> = []

  package init() {}

  package mutating func add(_ request: ControlRequest, named name: String) {
    requests[name] = request
  }

  /// Returns the requests that were not taken yet, oldest first; answers only for `steps`.
  package mutating func take(answersTo steps: Set<StepAddress>) -> [ControlRequest] {
    let names = requests.filter { name, request in
      !taken.contains(name) && (request.answeredStep.map(steps.contains) ?? true)
    }.keys.sorted()
    taken.formUnion(names)
    return names.compactMap { requests[$0] }
  }

  /// Removes requests.
  ///
  /// - Returns: Their names.
  package mutating func remove(
    where isNeedless: (_ name: String, ControlRequest) -> Bool
  ) -> [String] {
    let names = requests.filter { isNeedless($0.key, $0.value) }.map(\.key)
    for name in names { requests[name] = nil }
    return names
  }

  /// Whether a request was left after a moment.
  package static func wasLeft(_ name: String, after moment: WallTime) -> Bool {
    Int64(name.prefix { $0 != "-" }).map { $0 > moment.nanoseconds } ?? false
  }

  /// Whether a request is needless once an engine has ended or suspended the run.
  package static func isNeedless(_ request: ControlRequest, after outcome: Outcome?) -> Bool {
    request.answeredStep == nil ? outcome != nil : outcome == .success
  }
}

extension ControlRequest {
  /// Whether it still applies to an engine that resumes the run. An answer does until its step has taken one.
  /// A request to end the run was meant for the previous engine, unless that had suspended the run.
  package func isDue(after recorded: RunState) -> Bool {
    switch self {
    case .approve(let step), .reject(let step): recorded.steps[step]?.isUnanswered ?? false
    case .cancel, .kill: recorded.pause != nil
    }
  }
}

extension RecordedStep {
  /// Whether the step waits for an approval.
  package var isAsking: Bool {
    if case .started = state { question != nil } else { false }
  }

  /// Whether the time to answer its approval is over.
  package func isTooLate(at now: WallTime) -> Bool {
    isAsking && waitsUntil.map { $0.nanoseconds < now.nanoseconds } ?? false
  }
}

/// Executes control requests of other processes, such as `weft approve` and `weft cancel`.
extension RunEngine {
  /// The interval between two looks at the inbox.
  private static let attention = Duration.milliseconds(200)

  /// Executes the requests that are there, and schedules the next look.
  func heedRequests() {
    guard inbox != nil, !events.isFinished else { return }
    takeRequests()
    let timer = time.schedule(after: RunEngine.attention) { [weak self] in self?.heedRequests() }
    state.withLock { $0.controlTimer = timer }
  }

  /// Executes the requests that are there. Only questions that are open when it begins are answered: an answer that
  /// came before its question is removed by ``beginQuestion(_:)``.
  ///
  /// When it returns, the questions know of all answers, also of those that another thread has taken meanwhile.
  private func takeRequests() {
    guard let inbox else { return }
    var given: [(PendingApproval, ApprovalAnswer)] = []
    let requests = inboxTurn.withLock { _ in
      let open = Set(state.withLock { $0.approvals.requests }.map(\.step))
      let requests = inbox.take(answersTo: open)
      // The last of several answers to a step counts, and the first that its question knows of.
      for request in requests.reversed() {
        guard let (step, answer) = request.answer,
          let pending = state.withLock({ $0.approvals.answer(step, answer) })
        else { continue }
        given.append((pending, answer))
      }
      return requests
    }
    for (pending, answer) in given { pending.promise.succeed(answer) }
    if requests.contains(.cancel) { cancel(.requested) }
    if requests.contains(.kill) { killNow() }
  }

  /// Whether answers to the question of an earlier engine count for a step that asks for the first time.
  func isAlreadyPending(_ task: StepTask) -> Bool {
    resumePolicy?.openQuestion(of: task) != nil
      && !state.withLock { $0.approvals.hasAsked(task.address) }
  }

  /// Discards answers that do not count: those that arrived before the step asks are not meant for this question, and
  /// those to a question that an earlier engine asked may be too late.
  func beginQuestion(_ task: StepTask, isAlreadyPending: Bool) {
    if !isAlreadyPending {
      inbox?.discard(answersTo: task.address)
    } else if let end = resumePolicy?.openQuestion(of: task)?.waitsUntil {
      inbox?.discard(answersTo: task.address, givenAfter: end)
    }
  }

  /// Looks for answers once a question is open that an earlier engine asked: they may have arrived before this engine
  /// started.
  func questionIsOpen(isAlreadyPending: Bool) {
    if isAlreadyPending { takeRequests() }
  }
}

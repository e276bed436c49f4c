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
    let promise = state.withLock { state -> Promise<ApprovalAnswer, Never>? in
      if let pending = state.approvals.values.first(where: { $0.request.step == step }) {
        return pending.promise
      }
      if !state.asked.contains(step), state.earlyAnswers[step] == nil {
        state.earlyAnswers[step] = answer
      }
      return nil
    }
    promise?.succeed(answer)
  }

  private enum Ending: Sendable {
    case answer(ApprovalAnswer)
    case pause(Pause.End)
  }

  func approve(_ task: StepTask, _ approval: Approval) -> Future<NodeResult, Never> {
    let message: String
    switch text(of: approval, for: task) {
    case .success(let text): message = text
    case .failure(let failure): return Future(value: failAtStart(task, failure))
    }
    guard approver != nil || leavesWhileWaiting else {
      return Future(value: failAtStart(task, .nobodyToAsk))
    }
    tellStart(of: task)
    let isAskedAlready = isAskedAlready(task.address)
    beginQuestion(task.address, isAskedAlready: isAskedAlready)
    events.publish(.stepAsking(task.address, message: message), step: task.place)
    let (since, stop) = (time.now, StopSwitch())
    let request = ApprovalRequest(step: task.address, message: message)
    let limit = pause(
      task.instanceNumber, in: task.scope, for: limit(of: task), immunity: task.immunity)
    let elsewhere = expectAnswer(to: request, of: task.instanceNumber)
    questionIsOpen(isAskedAlready: isAskedAlready)
    let asked =
      approver?.ask(request, stop: stop) ?? Future(value: .unanswered("there is no terminal"))
    let here = asked.flatMap { [self] answer in
      guard case .unanswered = answer, leavesWhileWaiting else { return Future(value: answer) }
      approverIsAbsent(for: task.instanceNumber)
      return elsewhere
    }
    return Future.race([
      here.map { Ending.answer($0) }, elsewhere.map { Ending.answer($0) },
      limit.map { Ending.pause($0) },
    ])
    .flatMap { [self] ending in
      endPause(task.instanceNumber)
      let pending = state.withLock { $0.approvals.removeValue(forKey: task.instanceNumber) }
      stop.request(.now)
      pending?.promise.succeed(.rejected)
      // The approver lets go of the terminal before the step ends.
      return asked.map { [self] _ in
        let result = concludeComputing(
          task, end(of: task, ending, lasting: time.now - since),
          NodeValues(outcome: .success, conclusion: .success, attempts: 1))
        // The end of the step is recorded by now.
        inbox?.discard(answersTo: task.address)
        return result
      }
    }
  }

  /// The answer that arrives from outside, not through the ``Approver``.
  private func expectAnswer(
    to request: ApprovalRequest, of instanceNumber: Int
  ) -> Future<ApprovalAnswer, Never> {
    let promise = Promise<ApprovalAnswer, Never>(ifDropped: .success(.rejected))
    let early = state.withLock { state in
      state.approvals[instanceNumber] = PendingApproval(request: request, promise: promise)
      state.asked.insert(request.step)
      return state.earlyAnswers.removeValue(forKey: request.step)
    }
    if let early { promise.succeed(early) }
    return promise.future
  }

  /// The remaining time limit of the approval; for one that already waited under an earlier engine, what is left of
  /// its limit.
  private func limit(of task: StepTask) -> Duration? {
    guard let timeout = task.step.timeout else { return nil }
    if let until = resumePolicy?.waitEnd(of: task) { return timeUntil(until.nanoseconds) }
    events.note(.waiting(task.address, until: wallClock().advanced(by: timeout)))
    return timeout
  }

  private func text(of approval: Approval, for task: StepTask) -> Result<String, StepFailure> {
    guard let text = plan.values.texts(ofStep: task.index).first(where: { $0.site == .message })
    else { return .success(approval.message) }
    return Result { () throws(StepFailure) in
      var scope = StepScope(values: values, instance: task.instance, group: task.step.group)
      scope.variables = try StepResolver(values, in: task.instance).variables(ofStep: task.index)
      do throws(ExpressionError) {
        return try text.template.text(in: scope).text
      } catch {
        throw StepFailure(error, in: text, of: plan)
      }
    }
  }

  private func end(of task: StepTask, _ ending: Ending, lasting duration: Duration) -> StepEnd {
    var failure: StepFailure?
    var cancellation: CancelReason?
    var approver: String?
    switch ending {
    case .answer(.approved(let name)): approver = name
    case .answer(.rejected): failure = .rejected
    case .answer(.unanswered(let reason)): failure = .unanswered(reason)
    case .pause(.over): failure = .timedOut(after: task.step.timeout ?? .zero)
    case .pause(.cutShort):
      cancellation =
        state.withLock { $0.reasonToEndWaiting(in: task.scope) } ?? .requested
    }
    let outcome: Outcome =
      if failure != nil { .failure } else if cancellation != nil { .cancelled } else { .success }
    let isTolerated = failure.map { task.step.allowFailure.tolerates($0.classes) } ?? false
    var end = StepEnd(
      outcome: outcome, conclusion: isTolerated ? .success : outcome, attempts: 1, exit: nil,
      failure: failure, cancellation: cancellation, duration: duration)
    end.approvedBy = approver
    return end
  }
}

/// A step that waits for an answer.
struct PendingApproval: Sendable {
  let request: ApprovalRequest
  let promise: Promise<ApprovalAnswer, Never>
  /// Whether the approver said that it cannot give one.
  var isUnattended = false
}

extension StepFailure {
  fileprivate static let nobodyToAsk = StepFailure(
    classes: [.spawn], message: "nobody can be asked: there is no terminal",
    help: "start the run at a terminal, or with a record, which can be answered by \"weft approve\""
  )
  fileprivate static let rejected = StepFailure(
    classes: [.rejected], message: "was rejected")

  fileprivate static func unanswered(_ reason: String) -> StepFailure {
    StepFailure(
      classes: [.spawn], message: "nobody can be asked: \(reason)",
      help:
        "start the run in the foreground of a terminal, or with a record, which can be answered by \"weft approve\""
    )
  }
}

import Synchronization
import WeftDefinition
import WeftExpressions
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A step that waits for a person. It holds nothing meanwhile, and ends as a pause does when nothing new may
/// start.
extension LiveRun {
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
    guard let approver else { return Future(value: failAtStart(task, .nobodyToAsk)) }
    tellStart(of: task)
    let (since, stop) = (time.now, StopSwitch())
    let limit = pause(
      task.instance, in: task.scope, for: task.step.timeout, shelter: task.shelter)
    let answer = approver.ask(
      ApprovalRequest(step: task.address, message: message), stop: stop)
    return Future.race([answer.map { Ending.answer($0) }, limit.map { Ending.pause($0) }])
      .flatMap { [self] ending in
        endPause(task.instance)
        stop.request(.now)
        // Whoever asks has let go of the terminal before the step is over.
        return answer.map { [self] _ in
          concludeComputing(
            task, end(of: task, ending, lasting: time.now - since),
            NodeValues(outcome: .success, conclusion: .success, attempts: 1))
        }
      }
  }

  private func text(of approval: Approval, for task: StepTask) -> Result<String, StepFailure> {
    guard let text = plan.values.texts(ofStep: task.index).first(where: { $0.site == .message })
    else { return .success(approval.message) }
    return Result { () throws(StepFailure) in
      var scope = StepScope(values: values, frame: task.frame, group: task.step.group)
      scope.variables = try StepResolver(values, in: task.frame).variables(ofStep: task.index)
      do throws(ExpressionFault) {
        return try text.template.text(in: scope).text
      } catch {
        throw StepFailure(error, in: text, of: plan)
      }
    }
  }

  private func end(of task: StepTask, _ ending: Ending, lasting duration: Duration) -> StepEnd {
    var failure: StepFailure?
    var cancellation: CancelReason?
    switch ending {
    case .answer(.approved): break
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
    return StepEnd(
      outcome: outcome, conclusion: isTolerated ? .success : outcome, attempts: 1, exit: nil,
      failure: failure, cancellation: cancellation, duration: duration)
  }
}

extension StepFailure {
  fileprivate static let nobodyToAsk = StepFailure(
    classes: [.spawn], message: "nobody can be asked: there is no terminal",
    help: "start the run at a terminal; a program that embeds Weft gives the engine somebody to ask"
  )
  fileprivate static let rejected = StepFailure(
    classes: [.rejected], message: "was rejected")

  fileprivate static func unanswered(_ reason: String) -> StepFailure {
    StepFailure(
      classes: [.spawn], message: "nobody can be asked: \(reason)",
      help: "start the run in the foreground of a terminal")
  }
}

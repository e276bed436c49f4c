import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Answers approval requests by the scripts of their steps, at virtual times.
final class CaseApprover: Approver {
  private let world: CaseWorld

  init(_ world: CaseWorld) { self.world = world }

  func ask(
    _ request: ApprovalRequest, stop: StopSwitch, reportAbsence: AbsenceReport?
  ) -> Future<ApprovalAnswer, Never> {
    guard let result = world.nextResult(of: request.step) else {
      world.reportUnscripted(
        request.step, "ask \(quoted(request.message))",
        help: "write \"steps\": { \(quoted(request.step.text)): { \"approve\": true } }")
      return Future(value: .rejected)
    }
    guard let approves = result.approves else {
      return Future(value: .unanswered("this test case has no answer"))
    }
    let promise = Promise<ApprovalAnswer, Never>(ifDropped: .success(.rejected))
    let due = world.time.now + (result.duration ?? .zero)
    let number = world.agenda.add(at: due) {
      promise.succeed(approves ? .approved(by: "the test") : .rejected)
    }
    stop.whenRequested { [world] in
      world.agenda.cancel(number)
      promise.succeed(.unanswered("stopped"))
    }
    return promise.future
  }
}

import WeftExecution
import WeftFutures
import WeftPlatform

/// Asks the embedding program.
struct CallbackApprover: Approver {
  let approve: @Sendable (ApprovalRequest) async -> Bool

  func ask(_ request: ApprovalRequest, stop: StopSwitch) -> Future<ApprovalAnswer, Never> {
    let answer = Future<ApprovalAnswer, Never> {
      await approve(request) ? .approved : .rejected
    }
    stop.whenRequested { answer.cancel() }
    return answer
  }
}

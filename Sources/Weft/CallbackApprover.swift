import WeftEvents
import WeftExecution
import WeftFutures
import WeftPlatform

/// Asks the embedding program through its callback.
struct CallbackApprover: Approver {
  let approve: @Sendable (ApprovalRequest) async -> Bool

  /// The callback's task is cancelled when a stop is requested, and never waited for: a callback that ignores the
  /// cancellation would otherwise hold up the step, and with it the run. Its answer is then ignored.
  func ask(_ request: ApprovalRequest, stop: StopSwitch) -> Future<ApprovalAnswer, Never> {
    let answer = Promise<ApprovalAnswer, Never>(ifDropped: .success(.rejected))
    let asked = Future<ApprovalAnswer, Never> {
      await approve(request) ? .approved(by: "the program") : .rejected
    }
    asked.whenSettled { answer.settle($0) }
    stop.whenRequested {
      asked.cancel()
      answer.succeed(.rejected)
    }
    return answer.future
  }
}

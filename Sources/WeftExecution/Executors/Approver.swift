package import WeftEvents
package import WeftFutures
import WeftPlanning
package import WeftPlatform

/// Asks an approver whether a step may proceed.
package protocol Approver: Sendable {
  /// - Parameter stop: Ends the request without an answer.
  /// - Returns: The answer. It settles once no approver is being asked any more, and soon after a stop was
  ///   requested: the step and the run wait for that.
  func ask(_ request: ApprovalRequest, stop: StopSwitch) -> Future<ApprovalAnswer, Never>
}

/// The result of an approval request.
package enum ApprovalAnswer: Sendable, Hashable {
  /// Approved by this approver, in words.
  case approved(by: String)
  case rejected
  /// No approver could be asked, for this reason: a clause without subject.
  case unanswered(String)
}

package import WeftFutures
public import WeftPlanning
package import WeftPlatform

/// Asks a person whether a run may go on.
package protocol Approver: Sendable {
  /// - Parameter stop: Asks for an end without an answer.
  /// - Returns: The answer. It settles when no one is asked any more, and soon after a stop was requested: the step
  ///   and the run wait for that.
  func ask(_ request: ApprovalRequest, stop: StopSwitch) -> Future<ApprovalAnswer, Never>
}

/// What a person is asked.
public struct ApprovalRequest: Sendable, Hashable {
  /// The step that waits for the answer.
  public let step: StepAddress
  public internal(set) var message: String

  package init(step: StepAddress, message: String) {
    self.step = step
    self.message = message
  }
}

/// What came of asking.
package enum ApprovalAnswer: Sendable, Hashable {
  /// By whom, in words.
  case approved(by: String)
  case rejected
  /// Nobody could be asked, for a reason that is a sentence without its subject.
  case unanswered(String)
}

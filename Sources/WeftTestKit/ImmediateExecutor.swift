import WeftEvents
package import WeftExecution
package import WeftFutures

/// An executor that starts nothing: every attempt has ended before it began.
package struct ImmediateExecutor: StepExecutor {
  private let status: @Sendable (Attempt) -> AttemptEnd.Status

  /// - Parameter status: The end of an attempt; exit code 0 by default.
  package init(
    ending status: @escaping @Sendable (Attempt) -> AttemptEnd.Status = { _ in .ended(.code(0)) }
  ) {
    self.status = status
  }

  package func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    Future(value: AttemptEnd(status(attempt)))
  }
}

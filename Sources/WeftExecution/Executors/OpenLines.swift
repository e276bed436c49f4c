import Synchronization
import WeftPlanning

/// Finds the lines that running steps have begun and not ended, such as prompts, for a display that shows one step.
///
/// Nothing is published for such lines: most end a moment later.
final class OpenLines: Sendable {
  private let sinks = Mutex<[StepAddress: StepOutputSink]>([:])

  /// Called when a step writes.
  func note(_ sink: StepOutputSink, of step: StepAddress) { sinks.withLock { $0[step] = sink } }

  /// Called at the end of a step's output.
  func forget(_ sink: StepOutputSink, of step: StepAddress) {
    sinks.withLock { if $0[step] === sink { $0[step] = nil } }
  }

  /// Returns the text of the line, secrets masked; `nil` if there is none.
  func line(of step: StepAddress) -> [UInt8]? { sinks.withLock { $0[step] }?.openLine }
}

public import WeftEvents
import WeftExecution
public import WeftPlanning
import WeftPlatform
public import WeftRecord

/// Requests to engines of other processes.
extension FileRunStore {
  /// The IDs of the runs, the oldest first; empty if the directory cannot be read.
  public var runs: [RunID] { (try? StateDirectory(directory, makes: false))?.ids ?? [] }

  /// Requests that the engine of a run cancel it, in whatever process that is.
  ///
  /// Returns at once. A live engine sees the request within about 200 milliseconds, without an engine the next
  /// ``Engine/resume(_:_:inputs:options:in:)`` does. No effect on a run that has ended.
  ///
  /// - Parameter immediately: Whether running programs get no grace period, like ``Run/kill()``.
  /// - Throws: If there is no such run, or its directory cannot be written.
  public func cancel(_ run: RunID, immediately: Bool = false) throws(RunStoreError) {
    try leave(immediately ? .kill : .cancel, for: run)
  }

  /// Answers a step with `approve` of a run, in whatever process its engine is.
  ///
  /// Returns at once, and takes effect like ``cancel(_:immediately:)``. Of several answers that an engine finds
  /// together, the last one counts; none has an effect after the step has its answer.
  ///
  /// - Throws: If there is no such run, or its directory cannot be written.
  public func answer(
    _ step: StepAddress, of run: RunID, approved: Bool
  ) throws(RunStoreError) {
    try leave(approved ? .approve(step) : .reject(step), for: run)
  }

  private func leave(_ request: ControlRequest, for run: RunID) throws(RunStoreError) {
    do throws(RunFolderError) {
      try RunFolder.leave(
        request, for: run, in: try StateDirectory(directory, makes: false),
        at: .now)
    } catch {
      throw RunStoreError(error)
    }
  }
}

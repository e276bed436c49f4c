/// The state of a recorded run.
package enum RecordedState: String, Sendable, Hashable, CaseIterable {
  case success
  case failure
  case cancelled
  /// Its engine has suspended it until a pending approval is answered.
  case waiting
  /// No engine holds it, and no end is recorded: the engine was killed, or the machine stopped.
  case interrupted
  /// An engine holds it.
  case running
  /// Its state cannot be determined.
  case damaged
}

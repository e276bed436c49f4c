/// How it is with a recorded run.
package enum RecordedState: String, Sendable, Hashable, CaseIterable {
  case success
  case failure
  case cancelled
  /// Its engine has left it, as nothing can go on before somebody has answered.
  case waiting
  /// No engine has it, and its end is not recorded: the engine was killed, or the machine stopped.
  case interrupted
  /// An engine has it.
  case running
  /// It cannot be told what became of it.
  case damaged
}

package import WeftFutures

/// Writes down what happens in a run before it is acted upon.
package protocol RunRecorder: Sendable {
  /// Called before what the record announces is done, and before anybody is told of it; from any thread,
  /// and by several at once. It returns when the record is as safe as was promised, and blocks until then.
  ///
  /// - Parameter elapsed: Since the start of the engine, by a clock that does not jump.
  /// - Throws: When it could not be written: what it announces is not to be done then.
  func record(_ kind: RunRecord.Kind, elapsed: Duration) throws(RecordFault)

  /// The same without a thread that is blocked: it returns when the record has been written.
  ///
  /// - Parameter isUrgent: Whether somebody has nothing else to do until it is safe.
  /// - Returns: What settles when the record is as safe as was promised, or cannot be any more, which
  ///   ``whenLost(_:)`` tells; `nil`: it is.
  func write(
    _ kind: RunRecord.Kind, elapsed: Duration, isUrgent: () -> Bool
  ) throws(RecordFault) -> Future<Void, Never>?

  /// Calls `act` once if a record is ever lost, on any thread; at once if one has been.
  func whenLost(_ act: @escaping @Sendable () -> Void)

  /// The first fault of all; `nil` if everything was written.
  var fault: RecordFault? { get }

  /// Nothing is recorded any more: makes what was safe.
  func close()
}

extension RunRecorder {
  /// Of one that promises no more than that it has been written.
  package func write(
    _ kind: RunRecord.Kind, elapsed: Duration, isUrgent: () -> Bool
  ) throws(RecordFault) -> Future<Void, Never>? {
    try record(kind, elapsed: elapsed)
    return nil
  }
}

/// Why a record could not be written, or not made safe.
public struct RecordFault: Error, Sendable, Hashable {
  /// What has happened, in a sentence without a full stop.
  public let message: String
  /// What to do about it.
  public let help: String?

  package init(message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }
}

package import WeftEvents
package import WeftFutures

/// Writes the journal of a run. The engine calls it before it acts on, or reports, what the record says.
package protocol RunRecorder: Sendable {
  /// Writes a record, and blocks until it is as durable as the recorder promises. Called from any thread, and by
  /// several at once.
  ///
  /// - Parameter elapsed: The time since the engine started, by a monotonic clock; read when the record gets its number,
  ///   so that the times in a journal never decrease.
  /// - Throws: If the record cannot be written; what it announces must not happen then.
  func record(_ kind: RunRecord.Kind, elapsed: @autoclosure () -> Duration) throws(RecordError)

  /// Writes a record without blocking until it is durable.
  ///
  /// - Parameter isUrgent: Whether the caller has nothing else to do until the record is durable.
  /// - Returns: A future that settles when the record is durable, or can no longer become so, which ``onLost(_:)``
  ///   reports; `nil` if it is durable already.
  func write(
    _ kind: RunRecord.Kind, elapsed: @autoclosure () -> Duration, isUrgent: () -> Bool
  ) throws(RecordError) -> Future<Void, Never>?

  /// Calls `act` once when a record is lost, on any thread; at once if one was lost before.
  func onLost(_ act: @escaping @Sendable () -> Void)

  /// The first fault; `nil` if every record was written.
  var fault: RecordError? { get }

  /// Stops recording, and makes the records durable.
  func close()
}

extension RunRecorder {
  /// For recorders that promise no more than that the record is written.
  package func write(
    _ kind: RunRecord.Kind, elapsed: @autoclosure () -> Duration, isUrgent: () -> Bool
  ) throws(RecordError) -> Future<Void, Never>? {
    try record(kind, elapsed: elapsed())
    return nil
  }
}

/// The reason why a record could not be written, or not be made durable.
public struct RecordError: Error, Sendable, Hashable {
  /// The fault, as a sentence without a full stop.
  public let message: String
  /// The remedy.
  public let help: String?

  package init(message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }
}

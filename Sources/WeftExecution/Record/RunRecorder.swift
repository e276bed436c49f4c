import WeftCaching
import WeftDefinition
package import WeftEvents
import WeftExpressions
package import WeftFutures
import WeftHTTP
import WeftPlatform

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

/// The values of a step that the journal keeps, so that another engine can resume the run and evaluate the
/// expressions that read them. The journal masks secrets when it writes them.
extension RunEngine {
  func kept(_ own: NodeValues?, making files: [RecordedOutputFile]) -> RecordedValues {
    guard events.isRecorded else { return RecordedValues() }
    return RecordedValues(
      stdout: own?.stdout.map { $0.kept(from: values.spool) },
      stderr: own?.stderr.map { $0.kept(from: values.spool) },
      returned: own?.returned.map { $0.isSecret ? .secret : .value($0.value.json) },
      answer: own?.answer.map(kept),
      files: files)
  }

  /// The file into which a request saved its response.
  func savedFiles(_ trace: RequestTrace?) -> [RecordedOutputFile] {
    guard events.isRecorded, let path = trace?.answer?.response.savedTo,
      let file = RecordedOutputFile(stampedAt: path)
    else { return [] }
    return [file]
  }

  private func kept(_ answer: ResponseValues) -> RecordedResponse {
    RecordedResponse(
      headers: answer.headers.isSecret ? .secret : .value(answer.headers.value.json),
      body: answer.body?.kept(from: values.spool),
      isJSON: answer.body?.isJSON == true,
      collected: answer.collected.map { collected in
        collected.isSecret ? .secret : .limited("\(collected.value.json)")
      })
  }
}

extension RecordedText {
  fileprivate static func limited(_ text: String) -> RecordedText {
    text.utf8.count > WorkflowLimits.valueBytes ? .tooLong : .text(text)
  }
}

extension CapturedBody {
  fileprivate func kept(from spool: CaptureSpool) -> RecordedText {
    if self.isSecret { return .secret }
    if byteCount > WorkflowLimits.valueBytes { return .tooLong }
    guard case .string(let text)? = try? text("the step", from: spool).value else {
      return .notUTF8
    }
    return .limited(text)
  }
}

extension CapturedText {
  fileprivate func kept(from spool: CaptureSpool) -> RecordedText {
    if isSecret { return .secret }
    do throws(CaptureError) {
      return .text(try text(from: spool))
    } catch {
      switch error {
      case .tooLong: return .tooLong
      case .notUTF8: return .notUTF8
      // Treated as too long: an expression that reads it fails.
      case .unreadable: return .tooLong
      }
    }
  }
}

extension RecordedOutputFile {
  /// The file as it is now; `nil` if its status cannot be read.
  init?(stampedAt path: String) {
    guard let stamp = try? FileStamp(at: path) else { return nil }
    self.init(path: path, .stamp(bytes: Int(stamp.size), modified: Int(stamp.modified)))
  }

  /// The outputs of a cache entry, each with the digest of its contents.
  ///
  /// - Parameter foreign: Files inside the outputs that the step did not write; if empty, those that the entry lists.
  static func outputs(of entry: CacheEntry, beside foreign: [FileRecord] = [])
    -> [RecordedOutputFile]
  {
    let foreign = foreign.isEmpty ? entry.foreign : foreign
    let all = foreign.isEmpty ? entry.files : (entry.files + foreign).inOrder
    return entry.outputs.map { output in
      RecordedOutputFile(path: output, .digest(all.filter { $0.isBelow(output) }.digest))
    }
  }
}

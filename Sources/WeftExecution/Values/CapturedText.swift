import Synchronization
import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftPlatform

/// The output of one stream of a step, for the expressions that read it.
struct CapturedText: Sendable {
  private let content: SpooledBytes
  private let isCut: Bool
  /// Whether it contains the bytes of a secret.
  let isSecret: Bool

  init(_ stream: OutputCapture.Stream, isSecret: Bool, spool: CaptureSpool) {
    isCut = stream.isCut
    self.isSecret = isSecret
    content = SpooledBytes(isCut ? [] : stream.bytes, isSecret: isSecret, in: spool)
  }

  /// The text without its last newline.
  func text(from spool: CaptureSpool) throws(CaptureError) -> String {
    if isCut { throw .tooLong }
    var bytes = try content.bytes(from: spool)
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
    return text
  }
}

/// The reason why the output of a step cannot be a value.
enum CaptureError: Error, Hashable {
  case tooLong
  case notUTF8
  case unreadable(String)

  func problem(_ field: String) -> EvaluationError {
    switch self {
    case .tooLong:
      .scope(
        code: "W0330",
        message:
          "\(field) is longer than \(ByteCount(WorkflowLimits.valueBytes)), which is the limit",
        help:
          "write it to a file and output the name of the file, or read the whole log with \"stdin\""
      )
    case .notUTF8:
      .scope(
        code: "W0331", message: "\(field) is not UTF-8, so it cannot be a value",
        help: "let the step write UTF-8, or write to a file")
    case .unreadable(let reason):
      .scope(code: "W0332", message: "\(field) cannot be read back: \(reason)", help: nil)
    }
  }
}

/// Bytes in memory, or on disk if there are many and they are not secret.
struct SpooledBytes: Sendable {
  private enum Content: Sendable {
    case memory([UInt8])
    case disk(Range<Int>)
  }

  private let content: Content
  private static let memoryBytes = 64 << 10

  /// - Parameter spool: The file for many bytes; those that cannot be written to it are kept in memory.
  init(_ bytes: [UInt8], isSecret: Bool, in spool: CaptureSpool) {
    if bytes.count > SpooledBytes.memoryBytes, !isSecret, let range = spool.put(bytes) {
      content = .disk(range)
    } else {
      content = .memory(bytes)
    }
  }

  var count: Int {
    switch content {
    case .memory(let bytes): bytes.count
    case .disk(let range): range.count
    }
  }

  func bytes(from spool: CaptureSpool) throws(CaptureError) -> [UInt8] {
    switch content {
    case .memory(let bytes): bytes
    case .disk(let range): try spool.bytes(in: range)
    }
  }
}

/// Stores longer texts in an unlinked file.
final class CaptureSpool: Sendable {
  private let file = Mutex<SpoolFile?>(nil)

  /// - Returns: `nil` if they could not be written.
  func put(_ bytes: [UInt8]) -> Range<Int>? {
    file.withLock { file in
      if file == nil { file = try? SpoolFile() }
      guard let file else { return nil }
      let start = file.count
      guard (try? file.append(bytes)) != nil else { return nil }
      return start..<start + bytes.count
    }
  }

  func bytes(in range: Range<Int>) throws(CaptureError) -> [UInt8] {
    let file = file.withLock { $0 }
    do {
      let bytes = try file?.bytes(in: range) ?? []
      guard bytes.count == range.count else {
        throw CaptureError.unreadable("the file is too short")
      }
      return bytes
    } catch let fault as CaptureError {
      throw fault
    } catch {
      throw .unreadable("\(error)")
    }
  }
}

/// The output of a step that is kept for expressions: the exact bytes, up to a limit.
struct OutputCapture: Sendable {
  /// One stream.
  struct Stream: Sendable {
    /// The output up to the limit.
    fileprivate(set) var bytes: [UInt8] = []
    /// Whether output beyond the limit was dropped.
    fileprivate(set) var isCut = false

    /// - Parameters:
    ///   - bytes: The output up to the limit.
    ///   - isCut: Whether output beyond the limit was dropped.
    init(_ bytes: [UInt8] = [], isCut: Bool = false) { (self.bytes, self.isCut) = (bytes, isCut) }

    fileprivate mutating func take(_ chunk: UnsafeRawBufferPointer, atMost limit: Int) {
      guard !isCut else { return }
      let kept = chunk.prefix(limit - bytes.count)
      bytes.append(contentsOf: kept)
      isCut = kept.count < chunk.count
    }
  }

  /// `nil` if no expression reads it.
  private(set) var stdout: Stream?
  private(set) var stderr: Stream?
  private let limit: Int

  /// - Parameter limit: The maximum number of bytes of each stream.
  init(_ reads: StepReads, limit: Int = WorkflowLimits.valueBytes) {
    stdout = reads.contains(.stdout) ? Stream() : nil
    stderr = reads.contains(.stderr) ? Stream() : nil
    self.limit = limit
  }

  mutating func take(_ chunk: UnsafeRawBufferPointer, _ stream: StepOutput.Stream) {
    switch stream {
    case .stdout: stdout?.take(chunk, atMost: limit)
    case .stderr: stderr?.take(chunk, atMost: limit)
    }
  }
}

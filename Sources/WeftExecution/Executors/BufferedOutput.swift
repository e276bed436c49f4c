import WeftDefinition
import WeftEvents
import WeftPlatform

/// The output of a step with a secret output, buffered until the secret is known. It is unmasked, and so only
/// kept in memory or in an unlinked file.
struct BufferedOutput {
  enum Target: Hashable {
    case stream(StepOutput.Stream)
    /// Only the log.
    case log
  }

  /// Consecutive bytes for one target.
  private struct Stretch {
    let target: Target
    var count: Int
    /// The arrival of the last of them.
    var time: Duration
  }

  private static let memoryBytes = 1 << 20
  /// Extra room, since bytes that masking removes do not count towards the limit of a log; they are few.
  private static let slackBytes = 1 << 20

  private var stretches: [Stretch] = []
  private var spool: SpoolFile?
  private var bytes: [UInt8] = []
  private var capacity: Int
  /// The number of all bytes written, including those that were dropped.
  private(set) var writtenBytes: UInt64 = 0
  /// Whether there were more than the log may hold.
  private(set) var isCut = false

  init(limit: ByteCount) {
    capacity = limit.bytes.addingReportingOverflow(BufferedOutput.slackBytes).partialValue
    if capacity < limit.bytes { capacity = .max }
  }

  mutating func add(_ chunk: UnsafeRawBufferPointer, to target: Target, at now: Duration) {
    writtenBytes += UInt64(chunk.count)
    let kept = min(chunk.count, capacity)
    isCut = isCut || kept < chunk.count
    guard kept > 0, makeRoom(for: kept) else { return }
    capacity -= kept
    bytes += chunk.prefix(kept)
    if let last = stretches.indices.last, stretches[last].target == target {
      stretches[last].count += kept
      stretches[last].time = now
    } else {
      stretches.append(Stretch(target: target, count: kept, time: now))
    }
  }

  /// Passes on everything in the order of arrival, in pieces.
  func passOn(_ pass: (Target, UnsafeRawBufferPointer, Duration) -> Void) {
    var offset = 0
    for stretch in stretches {
      var end = offset + stretch.count
      while offset < end {
        let piece = piece(at: offset, atMost: min(end - offset, BufferedOutput.memoryBytes))
        // The file cannot be read any more.
        if piece.isEmpty { end = offset }
        piece.withUnsafeBytes { pass(stretch.target, $0, stretch.time) }
        offset += piece.count
      }
    }
  }

  /// - Returns: Whether there is room: bytes that do not fit into memory go to the file.
  private mutating func makeRoom(for count: Int) -> Bool {
    guard bytes.count + count > BufferedOutput.memoryBytes, !bytes.isEmpty else { return true }
    if spool == nil { spool = try? SpoolFile() }
    guard let spool, (try? spool.append(bytes)) != nil else {
      isCut = true
      capacity = 0
      return false
    }
    bytes = []
    return true
  }

  private func piece(at offset: Int, atMost count: Int) -> ArraySlice<UInt8> {
    let spooled = spool?.count ?? 0
    if offset < spooled {
      return ((try? spool?.bytes(in: offset..<min(offset + count, spooled))) ?? [])[...]
    }
    return bytes[(offset - spooled)...].prefix(count)
  }
}

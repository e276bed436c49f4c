import WeftEvents
import WeftPlatform

/// The first and last records of a journal, read without those in between.
struct JournalEnds {
  private let file: Descriptor
  private let run: RunID
  private let name: String
  private let limits: JournalLimits

  /// The size of a read: more than nearly all first and last records need.
  private static let pieceBytes = 16 << 10
  /// The maximum size of a last record; for a longer one, the whole journal is read.
  private static let lastBytes = 1 << 20

  init(_ file: Descriptor, of run: RunID, named name: String, limits: JournalLimits) {
    self.file = file
    self.run = run
    self.name = name
    self.limits = limits
  }

  /// Returns the opening record; `nil` if it is not complete.
  func opening() throws(RunFolderError) -> (RecordOpening, at: WallTime)? {
    var fold = JournalFold(run: run, name: name, limits: limits)
    var first: RunRecord?
    do throws(SystemError) {
      let line = try firstLine()
      line.withUnsafeBytes { bytes in
        fold.take(bytes, length: bytes.count) { first = $0 }
      }
    } catch {
      fold.refuse(.unreadable(error))
    }
    if let damage = fold.result(readTo: 0).damage { throw .damaged(damage) }
    guard let first, case .opened(let opening) = first.kind else { return nil }
    return (opening, first.at)
  }

  /// Returns the line without its newline; empty if there is none.
  private func firstLine() throws(SystemError) -> ArraySlice<UInt8> {
    var wanted = JournalEnds.pieceBytes
    while true {
      let bytes = try file.piece(at: 0, atMost: wanted)
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return bytes[..<end] }
      if bytes.count < wanted || wanted > limits.lineBytes { return [] }
      wanted *= 16
    }
  }

  /// Returns the end of the run, if a complete last record contains it.
  func end() -> RunEnd? {
    guard let size = try? file.byteCount() else { return nil }
    for wanted in [JournalEnds.pieceBytes, JournalEnds.lastBytes] {
      let start = max(0, size - wanted)
      guard let bytes = try? file.piece(at: start, atMost: size - start),
        bytes.last == UInt8(ascii: "\n")
      else { return nil }
      let lines = bytes.dropLast()
      if let newline = lines.lastIndex(of: UInt8(ascii: "\n")) {
        return JournalEnds.end(lines[(newline + 1)...])
      }
      if start == 0 { return nil }
    }
    return nil
  }

  private static func end(_ line: ArraySlice<UInt8>) -> RunEnd? {
    line.withUnsafeBytes { bytes in
      guard RecordLine.isWhole(bytes), let record = try? RunRecord(line: bytes),
        case .event(.runFinished(let end), _) = record.kind
      else { return nil }
      return end
    }
  }
}

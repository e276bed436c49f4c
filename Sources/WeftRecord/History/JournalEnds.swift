import WeftExecution
import WeftPlatform

/// The first and the last record of a journal, read without what stands between them.
struct JournalEnds {
  private let file: Descriptor
  private let run: RunID
  private let name: String
  private let limits: JournalLimits

  /// What is read at once: more than nearly all first and last records are long.
  private static let pieceBytes = 16 << 10
  /// Longer last records are found by reading all.
  private static let lastBytes = 1 << 20

  init(_ file: Descriptor, of run: RunID, named name: String, limits: JournalLimits) {
    self.file = file
    self.run = run
    self.name = name
    self.limits = limits
  }

  /// How the run began; `nil` if the first record is not whole.
  func opening() throws(RunFolderFault) -> (RecordOpening, at: WallTime)? {
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

  /// Without its newline; empty where there is none.
  private func firstLine() throws(SystemError) -> ArraySlice<UInt8> {
    var wanted = JournalEnds.pieceBytes
    while true {
      let bytes = try file.piece(at: 0, atMost: wanted)
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return bytes[..<end] }
      if bytes.count < wanted || wanted > limits.lineBytes { return [] }
      wanted *= 16
    }
  }

  /// How the run has ended, if the last record says so and is whole.
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
      guard RecordLine.isWhole(bytes), let record = try? RecordReading.record(bytes),
        case .event(.runFinished(let end)) = record.kind
      else { return nil }
      return end
    }
  }
}

import WeftEvents
import WeftPlatform

/// Reads a journal while its engine appends to it.
///
/// Each read takes only complete records, starting after the last one. A torn end may be a record in progress, or one
/// that was never completed and that the next engine cuts off.
struct JournalTail {
  private let file: Descriptor
  private let run: RunID
  /// The end of the last complete record, and its number.
  private var offset = 0
  private var number: UInt64 = 0
  private let limits: JournalLimits

  private static let pieceBytes = 1 << 20

  init(_ file: Descriptor, of run: RunID, limits: JournalLimits = JournalLimits()) {
    self.file = file
    self.run = run
    self.limits = limits
  }

  /// Returns the new records, from at most one piece of the file.
  ///
  /// - Returns: Empty if there are no more for now.
  mutating func next() -> [RunRecord] {
    var wanted = JournalTail.pieceBytes
    while let bytes = try? file.piece(at: offset, atMost: wanted) {
      let records = take(bytes)
      if !records.isEmpty || bytes.count < wanted || wanted > limits.lineBytes { return records }
      wanted *= 4
    }
    return []
  }

  /// The number of the last engine's opening record; 0 if there is none yet.
  var lastOpening: UInt64 {
    var (ahead, last) = (self, UInt64(0))
    while case let records = ahead.next(), !records.isEmpty {
      for record in records {
        if case .opened = record.kind { last = record.number }
      }
    }
    return last
  }

  private mutating func take(_ bytes: [UInt8]) -> [RunRecord] {
    bytes.withUnsafeBytes { bytes in
      var records: [RunRecord] = []
      var start = 0
      while let end = bytes.offset(of: UInt8(ascii: "\n"), from: start) {
        let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        guard RecordLine.isWhole(line), let record = try? RunRecord(line: line),
          record.number == number + 1, isOwn(record)
        else { break }
        number += 1
        start = end + 1
        records.append(record)
      }
      offset += start
      return records
    }
  }

  private func isOwn(_ record: RunRecord) -> Bool {
    if case .opened(let opening) = record.kind { return opening.run == run }
    return record.number > 1
  }
}

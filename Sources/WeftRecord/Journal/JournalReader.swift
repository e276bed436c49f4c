import WeftDefinition
import WeftDiagnostics
package import WeftEvents
import WeftPlanning
package import WeftPlatform

/// The reason why reading a journal stopped.
package struct JournalError: Error, Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// The line was modified, and complete records follow it.
    case checksum
    /// A record is missing or repeated: `expected` is the next number.
    case gap(expected: UInt64, found: UInt64)
    case problem(RecordFormatError)
    /// The first record is not the opening of an engine.
    case noOpening
    /// The journal belongs to another run.
    case otherRun(RunID)
    case lineTooLong(limit: Int)
    case tooManySteps(limit: Int)
    case unreadable(SystemError)
  }

  package let kind: Kind
  package let file: String
  /// The line number, from 1.
  package let line: Int
  /// The offset of the line in the file, in bytes.
  package let offset: Int

  /// `.weft/runs/ID/journal.jsonl:12:3456: ...`
  package var message: String { "\(file):\(line):\(offset): \(reason)" }

  /// Whether the journal is intact, but needs another version of Weft.
  package var hasOtherFormat: Bool {
    switch kind {
    case .problem(.newerFormat), .problem(.ambiguousKey): true
    default: false
    }
  }

  private var reason: String {
    switch kind {
    case .checksum: "the record is damaged: its checksum is wrong"
    case .gap(let expected, let found):
      "found record number \(found), expected number \(expected)"
    case .problem(.malformed): "the record is malformed"
    case .problem(.unknownType(let type)):
      "unknown record type \"\(type.prefix(64))\""
    case .problem(.newerFormat(let format, let version)):
      "written by weft \(version.prefix(64)), in format \(format); this weft reads up to"
        + " \(RecordOpening.currentFormat)"
    case .problem(.ambiguousKey(let key, let version)):
      "written by weft \(version.prefix(64)), in whose format the element key"
        + " \(quoted(TerminalText.harmless(key))) may mean two elements"
    case .problem(.unfit(let what)): "the record has an invalid value: \(what)"
    case .noOpening: "the journal does not begin with an opening record"
    case .otherRun(let run): "the journal belongs to a different run, \(run.text.prefix(64))"
    case .lineTooLong(let limit): "the line is longer than \(limit) bytes"
    case .tooManySteps(let limit): "the journal has more than \(limit) steps"
    case .unreadable(let error): "cannot be read: \(error)"
    }
  }
}

/// The limits for reading a journal.
package struct JournalLimits: Sendable, Hashable {
  package var lineBytes = 64 << 20
  /// The number of steps and groups, including those of elements.
  package var steps = 10_000_000

  package init() {}
}

/// The contents of a journal.
package struct JournalContents: Sendable {
  /// The state after its complete records.
  package var run = RunState()
  /// The end of the last complete record; bytes after it were being written when the engine ended.
  package var wholeBytes = 0
  /// The number of complete lines.
  package var lines = 0
  /// The number of bytes after the last complete record.
  package var tornBytes = 0
  /// The damage at which reading stopped; nothing after it is used.
  package var damage: JournalError?
}

/// Reads a journal from beginning to end, a piece at a time.
///
/// Incomplete bytes after the last complete record were being written when the engine or the machine stopped: part of
/// a line, zeros, anything. An incomplete line followed by a complete record is damage, because records are only ever
/// appended.
///
/// The first and the last record can be read without those in between.
package struct JournalReader {
  private let file: Descriptor
  private let run: RunID?
  /// The name of the journal in messages.
  let name: String
  private let limits: JournalLimits

  /// - Parameter run: The expected run; `nil` accepts any.
  package init(
    _ file: Descriptor, of run: RunID? = nil, named name: String,
    limits: JournalLimits = JournalLimits()
  ) {
    self.file = file
    self.run = run
    self.name = name
    self.limits = limits
  }

  /// Reads the whole journal.
  ///
  /// - Parameter visit: Called with each record, in order.
  package func contents(
    visiting visit: (RunRecord) -> Void = { _ in }
  ) -> JournalContents {
    var fold = JournalFold(run: run, name: name, limits: limits)
    var lines = LinePieces(limit: limits.lineBytes)
    var offset = 0
    do throws(SystemError) {
      while fold.continues {
        let piece = try file.piece(at: offset, atMost: LinePieces.pieceBytes)
        if piece.isEmpty { break }
        offset += piece.count
        lines.take(piece) { line, length in
          fold.take(line, length: length, visit)
          return fold.continues
        }
      }
    } catch {
      fold.refuse(.unreadable(error))
    }
    return fold.result(readTo: offset)
  }
}

extension JournalReader {
  /// The size of a read: more than nearly all first and last records need.
  private static let pieceBytes = 16 << 10
  /// The maximum size of a last record; for a longer one, the whole journal is read.
  private static let lastBytes = 1 << 20

  var byteCount: Int { (try? file.byteCount()) ?? 0 }

  /// Whether one of these texts may occur in the journal, which is read without decoding its records; true if it cannot be
  /// read.
  ///
  /// - Parameter texts: None of them is empty.
  func mayContain(anyOf texts: [String]) -> Bool {
    let wanted = texts.map { Array($0.utf8) }
    let overlap = (wanted.map(\.count).max() ?? 1) - 1
    var offset = 0
    while true {
      guard let piece = try? file.piece(at: offset, atMost: LinePieces.pieceBytes) else {
        return true
      }
      if piece.withUnsafeBytes({ piece in wanted.contains { piece.contains($0) } }) { return true }
      if piece.count <= overlap { return false }
      offset += piece.count - overlap
    }
  }

  /// Returns the state of the run by its first record and, if that is its end, the last one; `nil` if the first is not
  /// complete.
  func ends() throws(RunFolderError) -> RunState? {
    var fold = JournalFold(run: run, name: name, limits: limits)
    do throws(SystemError) {
      let line = try firstLine()
      line.withUnsafeBytes { fold.take($0, length: $0.count) { _ in } }
    } catch {
      fold.refuse(.unreadable(error))
    }
    let contents = fold.result(readTo: 0)
    if let damage = contents.damage { throw .damaged(damage) }
    guard contents.lines > 0 else { return nil }
    var run = contents.run
    if let last = lastRecord(), case .event(.runFinished, _) = last.kind { run.apply(last) }
    return run
  }

  /// Returns the line without its newline; empty if there is none.
  private func firstLine() throws(SystemError) -> ArraySlice<UInt8> {
    var wanted = JournalReader.pieceBytes
    while true {
      let bytes = try file.piece(at: 0, atMost: wanted)
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return bytes[..<end] }
      if bytes.count < wanted || wanted > limits.lineBytes { return [] }
      wanted *= 16
    }
  }

  /// Returns the last record if it is complete.
  private func lastRecord() -> RunRecord? {
    let size = byteCount
    for wanted in [JournalReader.pieceBytes, JournalReader.lastBytes] {
      let start = max(0, size - wanted)
      guard let bytes = try? file.piece(at: start, atMost: size - start),
        bytes.last == UInt8(ascii: "\n")
      else { return nil }
      let lines = bytes.dropLast()
      if let newline = lines.lastIndex(of: UInt8(ascii: "\n")) {
        return lines[(newline + 1)...].withUnsafeBytes { line in
          RecordLine.isWhole(line) ? try? RunRecord(line: line) : nil
        }
      }
      if start == 0 { return nil }
    }
    return nil
  }
}

extension PrivateDirectory {
  /// Opens the journal in the folder of a run, regardless of its lock.
  func journal(
    of run: RunID, limits: JournalLimits = JournalLimits()
  ) throws(RunFolderError) -> JournalReader {
    do {
      return JournalReader(
        try file(RunFolder.journalName, .reading), of: run,
        named: "\(path)/\(RunFolder.journalName)", limits: limits)
    } catch {
      throw .place(error)
    }
  }
}

/// Splits pieces of a file into lines. A line within one piece is passed without copying; only lines across pieces
/// are assembled. Of a line that is too long, only the length is kept.
struct LinePieces {
  static let pieceBytes = 1 << 20

  /// Receives a line without its newline, `nil` if it is too long, and its length; returns whether to continue.
  typealias Body = (UnsafeRawBufferPointer?, Int) -> Bool

  private let limit: Int
  /// The beginning of an incomplete line.
  private var rest: [UInt8] = []
  /// Its length; `rest` is empty if the line is too long.
  private var restCount = 0

  init(limit: Int) {
    self.limit = limit
  }

  mutating func take(_ piece: [UInt8], _ body: Body) {
    piece.withUnsafeBytes { bytes in
      var start = 0
      if restCount > 0 {
        let end = bytes.offset(of: UInt8(ascii: "\n"))
        keep(bytes[..<(end ?? bytes.count)])
        guard let end, emit(body) else { return }
        start = end + 1
      }
      while let end = bytes.offset(of: UInt8(ascii: "\n"), from: start) {
        let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        guard body(line.count > limit ? nil : line, line.count) else { return }
        start = end + 1
      }
      keep(bytes[start...])
    }
  }

  private mutating func keep(_ part: Slice<UnsafeRawBufferPointer>) {
    restCount += part.count
    if restCount <= limit { rest.append(contentsOf: part) } else { rest = [] }
  }

  private mutating func emit(_ body: Body) -> Bool {
    defer {
      rest.removeAll(keepingCapacity: true)
      restCount = 0
    }
    if restCount > limit { return body(nil, restCount) }
    return rest.withUnsafeBytes { body($0, restCount) }
  }
}

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
package struct JournalReader {
  private let file: Descriptor
  private let run: RunID?
  /// The name of the journal in messages.
  private let name: String
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

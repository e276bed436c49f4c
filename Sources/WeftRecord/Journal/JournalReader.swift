import WeftDefinition
import WeftDiagnostics
package import WeftExecution
import WeftPlanning
package import WeftPlatform

/// Why a journal is not read on.
package struct JournalDamage: Error, Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// The line is not as it was written, and whole records follow it.
    case checksum
    /// A record is missing, or one is there twice: this number was to come.
    case gap(expected: UInt64, found: UInt64)
    case problem(RecordProblem)
    /// The first record is not that of an engine taking up the run.
    case noOpening
    /// It is of another run.
    case otherRun(RunID)
    case lineTooLong(limit: Int)
    case tooManySteps(limit: Int)
    case unreadable(SystemError)
  }

  package let kind: Kind
  package let file: String
  /// From 1.
  package let line: Int
  /// Where the line begins, in bytes from the file's beginning.
  package let offset: Int

  /// `.weft/runs/ID/journal.jsonl:12:3456: ...`
  package var message: String { "\(file):\(line):\(offset): \(reason)" }

  /// Whether nothing is damaged, and another version of Weft would read it.
  package var isOtherFormat: Bool {
    switch kind {
    case .problem(.newerFormat), .problem(.ambiguousKey): true
    default: false
    }
  }

  private var reason: String {
    switch kind {
    case .checksum: "the record is damaged: its checksum is wrong"
    case .gap(let expected, let found):
      "the record is number \(found), and number \(expected) was to come"
    case .problem(.malformed): "the record is not written as records are"
    case .problem(.unknownType(let type)):
      "records of the type \"\(type.prefix(64))\" are not known"
    case .problem(.newerFormat(let format, let version)):
      "written by weft \(version.prefix(64)), in format \(format); this weft reads up to"
        + " \(RecordJSON.format)"
    case .problem(.ambiguousKey(let key, let version)):
      "written by weft \(version.prefix(64)), in whose format the element key"
        + " \(quoted(TerminalText.harmless(key))) may stand for two elements"
    case .problem(.unfit(let what)): "the record holds \(what) that no record holds"
    case .noOpening: "the journal does not begin with a record of how the run began"
    case .otherRun(let run): "the journal is of another run, \(run.text.prefix(64))"
    case .lineTooLong(let limit): "the line is longer than \(limit) bytes"
    case .tooManySteps(let limit): "the journal tells of more than \(limit) steps"
    case .unreadable(let error): "cannot be read: \(error)"
    }
  }
}

/// How much of a journal is read.
package struct JournalLimits: Sendable, Hashable {
  package var lineBytes = 64 << 20
  /// Steps and groups, elements and all.
  package var steps = 10_000_000

  package init() {}
}

/// What a journal was found to hold.
package struct JournalContents: Sendable {
  /// What its whole records come to.
  package var run = RecordedRun()
  /// Where the last whole record ends: what follows was being written when its engine ended.
  package var wholeBytes = 0
  /// How many lines are whole.
  package var lines = 0
  /// What follows the last whole record: never more than the file has.
  package var tornBytes = 0
  /// Where reading had to stop; nothing after it has been believed.
  package var damage: JournalDamage?
}

/// Reads a journal from its beginning to its end, a piece at a time.
///
/// What follows the last whole record, and is no whole record, was being written when the engine or the
/// machine ended: a part of a line, zeros, anything. What is followed by a whole record is damage, for records
/// are only ever appended.
package struct JournalReader {
  private let file: Descriptor
  private let run: RunID?
  /// What messages call it.
  private let name: String
  private let limits: JournalLimits

  /// - Parameter run: Whose journal it is to be; `nil`: anybody's.
  package init(
    _ file: Descriptor, of run: RunID? = nil, named name: String,
    limits: JournalLimits = JournalLimits()
  ) {
    self.file = file
    self.run = run
    self.name = name
    self.limits = limits
  }

  /// Reads all there is.
  ///
  /// - Parameter visit: Called with each record, in order.
  package func contents(
    visiting visit: (RunRecord) -> Void = { _ in }
  ) -> JournalContents {
    var fold = JournalFold(run: run, name: name, limits: limits)
    var lines = LinePieces(limit: limits.lineBytes)
    var offset = 0
    do throws(SystemError) {
      while fold.goesOn {
        let piece = try file.piece(at: offset, atMost: LinePieces.pieceBytes)
        if piece.isEmpty { break }
        offset += piece.count
        lines.take(piece) { line, length in
          fold.take(line, length: length, visit)
          return fold.goesOn
        }
      }
    } catch {
      fold.refuse(.unreadable(error))
    }
    return fold.result(readTo: offset)
  }
}

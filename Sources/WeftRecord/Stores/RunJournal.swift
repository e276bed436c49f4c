import Synchronization
package import WeftEvents
package import WeftExecution
import WeftPlatform

/// The journal of one run, held by the run's engine.
///
/// It is an append-only sequence of lines, each a JSON record with a number and a checksum, as in `journal.jsonl`. A
/// store need not understand them.
public struct RunJournal: Sendable {
  enum Backing: Sendable {
    /// A new run, whose opening record is written.
    case begun(RunFolder, JournalWriter)
    /// A run to resume.
    case taken(RunFolder, RecordDurability)
    case lines(LineStore)
  }

  /// The operations of a store on the lines of one run.
  struct LineStore: Sendable {
    let read: @Sendable () throws(RunStoreError) -> [UInt8]
    let append: @Sendable ([UInt8]) throws(RunStoreError) -> Void
    let close: @Sendable () -> Void
  }

  let backing: Backing

  init(_ backing: Backing) { self.backing = backing }

  /// - Parameters:
  ///   - read: Returns everything that was appended, in order. Called before anything is appended.
  ///   - append: Appends one line, including its newline, completely or not at all. Called by one thread at a time,
  ///     for each record before the act that it announces. An error ends the run: nothing new starts. When it
  ///     returns, the line must be as durable as the store promises.
  ///   - close: Releases the run. Called once.
  public init(
    read: @escaping @Sendable () throws(RunStoreError) -> [UInt8],
    append: @escaping @Sendable ([UInt8]) throws(RunStoreError) -> Void,
    close: @escaping @Sendable () -> Void
  ) {
    backing = .lines(LineStore(read: read, append: append, close: close))
  }

  // MARK: For the engine

  /// The run's folder, if it has one.
  package var folder: RunFolder? {
    switch backing {
    case .begun(let folder, _), .taken(let folder, _): folder
    case .lines: nil
    }
  }

  /// Releases the run without resuming it.
  package func releaseHold() {
    switch backing {
    case .begun(let folder, _), .taken(let folder, _): folder.releaseHold()
    case .lines(let lines): lines.close()
    }
  }

  /// Returns the contents of the journal.
  ///
  /// - Parameter salvages: Whether a damaged journal counts up to its damage, unless it has another format.
  /// - Throws: If it cannot be read, or is damaged.
  package func contents(
    of run: RunID, salvaging salvages: Bool = false
  ) throws(RunStoreError) -> JournalContents {
    let contents: JournalContents
    switch backing {
    case .begun(let folder, _), .taken(let folder, _):
      do { contents = try folder.contents() } catch { throw RunStoreError(error) }
    case .lines(let lines): contents = JournalContents(of: try lines.read(), run: run)
    }
    if let damage = contents.damage, !salvages || damage.hasOtherFormat {
      throw RunStoreError(.damaged(damage))
    }
    guard contents.lines > 0 else {
      guard let folder else { throw RunStoreError(.empty(run)) }
      throw RunStoreError(
        .missingOpening(run, journal: folder.journalPath, bytes: contents.tornBytes))
    }
    return contents
  }

  /// Returns the recorder of a new run; its opening record is written.
  package func recorder(
    for beginning: RunBeginning, startedAt start: WallTime
  ) throws(RunStoreError) -> any RunRecorder {
    switch backing {
    case .begun(_, let writer): return writer
    case .taken: preconditionFailure("an existing run cannot be started again")
    case .lines(let lines):
      return try LineRecorder(
        lines, after: 0, startedAt: start, opening: beginning.contents.opening)
    }
  }

  /// Returns the recorder of a resumed run.
  ///
  /// - Parameters:
  ///   - contents: The journal as read.
  ///   - salvages: Whether even a damaged journal is resumed.
  package func recorder(
    for beginning: RunBeginning, after contents: JournalContents, startedAt start: WallTime,
    salvaging salvages: Bool = false
  ) throws(RunStoreError) -> any RunRecorder {
    switch backing {
    case .begun: preconditionFailure("a new run cannot be resumed")
    case .taken(let folder, let durability):
      do throws(RunFolderError) {
        let writer = try folder.append(
          after: contents, beginning.contents.opening, durability: durability, startedAt: start,
          salvaging: salvages)
        try folder.replaceFiles(by: beginning.contents)
        return writer
      } catch {
        throw RunStoreError(error)
      }
    case .lines(let lines):
      // Anything appended to an incomplete line would be lost with it.
      guard contents.tornBytes == 0 else {
        throw RunStoreError(
          message: "the journal of run \(beginning.run) ends in the middle of a line",
          help: "remove its last \(contents.tornBytes) bytes: they are an incomplete record")
      }
      return try LineRecorder(
        lines, after: contents.run.number, startedAt: start, opening: beginning.contents.opening)
    }
  }
}

extension JournalContents {
  /// Reads the contents of a journal's lines.
  init(of bytes: [UInt8], run: RunID) {
    var fold = JournalFold(run: run, name: "the journal of run \(run)", limits: JournalLimits())
    var lines = LinePieces(limit: JournalLimits().lineBytes)
    lines.take(bytes) { line, length in
      fold.take(line, length: length) { _ in }
      return fold.continues
    }
    self = fold.result(readTo: bytes.count)
  }
}

/// Writes records as lines to a ``RunJournal`` of closures.
final class LineRecorder: RunRecorder {
  private struct State {
    var json: RecordJSON
    var number: UInt64
    var isClosed = false
  }

  private let state: Mutex<State>
  private let lines: RunJournal.LineStore
  /// Its failures are those of the caller's closures, which name no place.
  private let condition = JournalCondition(of: "the store of the run")

  /// - Parameters:
  ///   - number: The number of the last existing record; 0 if there is none.
  ///   - opening: The next record.
  init(
    _ lines: RunJournal.LineStore, after number: UInt64, startedAt start: WallTime,
    opening: RecordOpening
  ) throws(RunStoreError) {
    self.lines = lines
    let json = RecordJSON(version: opening.version, startedAt: start)
    state = Mutex(State(json: json, number: number))
    do { try record(.opened(opening), elapsed: .zero) } catch {
      throw RunStoreError(message: error.message, help: error.help)
    }
  }

  func record(_ kind: RunRecord.Kind, elapsed: @autoclosure () -> Duration) throws(RecordError) {
    let fault = state.withLock { state -> RecordError? in
      while true {
        if let fault = condition.refusal(of: kind) { return fault }
        do throws(RunStoreError) {
          try state.json.withLine(of: kind, state.number + 1, after: elapsed()) {
            line throws(RunStoreError) in try lines.append(Array(line))
          }
          state.number += 1
          return nil
        } catch {
          let wasSound = condition.fault == nil
          condition.recordFailure(
            RecordError(
              message: "the journal of the run cannot be written: \(error.message)",
              help: error.help), isOfSpace: error.isOfSpace)
          // The end of a running step may still fit.
          if wasSound { continue }
          return condition.fault
        }
      }
    }
    condition.report()
    if let fault { throw fault }
  }

  func onLost(_ act: @escaping @Sendable () -> Void) { condition.onLost(act) }

  var fault: RecordError? { condition.fault }

  func close() {
    let isFirst = state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    if isFirst { lines.close() }
  }
}

package import WeftExecution
import WeftPlatform

/// The record of one run, held by the engine that has the run.
///
/// It is a sequence of lines, each a record in JSON with a number and a checksum, of which none is ever
/// changed: what `journal.jsonl` holds. A store need not understand them.
public struct RunJournal: Sendable {
  enum Keeper: Sendable {
    /// Of a run that begins: its first record is there.
    case begun(RunFolder, JournalWriter)
    /// Of a run that is gone on with.
    case taken(RunFolder, RecordDurability)
    case lines(KeptLines)
  }

  /// What a store does with the lines of one run.
  struct KeptLines: Sendable {
    let read: @Sendable () throws(RunStoreFault) -> [UInt8]
    let append: @Sendable ([UInt8]) throws(RunStoreFault) -> Void
    let close: @Sendable () -> Void
  }

  let keeper: Keeper

  init(_ keeper: Keeper) { self.keeper = keeper }

  /// - Parameters:
  ///   - read: All that was appended, in order. Called before anything is appended.
  ///   - append: Appends one line, its newline included, as a whole or not at all; called by one thread at a time, for each record before
  ///     what it announces is done. What it throws ends the run: nothing new starts. When it returns the line has to
  ///     be as safe as the store promises.
  ///   - close: The engine lets go of the run. Called once.
  public init(
    read: @escaping @Sendable () throws(RunStoreFault) -> [UInt8],
    append: @escaping @Sendable ([UInt8]) throws(RunStoreFault) -> Void,
    close: @escaping @Sendable () -> Void
  ) {
    keeper = .lines(KeptLines(read: read, append: append, close: close))
  }

  // MARK: For the engine

  /// The run's folder, if it has one.
  package var folder: RunFolder? {
    switch keeper {
    case .begun(let folder, _), .taken(let folder, _): folder
    case .lines: nil
    }
  }

  /// Nothing comes of going on with the run.
  package func letGo() {
    switch keeper {
    case .begun(let folder, _), .taken(let folder, _): folder.letGo()
    case .lines(let lines): lines.close()
    }
  }

  /// What it holds.
  ///
  /// - Throws: When it cannot be read, or is damaged.
  package func contents(of run: RunID) throws(RunStoreFault) -> JournalContents {
    let contents: JournalContents
    switch keeper {
    case .begun(let folder, _), .taken(let folder, _):
      do { contents = try folder.contents() } catch { throw RunStoreFault(error) }
    case .lines(let lines): contents = JournalContents(of: try lines.read(), run: run)
    }
    if let damage = contents.damage { throw RunStoreFault(.damaged(damage)) }
    guard contents.lines > 0 else { throw RunStoreFault(.empty(run)) }
    return contents
  }

  /// What writes down a run that begins; its first record is there.
  package func recorder(
    for beginning: RunBeginning, startedAt start: WallTime
  ) throws(RunStoreFault) -> any RunRecorder {
    switch keeper {
    case .begun(_, let writer): return writer
    case .taken: preconditionFailure("a run that there is already does not begin")
    case .lines(let lines):
      return try LineRecorder(
        lines, after: 0, startedAt: start, opening: beginning.contents.opening)
    }
  }

  /// What writes down a run that is gone on with.
  ///
  /// - Parameter contents: What has been read of it.
  package func recorder(
    for beginning: RunBeginning, after contents: JournalContents, startedAt start: WallTime
  ) throws(RunStoreFault) -> any RunRecorder {
    switch keeper {
    case .begun: preconditionFailure("a run that begins is not gone on with")
    case .taken(let folder, let durability):
      do throws(RunFolderFault) {
        folder.control?.discard { !$0.isDue(after: contents.run) }
        let writer = try folder.append(
          after: contents, beginning.contents.opening, durability: durability, startedAt: start)
        try folder.replaceFiles(by: beginning.contents)
        return writer
      } catch {
        throw RunStoreFault(error)
      }
    case .lines(let lines):
      // What is appended to a part of a line is lost with it.
      guard contents.tornBytes == 0 else {
        throw RunStoreFault(
          message: "the record of run \(beginning.run) ends in the middle of a line",
          help: "take its last \(contents.tornBytes) bytes away: they were never a record")
      }
      return try LineRecorder(
        lines, after: contents.run.number, startedAt: start, opening: beginning.contents.opening)
    }
  }
}

extension JournalContents {
  /// What lines come to.
  init(of bytes: [UInt8], run: RunID) {
    var fold = JournalFold(run: run, name: "the record of run \(run)", limits: JournalLimits())
    var lines = LinePieces(limit: JournalLimits().lineBytes)
    lines.take(bytes) { line, length in
      fold.take(line, length: length) { _ in }
      return fold.goesOn
    }
    self = fold.result(readTo: bytes.count)
  }
}

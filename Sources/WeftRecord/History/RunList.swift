package import WeftDefinition
package import WeftEvents
import WeftExecution
import WeftJSON
import WeftPlatform

extension StateDirectory {
  /// Lists runs, the newest first, as ``glance(at:limits:)`` reports them.
  ///
  /// The entries of runs that have ended are kept in the file `list`, which makes a list of many runs fast. An entry
  /// counts as long as the journal has the same size, the same time of change and the same inode. The file is derived
  /// from journals and never trusted: one that is missing, damaged or foreign counts as empty, and a failed write is
  /// ignored.
  ///
  /// - Parameter limit: The maximum number of runs.
  package func list(
    atMost limit: Int = .max, where isWanted: (RunListEntry) -> Bool = { _ in true }
  ) -> [RunListEntry] {
    let runs = newestFirst()
    var known = KnownRuns(in: directory)
    var listed: [RunListEntry] = []
    for run in runs {
      guard listed.count < limit else { break }
      if let entry = entry(of: run, &known), isWanted(entry) { listed.append(entry) }
    }
    known.keep(in: directory, among: runs)
    return listed
  }

  private func entry(of run: RunID, _ known: inout KnownRuns) -> RunListEntry? {
    let stamp = runs.stamp(ofFile: "\(run)/\(RunFolder.journalName)")
    if let stamp, let entry = known.entry(of: run, stamp) { return entry }
    let entry = glance(at: run)
    if let stamp, let entry { known.add(entry, stamp) }
    return entry
  }
}

/// The entries of ended runs, from the file that keeps them.
private struct KnownRuns {
  private var entries: [KeptRunEntry] = []
  /// The indices in `entries`. Entries are large: a dictionary of them would move them all whenever it grows.
  private var places: [RunID: Int] = [:]
  private var newCount = 0

  private static let name = "list"
  /// Enough for some 100,000 runs.
  private static let mostBytes = 32 << 20
  /// The number of new entries from which on the file is written again.
  private static let fewestNew = 50

  init(in directory: PrivateDirectory) {
    guard let bytes = try? directory.bytes(of: KnownRuns.name, limit: KnownRuns.mostBytes),
      let text = SealedText.text(in: bytes)
    else { return }
    text.withUnsafeBytes { read($0) }
  }

  private mutating func read(_ text: UnsafeRawBufferPointer) {
    entries.reserveCapacity(text.count / 128)
    places.reserveCapacity(text.count / 128)
    var start = 0
    while let length = text[start...].firstIndex(of: UInt8(ascii: "\n")).map({ $0 - start }) {
      let line = UnsafeRawBufferPointer(rebasing: text[start..<start + length])
      guard let known = KeptRunEntry(line: line) else { return }
      insert(known)
      start += length + 1
    }
  }

  private mutating func insert(_ entry: KeptRunEntry) {
    places[entry.entry.run] = entries.count
    entries.append(entry)
  }

  func entry(of run: RunID, _ stamp: FileStamp) -> RunListEntry? {
    guard let place = places[run], entries[place].isOf(stamp) else { return nil }
    return entries[place].entry
  }

  mutating func add(_ entry: RunListEntry, _ stamp: FileStamp) {
    switch entry.state {
    case .success, .failure, .cancelled: break
    case .waiting, .interrupted, .running, .damaged: return
    }
    insert(KeptRunEntry(entry, stamp))
    newCount += 1
  }

  /// Writes the file again if it is worth it.
  ///
  /// - Parameter existing: All runs; the entries of others are dropped.
  func keep(in directory: PrivateDirectory, among existing: [RunID]) {
    guard newCount >= KnownRuns.fewestNew else { return }
    var writer = EventJSON(version: "", isJournal: true)
    for run in existing {
      guard let place = places[run] else { continue }
      writer.beginObject()
      writer.write(entries[place])
      writer.endLine()
    }
    var bytes = writer.writer.bytes
    SealedText.seal(&bytes)
    guard bytes.count <= KnownRuns.mostBytes else { return }
    try? PrivateFolder(directory).replace(KnownRuns.name, with: bytes)
  }
}

extension StateDirectory {
  /// Inspects a run regardless of its lock: only the ends of its journal if it has ended, otherwise all of it.
  /// Changes nothing, and never blocks an engine.
  ///
  /// - Returns: `nil` if the run no longer exists. An unreadable run is reported as damaged, so that others can still
  ///   be listed.
  package func glance(at run: RunID, limits: JournalLimits = JournalLimits()) -> RunListEntry? {
    do throws(RunFolderError) {
      return try glance(at: run, in: try folder(of: run), limits)
    } catch {
      if case .unknown = error { return nil }
      return .damaged(run, because: error.message)
    }
  }

  private func glance(
    at run: RunID, in folder: PrivateDirectory, _ limits: JournalLimits
  ) throws(RunFolderError) -> RunListEntry {
    // Checked first: if no engine holds the run now, the journal is final when it is read.
    let isHeld = try RunFolder.isHeld(folder)
    let journal = try folder.journal(of: run, limits: limits)
    if let ends = try journal.ends(), ends.end != nil {
      return RunListEntry(run, ends, isHeld: isHeld)
    }
    let contents = journal.contents()
    if let damage = contents.damage { throw .damaged(damage) }
    if contents.lines == 0 {
      throw .missingOpening(run, journal: journal.name, bytes: contents.tornBytes)
    }
    var entry = RunListEntry(run, contents.run, isHeld: isHeld)
    if entry.state == .waiting {
      entry.isToBeCancelled = RunFolder.requests(in: folder, dueAfter: contents.run)
        .contains { $0.answeredStep == nil }
    }
    return entry
  }
}

extension StateDirectory {
  /// Whether something in a run may have failed, by the bytes of its journal; true if they cannot be read. Nearly all runs
  /// that failed in no such way are ruled out without decoding their records.
  ///
  /// - Parameter classes: The classes of failures; empty for any.
  package func mayHaveFailed(_ run: RunID, with classes: Set<ErrorClass>) -> Bool {
    guard let journal = try? folder(of: run).journal(of: run) else { return true }
    return journal.mayContain(
      anyOf: classes.isEmpty ? ["\"failure\":"] : classes.map { "\"\($0.name)\"" })
  }
}

extension RunListEntry {
  /// - Parameter isHeld: Whether an engine holds it.
  package init(_ run: RunID, _ recorded: RunState, isHeld: Bool) {
    self.init(run, recorded.state(isHeld: isHeld))
    startedAt = recorded.startedAt
    user = recorded.opening?.user
    workflow = recorded.opening?.workflow
    file = recorded.opening?.file
    inputs = recorded.opening?.inputs ?? []
    stepCount = recorded.end?.counts.done ?? recorded.stepCount()
    counts = recorded.end?.counts ?? recorded.counts
    if state == .running {
      runningSince = recorded.start?.startedAt ?? recorded.startedAt
    } else {
      duration = recorded.duration
    }
  }
}

extension RunState {
  /// - Parameter isHeld: Whether an engine holds it.
  package func state(isHeld: Bool) -> RecordedState {
    if let end { return RecordedState(end.outcome) }
    return isHeld ? .running : pause == nil ? .interrupted : .waiting
  }
}

import WeftEvents
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
  private var runs: [RunID: KnownRun] = [:]
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
    runs.reserveCapacity(text.count / 128)
    var start = 0
    while let length = text[start...].firstIndex(of: UInt8(ascii: "\n")).map({ $0 - start }) {
      let line = UnsafeRawBufferPointer(rebasing: text[start..<start + length])
      var scanner = RecordScanner(line)
      var known = KnownRun.blank
      guard (try? known.codeValue(&scanner)) != nil else {
        runs = [:]
        return
      }
      runs[known.entry.run] = known
      start += length + 1
    }
  }

  func entry(of run: RunID, _ stamp: FileStamp) -> RunListEntry? {
    guard let known = runs[run], known.isOf(stamp) else { return nil }
    return known.entry
  }

  mutating func add(_ entry: RunListEntry, _ stamp: FileStamp) {
    switch entry.state {
    case .success, .failure, .cancelled: break
    case .waiting, .interrupted, .running, .damaged: return
    }
    runs[entry.run] = KnownRun(entry, stamp)
    newCount += 1
  }

  /// Writes the file again if it is worth it.
  ///
  /// - Parameter existing: All runs; the entries of others are dropped.
  func keep(in directory: PrivateDirectory, among existing: [RunID]) {
    guard newCount >= KnownRuns.fewestNew else { return }
    var writer = EventJSON(version: "", isJournal: true)
    for run in existing {
      guard var known = runs[run] else { continue }
      known.codeValue(&writer)
      writer.writer.endLine()
    }
    var bytes = writer.writer.bytes
    SealedText.seal(&bytes)
    guard bytes.count <= KnownRuns.mostBytes else { return }
    try? PrivateFolder(directory).replace(KnownRuns.name, with: bytes)
  }
}

/// The entry of an ended run, and the properties of the journal that it was read from.
private struct KnownRun: Payload {
  var entry: RunListEntry
  private var size: Int
  private var changed: Int
  private var inode: Int

  init(_ entry: RunListEntry, _ stamp: FileStamp) {
    self.entry = entry
    size = Int(stamp.size)
    changed = Int(stamp.changed)
    inode = Int(truncatingIfNeeded: stamp.inode)
  }

  static let blank = KnownRun(
    RunListEntry(RunID(""), .success),
    FileStamp(
      kind: .file(isExecutable: false), device: 0, inode: 0, size: 0, modified: 0, changed: 0))

  func isOf(_ stamp: FileStamp) -> Bool {
    size == stamp.size && changed == stamp.changed && inode == Int(truncatingIfNeeded: stamp.inode)
  }

  mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("size", &size)
    try coder.code("changed", &changed)
    try coder.code("inode", &inode)
    try entry.code(&coder)
  }
}

import Synchronization
import WeftEncoding
import WeftJSON
package import WeftPlatform

/// Cached results of steps, in a folder shared by runs, including concurrent ones.
///
///     steps-1/     an entry for each key of each step
///     objects-1/   file contents, by their hashes
///     files-1/     hashes of unchanged files (``FileMemory``), and the secret for codes
///
/// All files are written under a temporary name and renamed when complete. Nothing is synced against power loss:
/// content is compared with its hash when read, and treated as missing if it does not match.
package final class StepCache: Sendable {
  let steps: PrivateFolder
  let objects: PrivateFolder
  private let state: PrivateFolder
  private let code: HMAC
  let limit: Int
  let now: @Sendable () -> Int64
  private let budget: Mutex<FolderBudget>
  private let indices = Mutex<[String: EntryIndex]>([:])
  package let memory: FileMemory
  /// Whether it must not be written to.
  private let isReadOnly: Bool

  /// The default size limit.
  package static let defaultLimit = 10 << 30
  /// The name of its folder within a state directory.
  package static let folderName = "cache"

  /// - Parameters:
  ///   - path: Created if missing.
  ///   - limit: The maximum size in bytes.
  ///   - now: Returns nanoseconds since 1970.
  package convenience init(
    _ path: String, limit: Int = StepCache.defaultLimit,
    now: @escaping @Sendable () -> Int64 = { WallClock.now.nanoseconds }
  ) throws(UnsafePathError) {
    try self.init(path, limit: limit, now: now, isReadOnly: false)
  }

  /// Opens an existing cache for reading; `nil` if there is none.
  package static func existing(_ path: String) -> StepCache? {
    let parts = ["steps-1", "objects-1", "files-1"]
    guard parts.allSatisfy({ FileSystem.isDirectory("\(path)/\($0)") })
    else { return nil }
    return try? StepCache(
      path, limit: StepCache.defaultLimit, now: { WallClock.now.nanoseconds }, isReadOnly: true)
  }

  private init(
    _ path: String, limit: Int, now: @escaping @Sendable () -> Int64, isReadOnly: Bool
  ) throws(UnsafePathError) {
    self.isReadOnly = isReadOnly
    steps = try PrivateFolder("steps-1", in: path)
    objects = try PrivateFolder("objects-1", in: path)
    state = try PrivateFolder("files-1", in: path)
    code = HMAC(key: try state.secret("secret", count: 32))
    self.limit = limit
    self.now = now
    budget = Mutex(FolderBudget(limit: limit))
    memory = FileMemory(
      state.read(StepCache.memoryName, limit: StepCache.memoryBytes) ?? [], now: now)
  }

  private static let memoryName = "memory"
  private static let memoryBytes = 64 << 20

  /// Returns the content of a secret text for use in a key.
  package func secret(_ text: String) -> CacheContent {
    .secret(code: SHA256.text(of: code.digest(of: Array(text.utf8))))
  }

  /// Saves the known file hashes for later processes. If that fails, they read the files again.
  package func close() {
    if !isReadOnly, let bytes = memory.bytes() {
      try? state.replace(StepCache.memoryName, with: bytes)
    }
  }

  // MARK: Entries

  /// Returns the result of a step for a key; `nil` if there is none, or it is no longer complete.
  package func entry(of step: String, _ key: CacheKey) -> CacheEntry? {
    let name = StepCache.name(of: step, key.hash)
    guard let found = steps.use(name, limit: StepCache.entryBytes, markedBefore: markTime),
      let (entry, objectReferences) = read(found.bytes, name, of: key),
      let result = result(entry, objectReferences)
    else { return nil }
    if found.isMarkedNow { objectReferences.inputs.map { objects.touch(StepCache.objectName($0)) } }
    var whole = entry
    whole.result = result
    return whole
  }

  /// Returns the entry of a step for a key without the outputs that expressions read, and without marking it as used;
  /// `nil` if there is none.
  package func storedEntry(of step: String, _ key: CacheKey) -> CacheEntry? {
    let name = StepCache.name(of: step, key.hash)
    return steps.read(name, limit: StepCache.entryBytes).flatMap { read($0, name, of: key)?.entry }
  }

  /// Returns the entries of a step that a result can be compared with, the newest first, without the outputs that
  /// expressions read: those of the same element of its loops, and those that make one of the same outputs.
  ///
  /// - Parameter isCurrent: Whether entries count that other processes have stored since the first call for the step.
  package func entries(
    of step: String, near key: CacheKey, making outputs: [String], isCurrent: Bool
  ) -> [CacheEntry] {
    let names = indices.withLock { indices in
      if isCurrent || indices[step] == nil { index(step, &indices[step, default: EntryIndex()]) }
      return indices[step]?.names(ofElement: key.hash(of: .element), making: outputs) ?? []
    }
    return names.compactMap { name -> CacheEntry? in
      guard let bytes = steps.read(name, limit: StepCache.entryBytes),
        let (found, objectReferences) = read(bytes, name)
      else { return nil }
      var entry = found
      if let inputs = objectReferences.inputs.flatMap(inputs) { entry.key.set(.inputs, inputs) }
      return entry
    }
    .sorted { $0.storedAt > $1.storedAt }
  }

  /// Adds the entries of a step that an index lacks.
  private func index(_ step: String, _ index: inout EntryIndex) {
    let beginning = StepCache.beginning(of: step)
    for name in steps.names(in: StepCache.part(of: step))
    where name.hasPrefix(beginning) && !index.contains(name) {
      guard let bytes = steps.read(name, limit: StepCache.entryBytes),
        let (entry, _) = read(bytes, name)
      else { continue }
      index.add(entry, named: name)
    }
  }

  /// Whether all files of the entry are stored, judging by their names only.
  package func isWhole(_ entry: CacheEntry) -> Bool {
    entry.files.allSatisfy { file in
      guard case .file(let hash, _) = file.content else { return true }
      return objects.has(StepCache.objectName(hash))
    }
  }

  private func read(_ bytes: [UInt8], _ name: String) -> (
    entry: CacheEntry, objectReferences: CacheEntry.ObjectReferences
  )? {
    let known = CacheEntry.read(bytes, code)
    if known == nil, !isReadOnly { steps.remove(name) }
    return known
  }

  /// `nil` also if the entry is that of another key.
  private func read(_ bytes: [UInt8], _ name: String, of key: CacheKey) -> (
    entry: CacheEntry, objectReferences: CacheEntry.ObjectReferences
  )? {
    guard var known = read(bytes, name), known.entry.key.isSame(as: key) else { return nil }
    known.entry.key = key
    return known
  }

  private func result(
    _ entry: CacheEntry, _ objectReferences: CacheEntry.ObjectReferences
  ) -> CachedResult? {
    var result = entry.result
    if let hash = objectReferences.stdout {
      guard let bytes = object(hash) else { return nil }
      result.stdout = bytes
    }
    if let hash = objectReferences.stderr {
      guard let bytes = object(hash) else { return nil }
      result.stderr = bytes
    }
    // Without its log, the result is still usable for everything else.
    if let log = objectReferences.log, let bytes = object(log.hash) {
      result.log = CachedLog(bytes, stretches: log.stretches, isWhole: log.isWhole)
    }
    return result
  }

  private func inputs(_ hash: String) -> [CacheValue]? {
    object(hash).flatMap { JSONValue.read($0) }.flatMap { CacheEntry.values($0) }
  }

  /// Returns a stored content of moderate size; `nil` if it is missing or damaged.
  func object(_ hash: String) -> [UInt8]? {
    // Most logs and outputs are empty.
    if hash == StepCache.emptyHash { return [] }
    let name = StepCache.objectName(hash)
    let found = objects.use(
      name, limit: StepCache.entryBytes, markedBefore: isReadOnly ? .min : markTime)
    guard let bytes = found?.bytes else { return nil }
    guard SHA256.text(of: SHA256.digest(of: bytes)) == hash else {
      if !isReadOnly { objects.remove(name) }
      return nil
    }
    return bytes
  }

  // MARK: Writing

  func write(_ entry: CacheEntry) throws(CacheError) {
    var objectReferences = CacheEntry.ObjectReferences()
    if case .values(let inputs)? = entry.key[.inputs] {
      objectReferences.inputs = try keep(Array(CacheEntry.json(of: inputs).description.utf8))
    }
    objectReferences.stdout = try keep(entry.result.stdout)
    objectReferences.stderr = try keep(entry.result.stderr)
    objectReferences.log = try entry.result.log.flatMap { log throws(CacheError) in
      try keep(log.bytes).map {
        CacheEntry.ObjectReferences.Log(hash: $0, stretches: log.stretches, isWhole: log.isWhole)
      }
    }
    let bytes = entry.bytes(objectReferences, code)
    makeRoom(for: bytes.count)
    let name = StepCache.name(of: entry.step, entry.key.hash)
    do throws(UnsafePathError) { try steps.replace(name, with: bytes) } catch {
      throw .place(error)
    }
    indices.withLock { $0[entry.step]?.add(entry, named: name) }
  }

  private func keep(_ bytes: [UInt8]?) throws(CacheError) -> String? {
    guard let bytes else { return nil }
    let hash = SHA256.text(of: SHA256.digest(of: bytes))
    makeRoom(for: bytes.count)
    do throws(UnsafePathError) {
      try objects.replace(StepCache.objectName(hash), with: bytes)
    } catch {
      throw .place(error)
    }
    return hash
  }

  /// Evicts the least recently used files, if it is time to.
  func makeRoom(for bytes: Int) {
    guard budget.withLock({ $0.isDue(writing: bytes) }) else { return }
    let old = now() / 1_000_000_000 - StepCache.staleSeconds
    let parts = (0...255).map { StepCache.hex(UInt8($0)) }
    for part in parts {
      steps.removeUnfinished(in: part, before: old)
      objects.removeUnfinished(in: part, before: old)
    }
    objects.removeUnfinishedCopies(before: old)
    let kept = parts.flatMap(steps.entries(in:)).map(StepCache.marked("s"))
    let contents = parts.flatMap(objects.entries(in:)).map(StepCache.marked("o"))
    for name in budget.withLock({ $0.excess(kept + contents, writing: bytes) }) {
      (name.hasPrefix("s") ? steps : objects).remove(String(name.dropFirst()))
    }
  }

  /// Marks an entry's folder by a first letter.
  private static func marked(
    _ letter: String
  ) -> (PrivateFolder.Entry) -> PrivateFolder.Entry {
    { PrivateFolder.Entry(name: letter + $0.name, size: $0.size, lastUse: $0.lastUse) }
  }

  static let staleSeconds: Int64 = 3600

  /// The second from which on a file need not be marked as used again. Marking each file of ten thousand steps at each run
  /// would take as long as reading them, and an hour is precise enough to tell what was not used lately.
  private var markTime: Int64 { now() / 1_000_000_000 - 3600 }
}

extension StepCache {
  private static let entryBytes = 256 << 20
  private static let emptyHash = SHA256.text(of: SHA256.digest(of: []))

  static func objectName(_ hash: String) -> String { "\(hash.prefix(2))/\(hash)" }

  private static func name(of step: String, _ key: String) -> String {
    beginning(of: step) + key
  }

  private static func beginning(of step: String) -> String {
    let subject = subject(step)
    return "\(subject.prefix(2))/\(subject)."
  }

  private static func part(of step: String) -> String { String(subject(step).prefix(2)) }

  private static func subject(_ step: String) -> String {
    String(SHA256.text(of: SHA256.digest(of: step.utf8)).prefix(32))
  }

  private static func hex(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }
}

/// Storing the outputs of steps.
extension StepCache {
  /// Stores the result of a step, completely or not at all.
  ///
  /// A file that existed before the step and was not written by it counts as foreign, unless an earlier result of the
  /// step contains the same file. It is not stored, and the entry is only valid while the file is unchanged. One of an
  /// earlier result is stored, since an incremental build may have left it as it was because it is up to date, and is in
  /// ``CacheEntry/earlier``.
  ///
  /// - Parameters:
  ///   - entry: The entry without its files, which are read now.
  ///   - before: The stamps of the files in the outputs before the step ran.
  ///   - holdsSecret: Whether a file must not be stored. Not asked about content that is stored already.
  /// - Returns: The entry with its files.
  @discardableResult
  package func store(
    _ entry: CacheEntry, since before: [String: FileStamp] = [:], from reader: WorkspaceReader,
    unless holdsSecret: (Descriptor) throws(SystemError) -> Bool = { _ in false }
  ) throws(CacheError) -> CacheEntry {
    var entry = entry
    do throws(WorkspaceError) {
      for output in entry.outputs {
        let names = FileRecord(path: output, .directory).names
        let files = try reader.tree(at: names)
        if files.isEmpty { throw WorkspaceError(.system(.notFound), at: [output]) }
        let now = before.isEmpty ? [:] : try reader.stamps(at: names)
        for file in files {
          let isUntouched = now[file.path].map { before[file.path] == $0 } ?? false
          if isUntouched { entry.foreign.append(file) } else { entry.files.append(file) }
        }
      }
    } catch {
      if error.kind == .system(.notFound) { throw .noOutput(error.path) }
      throw CacheError(error)
    }
    if !entry.foreign.isEmpty {
      let made = EarlierOutputs(
        entries(of: entry.step, near: entry.key, making: entry.outputs, isCurrent: true))
      let earlier = entry.foreign.filter(made.contains)
      entry.earlier = earlier.filter { !$0.isDirectory }
      entry.files = (entry.files + earlier).inOrder
      entry.foreign.removeAll(where: made.contains)
    }
    let bytes = entry.files.reduce(0) { $0 + $1.size }
    // After eviction, only an eighth is guaranteed to be free.
    guard bytes <= limit - limit / 8 else { throw .tooLarge(bytes: bytes, limit: limit) }
    for file in entry.files {
      guard case .file(let hash, _) = file.content else { continue }
      try keep(file, hash, from: reader, unless: holdsSecret)
    }
    try write(entry)
    return entry
  }

  private func keep(
    _ file: FileRecord, _ hash: String, from reader: WorkspaceReader,
    unless holdsSecret: (Descriptor) throws(SystemError) -> Bool
  ) throws(CacheError) {
    let name = StepCache.objectName(hash)
    if objects.has(name) {
      objects.touch(name)
      return
    }
    makeRoom(for: file.size)
    var isSecret = false
    do {
      try reader.workspace.walk(at: file.names, stop: reader.stop) { found throws(WorkspaceError) in
        let source = try found.opened()
        isSecret = try placing(file.names) { () throws(SystemError) in try holdsSecret(source) }
        if !isSecret { try copy(source, hash, of: file, reader.stop) }
      }
    } catch {
      throw CacheError(error)
    }
    if isSecret { throw .secret(file.path) }
    guard objects.has(name) else { throw .workspace(WorkspaceError(.changing, at: file.names)) }
  }

  private func copy(
    _ source: Descriptor, _ hash: String, of file: FileRecord, _ stop: StopSwitch
  ) throws(WorkspaceError) {
    do {
      guard
        try objects.keep(source, stop: stop, named: { StepCache.objectName(SHA256.text(of: $0)) })
          != nil
      else { throw WorkspaceError(.stopped, at: file.names) }
    } catch let fault as WorkspaceError {
      throw fault
    } catch let place as UnsafePathError {
      throw WorkspaceError(.system(place.error ?? .notPermitted), at: file.names)
    } catch {
      throw WorkspaceError(.changing, at: file.names)
    }
  }
}

/// The reason why a result cannot be stored or restored.
package enum CacheError: Error, Sendable, Hashable {
  /// A declared output path does not exist.
  case noOutput(String)
  /// The result is larger than the whole cache may be.
  case tooLarge(bytes: Int, limit: Int)
  /// The stored content is damaged or was evicted.
  case lost(String)
  /// A file in the outputs that the step did not make has changed.
  case changed(String)
  /// A file that the step is not known to have made occupies the path of an output.
  case inTheWay(String)
  /// A file in the outputs contains a secret.
  case secret(String)
  case workspace(WorkspaceError)
  case place(UnsafePathError)
  /// The operation was stopped.
  case stopped

  /// The error as a sentence without a full stop.
  package var message: String {
    switch self {
    case .noOutput(let path): "it did not create \"\(path)\""
    case .tooLarge(let bytes, let limit):
      "its outputs have \(bytes) bytes, more than the cache limit of \(limit)"
    case .lost(let hash): "the content \(hash.prefix(12)) is no longer in the cache"
    case .changed(let path): "\"\(path)\" has changed"
    case .inTheWay(let path):
      "\"\(path)\", which it is not known to have created, is in the place of an output"
    case .secret(let path): "its output \"\(path)\" contains a secret"
    case .workspace(let fault): fault.message
    case .place(let fault): fault.message
    case .stopped: "it was stopped"
    }
  }
}

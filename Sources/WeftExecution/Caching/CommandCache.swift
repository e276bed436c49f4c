import Synchronization
package import WeftCaching
import WeftDefinition
import WeftEncoding
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Looks up results of earlier runs and stores new ones, on threads of its own, so that callers do not block.
package final class CommandCache: Sendable {
  private let access: CacheAccess
  private let plan: Plan
  private let resolver: CommandResolver
  private let startDirectory: String?
  private let run: RunID
  private let maker: CacheKeyMaker
  private let threads = ThreadPool(name: "weft-cache", limit: ThisProcess.processorCount)
  private let workspace: Mutex<Result<Directory, SystemError>?> = Mutex(nil)
  private let state: [String]?

  init(
    _ access: CacheAccess, plan: Plan, run: RunID, resolver: CommandResolver, secrets: RunSecrets,
    startDirectory: String?, containment: (any Containment)? = nil
  ) {
    self.access = access
    self.plan = plan
    self.run = run
    self.resolver = resolver
    self.startDirectory = startDirectory
    maker = CacheKeyMaker(
      cache: access.cache, secrets: secrets, versions: ToolVersions(in: containment))
    state = access.stateDirectory.flatMap {
      CommandCache.place(of: $0, below: startDirectory ?? ".")
    }
  }

  /// The path relative to a directory; `nil` if it is not below it.
  static func place(of path: String, below directory: String) -> [String]? {
    let names = ConfinedPath(of: path, below: directory)?.names
    return names?.isEmpty == false ? names?.map { String(decoding: $0, as: UTF8.self) } : nil
  }

  func subject(
    _ resolved: ResolvedStep, _ caching: Command.Caching, of task: StepTask
  ) throws(CacheKeyError) -> CacheSubject {
    try CacheSubject(
      resolved, caching, of: task, in: plan, resolver, start: startDirectory)
  }

  /// Saves what is known of files for later runs.
  func close() { access.cache.close() }

  // MARK: Looking up

  /// Looks up a step's result. On a hit, its outputs have been restored.
  ///
  /// - Parameters:
  ///   - reads: The results of the step that expressions read.
  ///   - isLogRead: Whether another step reads its log.
  func find(
    _ subject: CacheSubject, reads: StepReads, isLogRead: Bool, logs: StepLogs, stop: StopSwitch
  ) -> Future<CacheFinding, Never> {
    threads.run(ifNotRun: .unknown(.workspace("no thread is available to look it up"))) { [self] in
      do throws(CacheKeyError) {
        let reader = try reader(stop: stop)
        var notes = CacheNotes()
        let files = try files(of: subject, reader)
        let key = try key(of: subject, files.records, logs: logs, stop: stop, &notes)
        var obstacle: String?
        if access.reads, let entry = access.cache.entry(of: subject.step, key),
          entry.outputs == subject.outputPaths, entry.result.answers(reads),
          !isLogRead || entry.result.log?.isWhole == true
        {
          switch try restore(entry, reader) {
          case .success(let foreign):
            notes.foreign = foreign
            return .hit(entry, notes)
          case .failure(let error): obstacle = error.message
          }
        }
        let ticket = CacheTicket(
          subject: subject, key: key, inputs: files, before: try stamps(of: subject, reader),
          reason: obstacle ?? reason(for: subject, key, reads, isLogRead))
        return .miss(ticket, notes)
      } catch {
        return error == .stopped ? .stopped : .unknown(error)
      }
    }
  }

  private func reason(
    for subject: CacheSubject, _ key: CacheKey, _ reads: StepReads, _ isLogRead: Bool
  ) -> String {
    guard access.reads else { return "the run uses no cached results" }
    let entries = access.cache.entries(
      of: subject.step, near: key, making: subject.outputPaths, isCurrent: false)
    return CacheJudge(
      key: key, entries: entries, unknown: [], reads: reads, isLogRead: isLogRead
    ).explanation { _ in false }.reason
  }

  /// - Returns: Files in the outputs that the step did not make; a failure if the entry is no longer complete, if the
  ///   step may have read something that is different now, or if something else is in the place of an output.
  private func restore(
    _ entry: CacheEntry, _ reader: WorkspaceReader
  ) throws(CacheKeyError) -> Result<[FileRecord], CacheError> {
    do {
      return .success(try access.cache.restore(entry, to: reader).foreign)
    } catch {
      switch error {
      case .lost, .changed, .inTheWay: return .failure(error)
      case .stopped: throw .stopped
      case .noOutput, .tooLarge, .secret, .workspace, .place: throw .workspace(error.message)
      }
    }
  }

  /// The stamps of the files at the outputs before the step runs.
  private func stamps(
    of subject: CacheSubject, _ reader: WorkspaceReader
  ) throws(CacheKeyError) -> [String: FileStamp] {
    do throws(WorkspaceError) {
      var stamps: [String: FileStamp] = [:]
      for output in subject.outputs {
        stamps.merge(try reader.stamps(at: output)) { first, _ in first }
      }
      return stamps
    } catch {
      throw error.kind == .stopped ? .stopped : .workspace(error.message)
    }
  }

  private func key(
    of subject: CacheSubject, _ files: [FileRecord], logs: StepLogs, stop: StopSwitch,
    _ notes: inout CacheNotes
  ) throws(CacheKeyError) -> CacheKey {
    var log: String?
    if case .log(let instanceNumber) = subject.input {
      guard let copy = try? logs.copy(of: instanceNumber), let digest = try? copy.digest() else {
        throw .workspace("the log that it reads cannot be read")
      }
      log = SHA256.text(of: digest)
    }
    notes.unmatchedInputs = subject.unmatchedInputs(in: files.map(\.names))
    return try maker.key(of: subject, files: files, log: log, stop: stop)
  }

  private func files(
    of subject: CacheSubject, _ reader: WorkspaceReader
  ) throws(CacheKeyError) -> InputFiles {
    let rule = try subject.rule(besides: state)
    do { return try reader.inputs(rule) } catch {
      throw error.kind == .stopped ? .stopped : .workspace(error.message)
    }
  }

  private func reader(stop: StopSwitch) throws(CacheKeyError) -> WorkspaceReader {
    let path = startDirectory ?? "."
    let opened = workspace.withLock { opened in
      let result = opened ?? Result { () throws(SystemError) in try Directory(path) }
      opened = result
      return result
    }
    switch opened {
    case .success(let workspace):
      return WorkspaceReader(workspace, memory: access.cache.memory, stop: stop)
    case .failure(let error): throw .workspace("\"\(path)\": \(error)")
    }
  }

  // MARK: Storing

  /// Stores the result of a step.
  ///
  /// - Parameter repeated: The step as the attempt ran it, if that was not its first one.
  func keep(
    _ ticket: CacheTicket, _ result: CachedResult, _ repeated: CacheSubject?,
    lasting duration: Duration, stop: StopSwitch
  ) -> Future<CacheKeeping, Never> {
    threads.run(ifNotRun: .refused("no thread is available to store it")) { [self] in
      do throws(CacheKeyError) {
        if let repeated { try confirm(repeated, of: ticket) }
        return .kept(try store(ticket, result, lasting: duration, try reader(stop: stop)))
      } catch {
        return error == .stopped ? .stopped : .refused(error.message)
      }
    }
  }

  /// A later attempt has the result of the first if it ran the same command, and nothing that earlier ones left can be
  /// taken for its own: a file is replaced, but a directory may have kept others.
  private func confirm(
    _ repeated: CacheSubject, of ticket: CacheTicket
  ) throws(CacheKeyError) {
    let (first, last) = (ticket.subject, repeated)
    let keys = [first, last].map { maker.keyWithoutFiles(of: $0, log: nil) }
    guard first.version == last.version, keys[0].isSame(as: keys[1]) else {
      throw .workspace("it succeeded in a later attempt, whose command was a different one")
    }
    let directory = startDirectory ?? "."
    if let path = first.outputPaths.first(where: { FileSystem.isDirectory("\(directory)/\($0)") }) {
      throw .workspace(
        "it succeeded in a later attempt, and earlier ones may have left files in \"\(path)\"")
    }
  }

  /// A file may have changed while the step ran, and have the same content again: then only its stamps differ.
  private func confirm(_ files: InputFiles, of ticket: CacheTicket) throws(CacheKeyError) {
    var (before, now) = (CacheKey(), CacheKey())
    before.set(.inputs, files: ticket.inputs.records)
    now.set(.inputs, files: files.records)
    if let change = now.differences(from: before).first {
      throw .workspace("its input \"\(change.name)\" changed while it ran")
    }
    // The same paths are found in the same order.
    let written = zip(files.stamps, ticket.inputs.stamps).enumerated().first { $1.0 != $1.1 }
    if let written = written.map({ files.records[$0.offset].path }) {
      throw .workspace(
        "its input \"\(written)\" was written while it ran: it has the same content again, but the step may have read"
          + " a different one")
    }
  }

  private func store(
    _ ticket: CacheTicket, _ result: CachedResult, lasting duration: Duration,
    _ reader: WorkspaceReader
  ) throws(CacheKeyError) -> CacheEntry {
    try confirm(try files(of: ticket.subject, reader), of: ticket)
    let entry = CacheEntry(
      key: ticket.key, step: ticket.subject.step, run: run.text,
      storedAt: WallClock.now.nanoseconds / 1_000_000,
      milliseconds: Int(duration / .milliseconds(1)),
      outputs: ticket.subject.outputPaths, result: result)
    let mask = maker.secrets.hidesAnything ? maker.secrets.mask : .none
    do {
      return try access.cache.store(entry, since: ticket.before, from: reader) {
        (file) throws(SystemError) in
        try mask.contains(contentOf: file, stop: reader.stop)
      }
    } catch {
      throw error == .stopped ? .stopped : .workspace(error.message)
    }
  }
}

/// The result of a cache lookup.
enum CacheFinding: Sendable {
  case hit(CacheEntry, CacheNotes)
  case miss(CacheTicket, CacheNotes)
  /// The cache key cannot be computed.
  case unknown(CacheKeyError)
  case stopped
}

/// Facts about the files of a step that are reported as warnings.
struct CacheNotes: Sendable {
  /// Patterns of its inputs that no file matches.
  var unmatchedInputs: [String] = []
  /// Files in its outputs that it did not make, as far as known.
  var foreign: [FileRecord] = []
}

/// The result of storing an entry.
enum CacheKeeping: Sendable {
  case kept(CacheEntry)
  /// The result was not stored, for this reason.
  case refused(String)
  case stopped
}

/// The cache key and the present outputs of a step that runs because its result is not cached.
struct CacheTicket: Sendable {
  let subject: CacheSubject
  let key: CacheKey
  /// The input files, which are compared again after the step.
  let inputs: InputFiles
  /// The files at its outputs.
  let before: [String: FileStamp]
  /// The reason why no result is used, as a clause.
  let reason: String
}

extension CachedResult {
  /// Whether the result contains everything that is read.
  func answers(_ reads: StepReads) -> Bool {
    (stdout != nil || !reads.contains(.stdout)) && (stderr != nil || !reads.contains(.stderr))
  }
}

/// The step cache as one run uses it.
package struct CacheAccess: Sendable {
  package let cache: StepCache
  /// Whether cached results are used; if not, every step runs, and results are still stored.
  package var reads: Bool
  /// The directory of Weft's own files, which are never inputs.
  package var stateDirectory: String?

  package init(_ cache: StepCache, reads: Bool = true, stateDirectory: String? = nil) {
    self.cache = cache
    self.reads = reads
    self.stateDirectory = stateDirectory
  }
}

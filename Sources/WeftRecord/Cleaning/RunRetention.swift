package import WeftEvents
import WeftPlatform

/// Whether the files of a run may be removed.
package enum RunRetention: Sendable, Hashable {
  /// Its end is recorded.
  case ended
  /// It waits for approval or was interrupted, and could still be resumed.
  case unfinished
  /// An engine holds it.
  case held
  /// It is not a run's folder, or this version cannot read it, so the loss is unknown.
  case unknown(reason: String)
}

extension StateDirectory {
  /// Reads only the ends of a run's journal; `nil` if the run no longer exists.
  package func retention(of run: RunID) -> RunRetention? {
    do throws(RunFolderError) {
      return try StateDirectory.retention(of: run, in: try folder(of: run))
    } catch {
      if case .unknown = error { return nil }
      // Another process has removed it meanwhile.
      if error.concernsMissingRun, !runs.has(run.text) { return nil }
      return .unknown(reason: error.message)
    }
  }

  private static func retention(
    of run: RunID, in folder: PrivateDirectory
  ) throws(RunFolderError) -> RunRetention {
    if try RunFolder.isHeld(folder) { return .held }
    return try idleState(of: run, in: folder)
  }

  /// Returns the standing of a run that no other process holds.
  static func idleState(
    of run: RunID, in folder: PrivateDirectory
  ) throws(RunFolderError) -> RunRetention {
    let file: Descriptor
    do { file = try folder.file(RunFolder.journalName, .reading) } catch { throw .place(error) }
    let name = "\(folder.path)/\(RunFolder.journalName)"
    let ends = JournalEnds(file, of: run, named: name, limits: JournalLimits())
    guard try ends.opening() != nil else {
      throw .missingOpening(run, journal: name, bytes: (try? file.byteCount()) ?? 0)
    }
    return ends.end() == nil ? .unfinished : .ended
  }
}

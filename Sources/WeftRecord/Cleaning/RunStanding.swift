package import WeftExecution
import WeftPlatform

/// Whether the record of a run may be taken away.
package enum RunStanding: Sendable, Hashable {
  /// Its end is recorded.
  case ended
  /// It waits for somebody, or was interrupted: it could still be gone on with.
  case unfinished
  /// An engine has it.
  case held
  /// It is no run's folder, or cannot be read by this version: nobody knows what would be lost.
  case unknown(reason: String)
}

extension StateDirectory {
  /// Looks at the ends of a run's record only; `nil` if there is no such run any more.
  package func standing(of run: RunID) -> RunStanding? {
    do throws(RunFolderFault) {
      return try StateDirectory.standing(of: run, in: try folder(of: run))
    } catch {
      if case .unknown = error { return nil }
      // Another process has removed it meanwhile.
      if error.isAboutNothing, !runs.has(run.text) { return nil }
      return .unknown(reason: error.message)
    }
  }

  private static func standing(
    of run: RunID, in folder: PrivateDirectory
  ) throws(RunFolderFault) -> RunStanding {
    if try RunFolder.isHeld(folder) { return .held }
    return try restingState(of: run, in: folder)
  }

  /// Of a run that nobody else has.
  static func restingState(
    of run: RunID, in folder: PrivateDirectory
  ) throws(RunFolderFault) -> RunStanding {
    let file: Descriptor
    do { file = try folder.file(RunFolder.journalName, .reading) } catch { throw .place(error) }
    let name = "\(folder.path)/\(RunFolder.journalName)"
    let ends = JournalEnds(file, of: run, named: name, limits: JournalLimits())
    guard try ends.opening() != nil else {
      throw .noBeginning(run, journal: name, bytes: (try? file.byteCount()) ?? 0)
    }
    return ends.end() == nil ? .unfinished : .ended
  }
}

package import WeftExecution
import WeftPlatform

extension StateDirectory {
  /// How many bytes the files of a run have.
  package func byteCount(of run: RunID) -> Int { runs.byteCount(of: run.text) }

  /// Takes a run's record away, if it still stands as it did: its lock is held meanwhile, and it is there whole
  /// or not at all for everybody else.
  ///
  /// - Returns: False if another process has the run, or it stands otherwise by now, or is gone.
  package func remove(_ run: RunID, standing: RunStanding) throws(RunFolderFault) -> Bool {
    let folder: RunFolder
    do { folder = try RunFolder.open(run, in: self) } catch {
      switch error {
      case .held, .unknown: return false
      default: throw error
      }
    }
    guard try StateDirectory.restingState(of: run, in: folder.directory) == standing else {
      return false
    }
    let name = "\(StateDirectory.removedPrefix)\(run)-\(UInt64.random(in: 0 ... .max))"
    do { try runs.rename(run.text, to: name) } catch { throw .place(error) }
    runs.removeDirectory(name)
    guard !runs.has(name) else { throw .place(.system("\(runs.path)/\(name)", .notPermitted)) }
    return true
  }

  private static let removedPrefix = ".removed-"

  /// Takes away what processes have left that were killed while they removed a run.
  package func removeRemnants() {
    for name in runs.names() where name.hasPrefix(StateDirectory.removedPrefix) {
      runs.removeDirectory(name)
    }
  }
}

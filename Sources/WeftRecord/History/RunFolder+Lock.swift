package import WeftEvents
import WeftPlatform

extension StateDirectory {
  /// Whether an engine holds the run.
  package func isHeld(_ run: RunID) -> Bool {
    (try? RunFolder.isHeld(try folder(of: run))) ?? false
  }
}

extension RunFolder {
  /// Whether an engine, or a process that removes the run, holds its lock. Does not take the lock.
  static func isHeld(_ folder: PrivateDirectory) throws(RunFolderError) -> Bool {
    do throws(UnsafePathError) {
      let lock = try folder.file(lockName, .reading)
      do throws(SystemError) { return try folder.calls.isLocked(lock) } catch {
        throw .system("\(folder.path)/\(lockName)", error)
      }
    } catch {
      if error.error == .notFound { return false }
      throw .place(error)
    }
  }
}

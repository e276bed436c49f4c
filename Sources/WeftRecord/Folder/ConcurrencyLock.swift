package import WeftExecution
import WeftPlatform

/// Keeps runs of one key apart that have their records in one place.
///
/// The lock is the system's (fcntl(2)) and ends with the process, however that ends; its file, which stays,
/// says which run has it, for those who wait.
package final class ConcurrencyLock: Sendable {
  package enum Attempt: Sendable {
    case taken(ConcurrencyLock)
    /// By whom, if that is known yet.
    case held(by: RunID?)
  }

  private let lock: Descriptor

  private init(_ lock: Descriptor) {
    self.lock = lock
  }

  /// Takes the lock of a key if nobody has it.
  package static func take(
    _ key: String, for run: RunID, in state: StateDirectory
  ) throws(RunFolderFault) -> Attempt {
    do throws(UnsafePlace) {
      let folder = try state.directory.directory("concurrency", makes: true)
      // A key is any text; a name of a file is not.
      let name = SHA256.text(of: SHA256.digest(of: Array(key.utf8)))
      let lock = try folder.file(name, .makingOrAppending)
      do throws(SystemError) {
        guard try folder.calls.takeLock(lock) else {
          return .held(by: holder(name, in: folder))
        }
        try folder.calls.replace(lock, with: Array("\(run)\n".utf8))
      } catch {
        throw .system("\(folder.path)/\(name)", error)
      }
      return .taken(ConcurrencyLock(lock))
    } catch {
      throw .place(error)
    }
  }

  private static func holder(_ name: String, in folder: PrivateDirectory) -> RunID? {
    guard let bytes = try? folder.bytes(of: name, limit: 256) else { return nil }
    let run = RunID(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    return run.isWellFormed ? run : nil
  }
}

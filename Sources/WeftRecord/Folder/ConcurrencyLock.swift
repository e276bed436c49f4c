package import WeftEvents
import WeftExecution
import WeftPlatform

/// Separates runs with the same key whose journals are in one state directory.
///
/// The lock is the system's (fcntl(2)) and ends with the process, however that ends. Its file remains, and names the
/// holder for processes that wait.
package final class ConcurrencyLock: Sendable {
  package enum Attempt: Sendable {
    case taken(ConcurrencyLock)
    /// `by` is the holder, if already known.
    case held(by: Holder?)
  }

  /// The holder of a key.
  package struct Holder: Sendable, Hashable {
    package let run: RunID
    /// The time at which its engine first requested the key, even if it had to wait. Run IDs only have second
    /// precision.
    package let since: WallTime
  }

  private let lock: Descriptor
  private let calls: FileCalls

  private init(_ lock: Descriptor, _ calls: FileCalls) {
    (self.lock, self.calls) = (lock, calls)
  }

  // A child that is being spawned has the file open, too, so closing it would not release the lock.
  deinit { calls.releaseLock(lock) }

  /// Takes the lock of a key if it is free.
  ///
  /// - Parameter since: The time at which the run's engine first requested it.
  package static func take(
    _ key: String, for run: RunID, since: WallTime, in state: StateDirectory
  ) throws(RunFolderError) -> Attempt {
    do throws(UnsafePathError) {
      let folder = try state.directory.directory("concurrency", makes: true)
      // A key is any text, a file name is not.
      let name = SHA256.text(of: SHA256.digest(of: Array(key.utf8)))
      let lock = try folder.file(name, .makingOrAppending)
      do throws(SystemError) {
        guard try folder.calls.takeLock(lock) else {
          return .held(by: holder(name, in: folder))
        }
        try folder.calls.replace(lock, with: Array("\(run) \(since.nanoseconds)\n".utf8))
      } catch {
        throw .system("\(folder.path)/\(name)", error)
      }
      return .taken(ConcurrencyLock(lock, folder.calls))
    } catch {
      throw .place(error)
    }
  }

  private static func holder(_ name: String, in folder: PrivateDirectory) -> Holder? {
    guard let bytes = try? folder.bytes(of: name, limit: 256), bytes.last == UInt8(ascii: "\n")
    else { return nil }
    let words = String(decoding: bytes.dropLast(), as: UTF8.self).split(separator: " ")
    guard words.count == 2, let run = RunID(validating: String(words[0])),
      let since = Int64(words[1])
    else { return nil }
    return Holder(run: run, since: WallTime(nanoseconds: since))
  }
}

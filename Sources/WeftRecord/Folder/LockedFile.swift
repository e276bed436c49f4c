import WeftPlatform

/// A small file, whose lock this process holds.
///
/// The lock is the system's (fcntl(2)) and ends with the process, however that ends. Its holder may remove the file: a
/// process that had it open then takes the lock of a file without a name, notices that, and opens the name again.
struct LockedFile: Sendable {
  private let file: Descriptor
  private let name: String
  private let folder: PrivateDirectory

  /// Takes the lock of a file; `nil` if it is held elsewhere.
  init?(
    _ name: String, _ opening: PrivateDirectory.Opening = .makingOrAppending,
    in folder: PrivateDirectory
  ) throws(UnsafePathError) {
    var file: Descriptor
    repeat {
      file = try folder.file(name, opening)
      do throws(SystemError) {
        guard try folder.calls.takeLock(file) else { return nil }
      } catch {
        throw .system("\(folder.path)/\(name)", error)
      }
    } while !folder.has(file, as: name)
    (self.file, self.name, self.folder) = (file, name, folder)
  }

  /// Replaces the content, which others may read.
  func write(_ text: String) throws(UnsafePathError) {
    do { try folder.calls.replace(file, with: Array(text.utf8)) } catch {
      throw .system("\(folder.path)/\(name)", error)
    }
  }

  /// Releases the lock, but keeps the file. Closing would not suffice: a child that is being spawned has it open, too.
  func release() { folder.calls.releaseLock(file) }

  /// Removes the file, then releases the lock. A second call has no effect.
  func remove() {
    if folder.has(file, as: name) { try? folder.remove(name) }
    release()
  }
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Disk space reserved for the time when no other is left: a file without content.
package struct DiskReserve: Sendable {
  private let file: Descriptor
  private let calls: FileCalls
  private var isReleased = false

  /// - Throws: If the disk does not have that much space. If the system cannot reserve space, none is reserved, without
  ///   an error.
  package init(
    _ bytes: Int, named name: String, in directory: PrivateDirectory
  ) throws(UnsafePlaceError) {
    calls = directory.calls
    file = try directory.file(name, .makingOrAppending)
    do { try calls.reserve(bytes, in: file) } catch {
      switch error {
      case .noSpace, .overQuota, .fileTooBig, .readOnlyFileSystem:
        throw .system("\(directory.path)/\(name)", error)
      default: break
      }
    }
  }

  /// Releases the space.
  ///
  /// - Returns: False if it was released before, or if that fails.
  package mutating func release() -> Bool {
    guard !isReleased else { return false }
    isReleased = true
    return (try? calls.truncate(file, to: 0)) != nil
  }
}

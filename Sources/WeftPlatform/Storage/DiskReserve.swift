#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Room on a disk that is kept until there is no other: a file that holds nothing.
package struct DiskReserve: Sendable {
  private let file: Descriptor
  private let calls: FileCalls
  private var isReleased = false

  /// - Throws: When the disk has not even that. Where the system cannot reserve, nothing is, and that is no
  ///   error.
  package init(
    _ bytes: Int, named name: String, in directory: PrivateDirectory
  ) throws(UnsafePlace) {
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

  /// Gives the room back to the disk.
  ///
  /// - Returns: False if that was done before, or cannot be.
  package mutating func release() -> Bool {
    guard !isReleased else { return false }
    isReleased = true
    return (try? calls.truncate(file, to: 0)) != nil
  }
}

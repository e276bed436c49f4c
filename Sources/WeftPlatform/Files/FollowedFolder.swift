import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A private directory in which other programs create files, of which only the ends are read, again and again.
///
/// It holds no descriptor: a file that is not created costs nothing but one look that finds nothing.
package struct FollowedFolder: Sendable {
  /// The end of a file, as it was when it was read.
  package struct Ending: Sendable {
    package let bytes: [UInt8]
    /// Whether this is the whole file.
    package let isWhole: Bool
    package let stamp: FileStamp
  }

  package enum Finding: Sendable {
    /// There is no such file, it has not changed, or no descriptor is free to read it.
    case nothing
    case changed(Ending)
    /// It is something other than a regular file, or cannot be read.
    case unreadable
  }

  package let path: String

  /// Creates the directory, which must not exist, for this user alone.
  package init(creating path: String) throws(SystemError) {
    try FileSystem.makeDirectory(path, mode: 0o700)
    self.path = path
  }

  /// The names of the files that exist; none if the directory cannot be read.
  package var names: [String] {
    guard let names = try? Directory(path).names() else { return [] }
    return names.compactMap(\.validText)
  }

  /// Reads the end of a file.
  ///
  /// - Parameters:
  ///   - count: The maximum number of bytes to read.
  ///   - known: The properties that it had when it was last read, with which it counts as unchanged.
  package func ending(of name: String, atMost count: Int, unless known: FileStamp? = nil) -> Finding
  {
    // Without waiting for the writer of a FIFO; a link is refused.
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    do throws(SystemError) {
      let file = Descriptor(owning: try retrying { open("\(path)/\(name)", flags) })
      let stamp = try FileStamp(of: file)
      guard case .file = stamp.kind else { return .unreadable }
      if stamp == known { return .nothing }
      let start = max(0, Int(stamp.size) - count)
      return .changed(
        Ending(
          bytes: try file.piece(at: start, atMost: count), isWhole: start == 0, stamp: stamp))
    } catch {
      return error == .notFound || error.isShortage ? .nothing : .unreadable
    }
  }

  /// Gives back the disk space of the beginning of a file, which then reads as zeros. Its length stays the same, so
  /// that nothing a program writes meanwhile is lost. Does nothing where the system cannot do it.
  package func discardStart(of name: String, bytes: Int) {
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    guard let number = try? retrying({ open("\(path)/\(name)", flags) }) else { return }
    let file = Descriptor(owning: number)
    _ = weft_free_start(file.number, Int64(bytes))
  }

  /// Removes a file; a directory of that name is removed with the whole folder.
  package func remove(_ name: String) { Descriptor.remove("\(path)/\(name)") }
}

import CWeftPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An open file with a temporary name, until it is committed under its own. If it is not committed, it is removed with
/// its last reference.
package final class TemporaryFile: Sendable {
  private let descriptor: Descriptor
  private let name: String
  private let isCommitted = Mutex(false)

  /// Creates the file beside `path`, its later name, with an unpredictable name and readable only by its owner.
  package init(beside path: String) throws(SystemError) {
    let word = try Entropy.bytes(8).map { String($0, radix: 36) }.joined()
    let slash = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
    // A name has at most 255 bytes.
    let own = path[slash...].utf8.count <= 200 ? String(path[slash...]) : ""
    let name = String(path[..<slash]) + ".\(own).\(word).part"
    self.name = name
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    descriptor = Descriptor(owning: try retrying { open(name, flags, 0o600) })
  }

  deinit {
    if !isCommitted.withLock({ $0 }) { unlink(name) }
  }

  /// Writes all of `bytes` where the last write ended.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    try FileCalls.system.writeAll(descriptor, bytes)
  }

  /// Truncates the file to `length` bytes; the next write continues there.
  package func cut(to length: Int) throws(SystemError) {
    try descriptor.cut(to: length)
    guard lseek(descriptor.number, off_t(length), SEEK_SET) >= 0 else { throw .last }
  }

  /// Renames the file to `path`, so that it survives a power loss: with the default mode of new files, replacing any
  /// existing file. A link is replaced, not followed.
  package func commit(as path: String) throws(SystemError) {
    try commit(as: path, mode: mode_t(weft_mode_of_new_files()))
  }

  private func commit(as path: String, mode: mode_t) throws(SystemError) {
    _ = try retrying { fchmod(descriptor.number, mode) }
    try descriptor.synchronize()
    _ = try retrying { rename(name, path) }
    isCommitted.withLock { $0 = true }
    try Self.synchronizeDirectory(of: path)
  }

  private static func synchronizeDirectory(of path: String) throws(SystemError) {
    do { try Directory(Directory.split(path).above).synchronize() } catch {
      // Some file systems do not support this.
      if error != .invalid { throw error }
    }
  }
}

extension TemporaryFile {
  /// Replaces the content of a regular file that was read: others see the old content or the new one.
  ///
  /// A link is followed. The permissions stay, and so do owner and group, if the user may set them.
  ///
  /// - Parameter stamp: The state of the file before it was read. A file that has changed since is not replaced.
  package static func replace(
    _ path: String, readAs stamp: FileStamp, with bytes: [UInt8]
  ) throws(ReplacementError) {
    if let noun = stamp.kind.nounIfNotFile { throw .special(noun) }
    do throws(SystemError) {
      let path = try FileSystem.resolved(path)
      // A file that cannot be written must not be replaced either.
      let old = Descriptor(owning: try retrying { open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) })
      let status = try old.status()
      let file = try TemporaryFile(beside: path)
      try bytes.withRawBytes { (bytes) throws(SystemError) in try file.write(bytes) }
      if fchown(file.descriptor.number, status.st_uid, status.st_gid) != 0 {
        _ = fchown(file.descriptor.number, uid_t.max, status.st_gid)
      }
      if try FileStamp(of: old) == stamp {
        return try file.commit(as: path, mode: status.st_mode & 0o777)
      }
    } catch {
      throw .system(error)
    }
    throw .changed
  }
}

/// The reason why a file was not replaced.
package enum ReplacementError: Error, Hashable, Sendable {
  /// It is not a regular file but this, a noun.
  case special(String)
  /// It has changed since it was read.
  case changed
  case system(SystemError)

  /// The error, to follow the name of the file.
  package var message: String {
    switch self {
    case .special(let noun): "is \(noun), which cannot be replaced"
    case .changed: "has changed since it was read"
    case .system(let error): "cannot be replaced: \(error)"
    }
  }
}

/// Bytes buffered on disk, in a file without a name, which is deleted with its last reference, even after a crash.
///
/// One thread appends while others read; each reader sees all bytes appended before its call.
package final class SpoolFile: Sendable {
  /// The file itself, for a program to read from the beginning: appending does not move its offset.
  package let file: Descriptor
  private let length = Mutex(0)

  /// - Parameter directory: Selects the disk; only the owner may read the file.
  package init(in directory: String = FileSystem.temporaryDirectory) throws(SystemError) {
    file = Descriptor(owning: try checked(weft_nameless_file(directory)))
  }

  package var count: Int { length.withLock { $0 } }

  /// Appends all of `bytes` or, on failure, none of them.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(WriteError) {
    // Locked while writing: a reader must not see a length whose bytes are not written yet.
    try length.withLock { (length: inout sending Int) throws(WriteError) -> Void in
      try write(bytes, at: length)
      length += bytes.count
    }
  }

  package func append(_ bytes: [UInt8]) throws(WriteError) {
    try bytes.withRawBytes { (bytes) throws(WriteError) in try append(bytes) }
  }

  /// The bytes at `range`; fewer if the file ends before its end.
  package func bytes(in range: Range<Int>) throws(SystemError) -> [UInt8] {
    let range = range.clamped(to: 0..<count)
    return try file.piece(at: range.lowerBound, atMost: range.count)
  }

  private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(WriteError) {
    var written = 0
    while written < bytes.count {
      let (start, room) = (bytes.baseAddress! + written, bytes.count - written)
      do {
        written += try retrying { pwrite(file.number, start, room, off_t(offset + written)) }
      } catch {
        throw WriteError(error)
      }
    }
  }
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder that nobody but this user enters, with files that come and go whole.
///
/// Several processes may use one at the same time: whoever opens a file reads all of what one of them has
/// written, whatever the others do meanwhile. What is written is not made to survive a loss of power.
///
/// Files are named `file` or `part/file`; parts are made when the first file comes.
package final class PrivateFolder: Sendable {
  private let directory: Descriptor

  /// Where files are until they are whole.
  private static let unfinished = "unfinished"

  /// Opens it, or makes it with what is missing above it.
  ///
  /// - Throws: ``SystemError/notPermitted`` where it is not this user's own, or others may enter it.
  package init(_ path: String) throws(SystemError) {
    // The system would open what the part before the NUL names.
    if path.utf8.contains(0) { throw .invalid }
    try FileSystem.makeDirectories(path, mode: 0o700)
    directory = Descriptor(
      owning: try retrying { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
    var status = stat()
    _ = try retrying { fstat(directory.number, &status) }
    guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else { throw .notPermitted }
  }

  /// What is known of a file without reading it.
  package struct Entry: Sendable, Hashable {
    package var name: String
    package var size: Int
    /// Seconds since 1970: when it was written or last marked as used.
    package var lastUse: Int64

    package init(name: String, size: Int, lastUse: Int64) {
      self.name = name
      self.size = size
      self.lastUse = lastUse
    }
  }

  /// The names of what a part holds, with the part's; empty where there is none.
  package func names(in part: String) -> [String] {
    guard
      let opened = try? FileTree.opened(
        directory.number, Array(part.utf8CString), O_DIRECTORY | O_NOFOLLOW, at: [])
    else { return [] }
    let names = (try? FileTree.names(in: opened.number, at: [])) ?? []
    return names.map {
      part + "/" + String(decoding: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
  }

  /// The regular files of a part, in no order.
  package func entries(in part: String) -> [Entry] {
    names(in: part).compactMap { name in
      var status = stat()
      guard fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
        status.st_mode & S_IFMT == S_IFREG
      else { return nil }
      #if canImport(Darwin)
        let time = status.st_mtimespec.tv_sec
      #else
        let time = status.st_mtim.tv_sec
      #endif
      return Entry(name: name, size: Int(status.st_size), lastUse: Int64(time))
    }
  }

  /// The bytes of a regular file; nil where there is none, or it is longer than the limit.
  package func read(_ name: String, limit: Int) -> [UInt8]? {
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    guard
      let file = try? OwnedDescriptor(retrying { openat(directory.number, name, flags) })
    else { return nil }
    var status = stat()
    guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return try? FileReader(file: file.number, limit: limit, patience: nil).all()
  }

  /// Marks a file as used now.
  package func touch(_ name: String) {
    utimensat(directory.number, name, nil, AT_SYMLINK_NOFOLLOW)
  }

  package func remove(_ name: String) { unlinkat(directory.number, name, 0) }

  /// Makes a file of these pieces, mode 0600, in the place of one of that name.
  package func replace(_ name: String, with pieces: [[UInt8]]) throws(SystemError) {
    try placing(pieces) { temporary throws(SystemError) in
      try inPart(of: name) {
        renameat(directory.number, temporary, directory.number, name)
      }
    }
  }

  /// Makes a file of these bytes, unless there is one of that name.
  package func create(_ name: String, with bytes: [UInt8]) throws(SystemError) {
    try placing([bytes]) { temporary throws(SystemError) in
      do throws(SystemError) {
        try inPart(of: name) { linkat(directory.number, temporary, directory.number, name, 0) }
      } catch .alreadyExists {}
    }
  }

  /// Removes what processes have left that ended before a file was whole.
  ///
  /// - Parameter time: Seconds since 1970; younger ones may be somebody's work.
  package func removeUnfinished(before time: Int64) {
    for entry in entries(in: Self.unfinished) where entry.lastUse < time { remove(entry.name) }
  }
}

extension PrivateFolder {
  /// Writes a file that has no name yet and has `place` give it one.
  private func placing(
    _ pieces: [[UInt8]], _ place: (String) throws(SystemError) -> Void
  ) throws(SystemError) {
    let word = try Entropy.bytes(12).map { String($0, radix: 36) }.joined()
    let temporary = Self.unfinished + "/" + word
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    var number: Int32 = -1
    try inPart(of: temporary) {
      number = openat(directory.number, temporary, flags, 0o600)
      return number
    }
    // Gone already where it was renamed.
    defer { remove(temporary) }
    let file = Descriptor(owning: number)
    do throws(WriteFailure) {
      for piece in pieces { try file.writeAll(piece) }
    } catch {
      throw error.systemError
    }
    try place(temporary)
  }

  /// Makes the part that a name stands in when it turns out to be missing.
  private func inPart(of name: String, _ call: () -> Int32) throws(SystemError) {
    do throws(SystemError) { _ = try retrying(call) } catch {
      guard error == .notFound, let slash = name.firstIndex(of: "/") else { throw error }
      mkdirat(directory.number, String(name[..<slash]), 0o700)
      _ = try retrying(call)
    }
  }
}

extension WriteFailure {
  fileprivate var systemError: SystemError {
    switch self {
    case .brokenPipe: .brokenPipe
    case .noSpace(let error), .other(let error): error
    }
  }
}

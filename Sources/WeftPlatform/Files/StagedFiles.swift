#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Files for one path of a workspace, created beside it under a temporary name: they appear there as a whole, by
/// renaming, or not at all.
package final class StagedFiles: Sendable {
  private let path: [String]
  private let parent: Directory
  private let name: EntryName
  private let temporary: EntryName

  /// The prefix of temporary names; no other files have it.
  package static let prefix = ".weft-staged-"

  /// - Parameter path: The path from the workspace's root on; missing parent directories are created.
  package init(_ path: [String], in workspace: Directory) throws(WorkspaceError) {
    precondition(!path.isEmpty, "the root itself cannot be exchanged")
    self.path = path
    name = EntryName(path[path.count - 1])
    parent = try workspace.directory(path.dropLast(), of: path, makes: true)
    temporary = EntryName(
      StagedFiles.prefix + String(UInt64.random(in: 0 ... .max), radix: 36))
  }

  /// Creates a file and opens it for writing.
  ///
  /// - Parameters:
  ///   - inner: The names below the path; none for the path itself.
  ///   - permissions: The maximum permissions, which the umask reduces.
  package func makeFile(
    at inner: ArraySlice<String>, permissions: UInt32
  ) throws(WorkspaceError) -> Descriptor {
    try within(inner) { (directory, name) throws(SystemError) in
      try directory.open(
        name, O_WRONLY | O_CREAT | O_EXCL, mode: mode_t(permissions & 0o777))
    }
  }

  package func makeLink(
    at inner: ArraySlice<String>, to target: String
  ) throws(WorkspaceError) {
    try within(inner) { (directory, name) throws(SystemError) in
      try directory.makeLink(name, to: target)
    }
  }

  package func makeDirectory(
    at inner: ArraySlice<String>, permissions: UInt32 = 0o777
  ) throws(WorkspaceError) {
    try within(inner) { (directory, name) throws(SystemError) in
      try directory.makeDirectory(name, mode: StagedFiles.mode(ofDirectory: permissions))
    }
  }

  /// Adds the permissions that the owner needs to put files into it.
  private static func mode(ofDirectory permissions: UInt32) -> mode_t {
    mode_t(permissions & 0o777 | 0o700)
  }

  /// Removes the staged files; published ones stay.
  package func discard() { parent.removeAny(temporary) }

  // MARK: Publishing

  /// Moves all staged files to the path. A file replaces a file or link, a directory replaces an empty one.
  ///
  /// - Returns: False if a different kind of entry is there.
  package func publish() throws(WorkspaceError) -> Bool {
    try changing { () throws(SystemError) in
      try parent.rename(temporary, to: name, in: parent)
    }
  }

  /// Moves one staged file or link into the directory at the path, replacing a file or link.
  ///
  /// - Returns: False if a different kind of entry is there, or its directory is missing.
  package func publish(_ inner: ArraySlice<String>) throws(WorkspaceError) -> Bool {
    try changing { () throws(SystemError) in
      let (source, last) = try opened(temporary, inner)
      let (target, _) = try opened(name, inner)
      try source.rename(last, to: last, in: target)
    }
  }

  /// Creates a directory in the one at the path, unless it exists.
  ///
  /// - Returns: False if a different kind of entry is there, or its parent is missing.
  package func publishDirectory(
    at inner: ArraySlice<String>, permissions: UInt32
  ) throws(WorkspaceError) -> Bool {
    try changing { () throws(SystemError) in
      let (target, last) = try opened(name, inner)
      do throws(SystemError) {
        try target.makeDirectory(last, mode: StagedFiles.mode(ofDirectory: permissions))
      } catch {
        guard error == .alreadyExists else { throw error }
        guard try target.stamp(of: last).kind == .directory else { throw error }
      }
    }
  }

  /// Removes a file, a link or an empty directory from the directory at the path.
  ///
  /// - Returns: False if it is no longer of that kind.
  package func removePublished(
    _ inner: ArraySlice<String>, isDirectory: Bool
  ) throws(WorkspaceError) -> Bool {
    try changing { () throws(SystemError) in
      let (target, last) = try opened(name, inner)
      do throws(SystemError) {
        try target.remove(last, isDirectory: isDirectory)
      } catch {
        // Already removed.
        if error != .notFound { throw error }
      }
    }
  }

  /// - Returns: False if the entry there is not of the expected kind.
  private func changing(_ act: () throws(SystemError) -> Void) throws(WorkspaceError) -> Bool {
    do throws(SystemError) {
      try act()
      return true
    } catch {
      if StagedFiles.isOccupied(error) { return false }
      throw WorkspaceError(.system(error), at: path)
    }
  }

  private static func isOccupied(_ error: SystemError) -> Bool {
    [
      .alreadyExists, .isDirectory, .notDirectory, .notFound, SystemError(number: ENOTEMPTY),
      SystemError(number: ELOOP),
    ].contains(error)
  }

  /// Opens the directory that contains an entry, and returns it with the entry's name; no link is followed.
  private func opened(
    _ root: EntryName, _ inner: ArraySlice<String>
  ) throws(SystemError) -> (Directory, EntryName) {
    guard let last = inner.last else { return (parent, root) }
    var directory = try parent.directory(root)
    for name in inner.dropLast() { directory = try directory.directory(EntryName(name)) }
    return (directory, EntryName(last))
  }

  private func within<Value>(
    _ inner: ArraySlice<String>, _ make: (Directory, EntryName) throws(SystemError) -> Value
  ) throws(WorkspaceError) -> Value {
    try placing(path + inner) { () throws(SystemError) in
      let (directory, last) = try opened(temporary, inner)
      return try make(directory, last)
    }
  }
}

extension Directory {
  /// Removes files that were staged beside a path by processes that have ended.
  ///
  /// - Parameter time: Seconds since 1970; younger files may still be in progress.
  package func removeStaged(beside path: [String], before time: Int64) {
    guard let parent = try? directory(path.dropLast(), of: path) else { return }
    for name in (try? parent.names()) ?? [] {
      guard name.text.hasPrefix(StagedFiles.prefix), let stamp = try? parent.stamp(of: name),
        stamp.changed / 1_000_000_000 < time
      else { continue }
      parent.removeAny(name)
    }
  }
}

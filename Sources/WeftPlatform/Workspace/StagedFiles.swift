#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What is to stand at one path of a workspace, made beside it under another name: it comes there whole, by
/// renaming, or not at all.
package final class StagedFiles: Sendable {
  private let path: [String]
  private let parent: Descriptor
  private let name: String
  private let temporary: String

  /// Names that begin so are nobody's files.
  package static let prefix = ".weft-staged-"

  /// - Parameter path: From the workspace's root on; the directories in which it lies are made.
  package init(_ path: [String], in workspace: Workspace) throws(WorkspaceFault) {
    precondition(!path.isEmpty, "the root itself cannot be exchanged")
    self.path = path
    name = path[path.count - 1]
    parent = try workspace.directory(path.dropLast(), of: path, makes: true)
    temporary = StagedFiles.prefix + String(UInt64.random(in: 0 ... .max), radix: 36)
  }

  /// Makes a file, to be written to.
  ///
  /// - Parameters:
  ///   - inner: The names from the path on; none: the path itself.
  ///   - permissions: The most that anybody may do with it; the umask takes away from that.
  package func makeFile(
    at inner: ArraySlice<String>, permissions: UInt32
  ) throws(WorkspaceFault) -> Descriptor {
    try within(inner) { (directory, name) throws(SystemError) in
      Descriptor(
        owning: try retrying {
          openat(
            directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
            mode_t(permissions & 0o777))
        })
    }
  }

  package func makeLink(
    at inner: ArraySlice<String>, to target: String
  ) throws(WorkspaceFault) {
    _ = try within(inner) { (directory, name) throws(SystemError) in
      try retrying { symlinkat(target, directory, name) }
    }
  }

  package func makeDirectory(
    at inner: ArraySlice<String>, permissions: UInt32 = 0o777
  ) throws(WorkspaceFault) {
    _ = try within(inner) { (directory, name) throws(SystemError) in
      try retrying { mkdirat(directory, name, StagedFiles.mode(ofDirectory: permissions)) }
    }
  }

  /// Its owner puts files into it.
  private static func mode(ofDirectory permissions: UInt32) -> mode_t {
    mode_t(permissions & 0o777 | 0o700)
  }

  /// Removes it; what has been published stays.
  package func discard() { StagedFiles.remove(temporary, in: parent) }

  // MARK: Publishing

  /// Puts all of it where it is to be. A file takes the place of a file or link, a directory that of an empty one.
  ///
  /// - Returns: False if something else is there.
  package func publish() throws(WorkspaceFault) -> Bool {
    try changing { () throws(SystemError) in
      _ = try retrying { renameat(parent.number, temporary, parent.number, name) }
    }
  }

  /// Puts one file or link of it into the directory that is at the path, in place of a file or link.
  ///
  /// - Returns: False if something else is there, or its directory is not.
  package func publish(_ inner: ArraySlice<String>) throws(WorkspaceFault) -> Bool {
    try changing { () throws(SystemError) in
      let (source, last) = try opened(temporary, inner)
      let (target, _) = try opened(name, inner)
      _ = try retrying { renameat(source.number, last, target.number, last) }
    }
  }

  /// Makes a directory in the one that is at the path, unless it is there.
  ///
  /// - Returns: False if something else is there, or what it is to be in is not.
  package func publishDirectory(
    at inner: ArraySlice<String>, permissions: UInt32
  ) throws(WorkspaceFault) -> Bool {
    try changing { () throws(SystemError) in
      let (target, last) = try opened(name, inner)
      do throws(SystemError) {
        _ = try retrying {
          mkdirat(target.number, last, StagedFiles.mode(ofDirectory: permissions))
        }
      } catch {
        guard error == .alreadyExists else { throw error }
        guard try FileStamp(Array(last.utf8CString), in: target.number).kind == .directory else {
          throw error
        }
      }
    }
  }

  /// Removes a file, a link or an empty directory from the directory that is at the path.
  ///
  /// - Returns: False if it is something else by now.
  package func removePublished(
    _ inner: ArraySlice<String>, isDirectory: Bool
  ) throws(WorkspaceFault) -> Bool {
    try changing { () throws(SystemError) in
      let (target, last) = try opened(name, inner)
      do throws(SystemError) {
        _ = try retrying { unlinkat(target.number, last, isDirectory ? AT_REMOVEDIR : 0) }
      } catch {
        // Gone is gone.
        if error != .notFound { throw error }
      }
    }
  }

  /// - Returns: False if what is there is not what it is taken for.
  private func changing(_ act: () throws(SystemError) -> Void) throws(WorkspaceFault) -> Bool {
    do throws(SystemError) {
      try act()
      return true
    } catch {
      if StagedFiles.saysOccupied(error) { return false }
      throw WorkspaceFault(.system(error), at: path)
    }
  }

  private static func saysOccupied(_ error: SystemError) -> Bool {
    [
      .alreadyExists, .isDirectory, .notDirectory, .notFound, SystemError(number: ENOTEMPTY),
      SystemError(number: ELOOP),
    ].contains(error)
  }

  /// The directory in which something is, and its name there; no link is followed.
  private func opened(
    _ root: String, _ inner: ArraySlice<String>
  ) throws(SystemError) -> (Descriptor, String) {
    guard let last = inner.last else { return (parent, root) }
    var directory = parent
    for name in [root] + inner.dropLast() {
      let outer = directory
      directory = Descriptor(
        owning: try retrying {
          openat(outer.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        })
    }
    return (directory, last)
  }

  private static func remove(_ name: String, in directory: Descriptor) {
    if unlinkat(directory.number, name, 0) != 0 { FileTree.remove(name, in: directory.number) }
  }

  private func within<Value>(
    _ inner: ArraySlice<String>, _ make: (Int32, String) throws(SystemError) -> Value
  ) throws(WorkspaceFault) -> Value {
    try placing(path + inner) { () throws(SystemError) in
      let (directory, last) = try opened(temporary, inner)
      return try make(directory.number, last)
    }
  }
}

extension Workspace {
  /// Takes away what was to be put beside a path by somebody whose process has ended before.
  ///
  /// - Parameter time: Seconds since 1970; what is younger may be somebody's work.
  package func removeStaged(beside path: [String], before time: Int64) {
    guard let parent = try? directory(path.dropLast(), of: path).listed() else { return }
    for name in (try? FileTree.names(in: parent.number, at: [])) ?? [] {
      let text = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
      guard text.hasPrefix(StagedFiles.prefix),
        let stamp = try? FileStamp(name, in: parent.number),
        stamp.changed / 1_000_000_000 < time
      else { continue }
      if unlinkat(parent.number, name, 0) != 0 { FileTree.remove(text, in: parent.number) }
    }
  }
}

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
  /// - Parameter inner: The names from the path on; none: the path itself.
  package func makeFile(
    at inner: ArraySlice<String>, isExecutable: Bool
  ) throws(WorkspaceFault) -> Descriptor {
    try within(inner) { (directory, name) throws(SystemError) in
      Descriptor(
        owning: try retrying {
          openat(
            directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
            isExecutable ? 0o777 : 0o666 as mode_t)
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

  package func makeDirectory(at inner: ArraySlice<String>) throws(WorkspaceFault) {
    _ = try within(inner) { (directory, name) throws(SystemError) in
      try retrying { mkdirat(directory, name, 0o777) }
    }
  }

  /// Puts it where it is to be, in place of what stands there.
  package func publish() throws(WorkspaceFault) {
    // Somebody else may do the same at the same time; whoever comes last has put it there.
    for _ in 1...StagedFiles.attempts {
      do throws(SystemError) {
        _ = try retrying { renameat(parent.number, temporary, parent.number, name) }
        return
      } catch {
        guard StagedFiles.saysOccupied(error) else {
          throw WorkspaceFault(.system(error), at: path)
        }
      }
      putAside()
    }
    throw WorkspaceFault(.changing, at: path)
  }

  /// Takes it away; what has been published stays.
  package func discard() { StagedFiles.remove(temporary, in: parent) }

  private static let attempts = 20

  /// Only a file takes a file's place, and nothing that of a directory with something in it.
  private static func saysOccupied(_ error: SystemError) -> Bool {
    [.alreadyExists, .isDirectory, .notDirectory, SystemError(number: ENOTEMPTY)].contains(error)
  }

  private func putAside() {
    let aside = StagedFiles.prefix + String(UInt64.random(in: 0 ... .max), radix: 36)
    guard renameat(parent.number, name, parent.number, aside) == 0 else { return }
    StagedFiles.remove(aside, in: parent)
  }

  private static func remove(_ name: String, in directory: Descriptor) {
    if unlinkat(directory.number, name, 0) != 0 { FileTree.remove(name, in: directory.number) }
  }

  private func within<Value>(
    _ inner: ArraySlice<String>, _ make: (Int32, String) throws(SystemError) -> Value
  ) throws(WorkspaceFault) -> Value {
    try placing(path + inner) { () throws(SystemError) in
      guard let last = inner.last else { return try make(parent.number, temporary) }
      var directory = parent
      for name in [temporary] + inner.dropLast() {
        let outer = directory
        directory = Descriptor(
          owning: try retrying {
            openat(outer.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
          })
      }
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

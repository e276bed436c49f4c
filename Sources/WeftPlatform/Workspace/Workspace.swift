#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The directory that contains the files of steps, held open.
///
/// Each name of a path is opened in the directory that was opened before it, and no link is followed on the way. So a
/// process that replaces directories with links meanwhile cannot lead it outside.
package final class Workspace: Sendable {
  let root: Descriptor

  /// - Parameter path: A path named by the user; its links may lead anywhere.
  package init(_ path: String) throws(SystemError) {
    let name = Array(path.utf8CString)
    root = Descriptor(
      owning: try retrying { open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
  }

  /// The stamp of the entry at a path; `nil` if there is none.
  package func stamp(of path: [String]) throws(WorkspaceError) -> FileStamp? {
    guard let name = path.last else { return nil }
    do {
      let parent = try directory(path.dropLast(), of: path)
      return try placing(path) { () throws(SystemError) in
        try FileStamp(Array(name.utf8CString), in: parent.number)
      }
    } catch {
      if [.system(.notFound), .system(.notDirectory)].contains(error.kind) { return nil }
      throw error
    }
  }

  /// Opens a directory beneath the root.
  ///
  /// - Parameters:
  ///   - path: The path for errors.
  ///   - makes: Whether to create missing directories.
  func directory(
    _ names: ArraySlice<String>, of path: [String], makes: Bool = false
  ) throws(WorkspaceError) -> Descriptor {
    var directory = root
    for (index, name) in names.enumerated() {
      let here = Array(path.prefix(index + 1))
      if makes { try make(name, in: directory, at: here) }
      directory = try entered(name, in: directory, at: here)
    }
    return directory
  }

  private func make(
    _ name: String, in directory: Descriptor, at path: [String]
  ) throws(WorkspaceError) {
    do throws(SystemError) {
      _ = try retrying { mkdirat(directory.number, name, 0o777) }
    } catch {
      if error != .alreadyExists { throw WorkspaceError(.system(error), at: path) }
    }
  }

  private func entered(
    _ name: String, in directory: Descriptor, at path: [String]
  ) throws(WorkspaceError) -> Descriptor {
    do throws(SystemError) {
      return Descriptor(
        owning: try retrying {
          openat(directory.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        })
    } catch {
      if PrivateDirectory.isLink(name, in: directory.number) {
        throw WorkspaceError(.behindLink, at: path)
      }
      throw WorkspaceError(.system(error), at: path)
    }
  }
}

extension Descriptor {
  /// Opens the directory again, to read its names from the first on: a shared open directory continues where the last
  /// reader has stopped.
  func listed() throws(SystemError) -> Descriptor {
    Descriptor(
      owning: try retrying { openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
  }
}

/// Makes a system call, and adds the path to its error.
func placing<Value>(
  _ path: [String], _ call: () throws(SystemError) -> Value
) throws(WorkspaceError) -> Value {
  do { return try call() } catch { throw WorkspaceError(.system(error), at: path) }
}

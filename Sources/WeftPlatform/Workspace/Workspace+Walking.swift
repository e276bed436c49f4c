#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An entry found below a workspace's root. Valid only during its visit.
package struct FoundFile {
  /// The names from the root on.
  package let path: [String]
  package let stamp: FileStamp
  fileprivate let name: [CChar]
  fileprivate let directory: Descriptor

  /// Opens a file for reading; refused if it has become a link meanwhile.
  package func opened() throws(WorkspaceError) -> Descriptor {
    try placing(path) { () throws(SystemError) in
      Descriptor(
        owning: try retrying {
          openat(directory.number, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        })
    }
  }

  /// The target of a link.
  package func target() throws(WorkspaceError) -> String {
    let bytes = try placing(path) { () throws(SystemError) in
      try FoundFile.target(name, in: directory.number)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw WorkspaceError(.notUTF8, at: path)
    }
    return text
  }

  /// Opens the regular file that a link leads to, wherever that is; `nil` if it leads to none.
  package func openedThroughLink() -> Descriptor? {
    guard let stamp = try? FileStamp(name, in: directory.number, follows: true),
      case .file = stamp.kind
    else { return nil }
    let file = openat(directory.number, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    return file < 0 ? nil : Descriptor(owning: file)
  }

  private static func target(
    _ name: [CChar], in directory: Int32
  ) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      do throws(SystemError) {
        count = try buffer.withMemoryRebound(to: CChar.self) { buffer throws(SystemError) in
          try retrying { readlinkat(directory, name, buffer.baseAddress!, buffer.count) }
        }
      } catch { failure = error }
    }
    if let failure { throw failure }
    return bytes
  }
}

extension Workspace {
  /// The entries that a walk covers. Paths are the names from the root on.
  package struct Choice {
    package var entersDirectory: ([String]) -> Bool
    /// Applies to directories, too.
    package var visits: ([String]) -> Bool

    package init(
      entersDirectory: @escaping ([String]) -> Bool, visits: @escaping ([String]) -> Bool
    ) {
      self.entersDirectory = entersDirectory
      self.visits = visits
    }

    package static var everything: Choice {
      Choice(entersDirectory: { _ in true }, visits: { _ in true })
    }
  }

  /// Visits the chosen entries below the root, a directory before its entries, in the byte order of names. No link is
  /// followed.
  package func walk(
    _ choice: Choice, stop: StopSwitch = StopSwitch(),
    _ visit: (FoundFile) throws(WorkspaceError) -> Void
  ) throws(WorkspaceError) {
    try withoutActuallyEscaping(visit) { visit throws(WorkspaceError) in
      let listed = try placing([]) { () throws(SystemError) in try root.listed() }
      try TreeWalk(choice: choice, stop: stop, visit: visit).look(into: listed, [])
    }
  }

  /// Visits one entry below the root and, if it is a directory, its content, as ``walk(_:stop:_:)`` does. A missing
  /// entry is no error.
  package func walk(
    at path: [String], _ choice: Choice = .everything, stop: StopSwitch = StopSwitch(),
    _ visit: (FoundFile) throws(WorkspaceError) -> Void
  ) throws(WorkspaceError) {
    guard let last = path.last, try stamp(of: path) != nil else { return }
    let parent = try directory(path.dropLast(), of: path)
    try withoutActuallyEscaping(visit) { visit throws(WorkspaceError) in
      try TreeWalk(choice: choice, stop: stop, visit: visit)
        .look(at: Array(last.utf8CString), in: parent, path)
    }
  }
}

private struct TreeWalk {
  let choice: Workspace.Choice
  let stop: StopSwitch
  let visit: (FoundFile) throws(WorkspaceError) -> Void

  func look(into directory: Descriptor, _ path: [String]) throws(WorkspaceError) {
    guard path.count <= FileTree.depthLimit else { throw WorkspaceError(.tooDeep, at: path) }
    for name in try names(in: directory, path) {
      guard stop.level == .none else { throw WorkspaceError(.stopped, at: path) }
      let bytes = name.dropLast().map(UInt8.init(bitPattern:))
      let text = String(decoding: bytes, as: UTF8.self)
      let inner = path + [text]
      guard choice.visits(inner) || choice.entersDirectory(inner) else { continue }
      guard text.utf8.elementsEqual(bytes) else { throw WorkspaceError(.notUTF8, at: path) }
      try look(at: name, in: directory, inner)
    }
  }

  func look(
    at name: [CChar], in directory: Descriptor, _ path: [String]
  ) throws(WorkspaceError) {
    let stamp: FileStamp
    do { stamp = try FileStamp(name, in: directory.number) } catch {
      // Removed since its name was read.
      if error == .notFound { return }
      throw WorkspaceError(.system(error), at: path)
    }
    if choice.visits(path) {
      try visit(FoundFile(path: path, stamp: stamp, name: name, directory: directory))
    }
    guard stamp.kind == .directory, choice.entersDirectory(path) else { return }
    let inner = try placing(path) { () throws(SystemError) in
      Descriptor(
        owning: try retrying {
          openat(directory.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        })
    }
    try look(into: inner, path)
  }

  private func names(in directory: Descriptor, _ path: [String]) throws(WorkspaceError) -> [[CChar]]
  {
    do { return try FileTree.names(in: directory.number, at: path) } catch {
      switch error.kind {
      case .tooDeep: throw WorkspaceError(.tooDeep, at: path)
      case .system(let error): throw WorkspaceError(.system(error), at: path)
      }
    }
  }
}

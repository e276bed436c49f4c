#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Paths without links, and walks over the entries below the directory, such as the files of steps.
///
/// Each name of a path is opened in the directory that was opened before it, and no link is followed on the way. So a
/// process that replaces directories with links meanwhile cannot lead it outside.
extension Directory {
  /// The stamp of the entry at a path; `nil` if there is none.
  package func stamp(of path: [String]) throws(WorkspaceError) -> FileStamp? {
    guard let name = path.last else { return nil }
    do {
      let parent = try directory(path.dropLast(), of: path)
      return try placing(path) { () throws(SystemError) in try parent.stamp(of: EntryName(name)) }
    } catch {
      if [.system(.notFound), .system(.notDirectory)].contains(error.kind) { return nil }
      throw error
    }
  }

  /// Opens a directory beneath this one.
  ///
  /// - Parameters:
  ///   - path: The path for errors.
  ///   - makes: Whether to create missing directories.
  package func directory(
    _ names: ArraySlice<String>, of path: [String], makes: Bool = false
  ) throws(WorkspaceError) -> Directory {
    var directory = self
    for (index, name) in names.enumerated() {
      let (name, outer, here) = (EntryName(name), directory, Array(path.prefix(index + 1)))
      do throws(SystemError) {
        if makes { try outer.makeDirectory(name, mode: 0o777) }
      } catch {
        if error != .alreadyExists { throw WorkspaceError(.system(error), at: here) }
      }
      do throws(SystemError) { directory = try outer.directory(name) } catch {
        throw WorkspaceError(outer.isLink(name) ? .behindLink : .system(error), at: here)
      }
    }
    return directory
  }

  /// The entries that a walk covers. Paths are the names from the root on.
  package struct Choice {
    package var entersDirectory: ([String]) -> Bool
    /// The names in a directory that can be visited or entered, if they are known; otherwise it is read.
    package var onlyNames: ([String]) -> Set<String>?
    /// Applies to directories, too.
    package var visits: ([String]) -> Bool
    /// Whether names that are not UTF-8 are reported with U+FFFD; otherwise they are errors.
    package var repairsNames: Bool

    package init(
      entersDirectory: @escaping ([String]) -> Bool = { _ in true },
      onlyNames: @escaping ([String]) -> Set<String>? = { _ in nil },
      visits: @escaping ([String]) -> Bool = { _ in true }, repairsNames: Bool = false
    ) {
      self.entersDirectory = entersDirectory
      self.onlyNames = onlyNames
      self.visits = visits
      self.repairsNames = repairsNames
    }
  }

  /// Visits the chosen entries below the root, a directory before its entries, in the byte order of names: so the order
  /// depends on names only. No link is followed.
  package func walk(
    _ choice: Choice, stop: StopSwitch = StopSwitch(),
    _ visit: (FoundFile) throws(WorkspaceError) -> Void
  ) throws(WorkspaceError) {
    try withoutActuallyEscaping(visit) { visit throws(WorkspaceError) in
      try TreeWalk(choice: choice, stop: stop, visit: visit).enter(self, [])
    }
  }

  /// Visits one entry below the root and, if it is a directory, its content, as ``walk(_:stop:_:)`` does. A missing
  /// entry is no error.
  package func walk(
    at path: [String], _ choice: Choice = Choice(), stop: StopSwitch = StopSwitch(),
    _ visit: (FoundFile) throws(WorkspaceError) -> Void
  ) throws(WorkspaceError) {
    guard let last = path.last, try stamp(of: path) != nil else { return }
    let parent = try directory(path.dropLast(), of: path)
    try withoutActuallyEscaping(visit) { visit throws(WorkspaceError) in
      try TreeWalk(choice: choice, stop: stop, visit: visit)
        .reach(EntryName(last), in: parent, path)
    }
  }
}

private struct TreeWalk {
  let choice: Directory.Choice
  let stop: StopSwitch
  let visit: (FoundFile) throws(WorkspaceError) -> Void

  func enter(_ directory: Directory, _ path: [String]) throws(WorkspaceError) {
    guard path.count <= Directory.depthLimit else { throw WorkspaceError(.tooDeep, at: path) }
    let names: [EntryName]
    if let known = choice.onlyNames(path) {
      names = known.map { EntryName($0) }.filter(\.canExist).sorted()
    } else {
      names = try placing(path) { () throws(SystemError) in try directory.names() }
    }
    for name in names {
      guard stop.level == .none else { throw WorkspaceError(.stopped, at: path) }
      let inner = path + [name.text]
      guard choice.visits(inner) || choice.entersDirectory(inner) else { continue }
      guard choice.repairsNames || name.validText != nil else {
        throw WorkspaceError(.notUTF8, at: path)
      }
      try reach(name, in: directory, inner)
    }
  }

  func reach(
    _ name: EntryName, in directory: Directory, _ path: [String]
  ) throws(WorkspaceError) {
    let stamp: FileStamp
    do { stamp = try directory.stamp(of: name) } catch {
      // Removed since its name was read.
      if error == .notFound { return }
      throw WorkspaceError(.system(error), at: path)
    }
    if choice.visits(path) {
      try visit(FoundFile(path: path, stamp: stamp, name: name, directory: directory))
    }
    guard stamp.kind == .directory, choice.entersDirectory(path) else { return }
    try enter(try placing(path) { () throws(SystemError) in try directory.directory(name) }, path)
  }
}

/// An entry found by a walk. Valid only during its visit.
package struct FoundFile {
  /// The names from the root on.
  package let path: [String]
  package let stamp: FileStamp
  fileprivate let name: EntryName
  fileprivate let directory: Directory

  /// Opens a file for reading; refused if it has become a link meanwhile.
  package func opened() throws(WorkspaceError) -> Descriptor {
    try placing(path) { () throws(SystemError) in try directory.open(name, O_RDONLY) }
  }

  /// The target of a link.
  package func target() throws(WorkspaceError) -> String {
    let bytes = try placing(path) { () throws(SystemError) in try directory.target(of: name) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw WorkspaceError(.notUTF8, at: path)
    }
    return text
  }

  /// Whether a link leads to a directory, wherever that is.
  package var leadsToDirectory: Bool {
    (try? directory.stamp(of: name, follows: true))?.kind == .directory
  }

  /// Opens the regular file that a link leads to, wherever that is; `nil` if it leads to none.
  package func openedThroughLink() -> Descriptor? {
    guard case .file = (try? directory.stamp(of: name, follows: true))?.kind else { return nil }
    return try? directory.openFollowing(name)
  }
}

/// The reason why an entry below a directory cannot be read or written.
package struct WorkspaceError: Error, Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// Directories are nested deeper than ``Directory/depthLimit``.
    case tooDeep
    /// Its name is not UTF-8 and cannot be recorded.
    case notUTF8
    /// A name on the way to it is a symbolic link.
    case behindLink
    /// It is a symbolic link to a directory whose content is not read.
    case linkedDirectory
    /// It is neither a file, nor a link, nor a directory.
    case special(String)
    /// The content to be put there is no longer available; its hash.
    case lost(String)
    /// It was written to while it was read.
    case changing
    /// The operation was stopped.
    case stopped
    case system(SystemError)
  }

  /// The path from the root on; empty for the root itself.
  package var path: String
  package var kind: Kind

  package init(_ kind: Kind, at path: [String]) {
    self.path = path.joined(separator: "/")
    self.kind = kind
  }

  /// The error, as a sentence without a full stop.
  package var message: String {
    let name = path.isEmpty ? "the start directory" : "\"\(path)\""
    return switch kind {
    case .tooDeep: "\(name) is nested deeper than the limit of \(Directory.depthLimit)"
    case .notUTF8: "a name in \(name) is not UTF-8"
    case .behindLink: "\(name) is a symbolic link to a directory, or behind one"
    case .linkedDirectory:
      "\(name) is a symbolic link to a directory, in which inputs are not found; name that directory in \"inputs\","
        + " and exclude the link with \"!\""
    case .special(let noun): "\(name) is \(noun)"
    case .lost(let hash): "the content \(hash.prefix(12)) of \(name) is lost"
    case .changing: "\(name) changed while it was read"
    case .stopped: "it was stopped"
    case .system(let error): "\(name): \(error)"
    }
  }
}

/// Makes a system call, and adds the path to its error.
package func placing<Value>(
  _ path: [String], _ call: () throws(SystemError) -> Value
) throws(WorkspaceError) -> Value {
  do { return try call() } catch { throw WorkspaceError(.system(error), at: path) }
}

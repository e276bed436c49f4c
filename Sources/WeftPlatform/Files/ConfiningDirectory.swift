#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A directory that no path leads out of.
///
/// Each name is opened in the directory that was opened before it, links are resolved by hand, and `..` returns to a
/// directory that is still open. So a process that replaces directories with links meanwhile cannot lead the walk out.
/// Nothing outside is opened or examined.
package final class ConfiningDirectory: Sendable {
  private let directory: Descriptor
  /// Absolute and without links.
  private let path: ConfinedPath

  /// - Parameter path: A path named by the user; its links may lead anywhere.
  package init(_ path: String = ".") throws(SystemError) {
    guard let names = ConfiningDirectory.resolved(path) else { throw .last }
    self.path = names
    directory = try ConfiningDirectory.entered(Array("/".utf8) + names.bytes, in: AT_FDCWD)
  }

  /// The location beneath the directory of `path`, a path named by the user of this program; `nil` if it is elsewhere
  /// or does not exist.
  package func place(of path: String) -> ConfinedPath? {
    guard let found = ConfiningDirectory.resolved(path),
      found.names.starts(with: self.path.names)
    else { return nil }
    return ConfinedPath(Array(found.names.dropFirst(self.path.names.count)))
  }

  /// Opens a regular file for reading; other kinds are refused.
  ///
  /// - Parameters:
  ///   - path: Relative; links in it are followed as long as they stay inside.
  ///   - start: The directory that it is relative to.
  package func file(
    _ path: String, from start: ConfinedPath = ConfinedPath()
  ) throws(ConfinedFileError) -> ConfinedFile {
    var walk = try ConfinedWalk(Array(path.utf8), from: start)
    var open = [directory]
    while true {
      switch try walk.next() {
      case .end: throw .notRead(.isDirectory)
      case .leave: open.removeLast()
      case .open(let name, let isLast):
        switch try ConfiningDirectory.found(
          name, in: open[open.count - 1], at: walk.position, isLast: isLast)
        {
        case .link(let target): try walk.follow(target, from: name)
        case .file(let file): return ConfinedFile(path: walk.position.appending(name), file: file)
        case .directory(let directory):
          try walk.enter(name)
          open.append(directory)
        }
      }
    }
  }

  /// The names of the entries of a directory beneath this one, in byte order; none if it cannot be read.
  package func names(in place: ConfinedPath) -> [String] {
    var directory = directory
    for name in place.names {
      guard let inner = try? ConfiningDirectory.entered(name, in: directory.number) else {
        return []
      }
      directory = inner
    }
    let listed = try? FileTree.opened(directory.number, Array(".".utf8CString), O_DIRECTORY, at: [])
    guard let listed else { return [] }
    let names = (try? FileTree.names(in: listed.number, at: [])) ?? []
    return names.map { String(decoding: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self) }
  }
}

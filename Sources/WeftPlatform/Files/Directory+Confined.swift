#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Paths that never lead out of the directory.
///
/// Each name is opened in the directory that was opened before it, links are resolved by hand, and `..` returns to a
/// directory that is still open. So a process that replaces directories with links meanwhile cannot lead the walk out.
/// Nothing outside is opened or examined.
extension Directory {
  /// Opens a regular file for reading; other kinds are refused.
  ///
  /// - Parameters:
  ///   - path: Relative; links in it are followed as long as they stay inside.
  ///   - start: The directory that it is relative to.
  package func file(
    _ path: String, from start: ConfinedPath = ConfinedPath()
  ) throws(ConfinedFileError) -> ConfinedFile {
    var walk = try ConfinedWalk(Array(path.utf8), from: start)
    var open = [self]
    while true {
      switch try walk.next() {
      case .end: throw .notRead(.isDirectory)
      case .leave: open.removeLast()
      case .open(let name, let isLast):
        switch try open[open.count - 1].found(name, at: walk.position, isLast: isLast) {
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
    var directory = self
    for name in place.names {
      guard let inner = try? directory.directory(EntryName(name), listable: false) else {
        return []
      }
      directory = inner
    }
    return ((try? directory.names()) ?? []).map(\.text)
  }

  private enum Found {
    case directory(Directory)
    case file(Descriptor)
    /// A link and its target.
    case link([UInt8])
  }

  /// Looks up a name and opens it. Its kind is checked first, because opening a FIFO or a device has effects.
  private func found(
    _ bytes: [UInt8], at place: ConfinedPath, isLast: Bool
  ) throws(ConfinedFileError) -> Found {
    let name = EntryName(bytes)
    let kind = try placing(name, place) { () throws(SystemError) in try stamp(of: name).kind }
    switch kind {
    case .link:
      return .link(
        try placing(name, place) { () throws(SystemError) in try target(of: name) })
    case .directory:
      return .directory(
        try placing(name, place) { () throws(SystemError) in
          try directory(name, listable: false)
        })
    case _ where !isLast: throw .notRead(.system(.notDirectory))
    case .file: return .file(try regularFile(name, at: place))
    case .other(let noun): throw .notRegular(noun)
    }
  }

  /// Opens a regular file. A link is refused, and so is anything else that may have replaced the file since it was
  /// checked.
  func regularFile(
    _ name: EntryName, at place: ConfinedPath
  ) throws(ConfinedFileError) -> Descriptor {
    let (file, kind) = try placing(name, place) { () throws(SystemError) in
      let file = try open(name, O_RDONLY)
      return (file, try FileStamp(of: file).kind)
    }
    guard let noun = kind.nounIfNotFile else { return file }
    throw .notRegular(noun)
  }

  private func placing<Value>(
    _ name: EntryName, _ place: ConfinedPath, _ call: () throws(SystemError) -> Value
  ) throws(ConfinedFileError) -> Value {
    do { return try call() } catch {
      guard error == .notFound else { throw .notRead(.system(error)) }
      throw .missing(name.text, in: place)
    }
  }
}

/// A path beneath a directory: the names from there on, without links and without `..`.
///
/// A name is bytes, as the system compares them: two spellings of "é" are two names.
package struct ConfinedPath: Hashable, Sendable {
  package var names: [[UInt8]]

  package init(_ names: [[UInt8]] = []) {
    self.names = names
  }

  /// The location beneath a directory of `path`, both named by the user of this program; `nil` if it is elsewhere or does
  /// not exist.
  ///
  /// - Parameter isNew: Whether it may be a file that does not exist yet, in a directory that does.
  package init?(of path: String, below directory: String, new isNew: Bool = false) {
    guard let start = try? ConfinedPath(resolving: directory),
      let found = try? ConfinedPath(resolving: path, new: isNew),
      found.names.starts(with: start.names)
    else { return nil }
    self.init(Array(found.names.dropFirst(start.names.count)))
  }

  /// - Parameter isNew: Whether a file that does not exist is found by its directory.
  private init(resolving path: String, new isNew: Bool) throws(SystemError) {
    do { try self.init(resolving: path) } catch {
      guard isNew, error == .notFound else { throw error }
      let (above, name) = Directory.split(path)
      self = try ConfinedPath(resolving: above).appending(Array(name.utf8))
    }
  }

  /// The names on the path from `/`, after all links.
  package init(resolving path: String) throws(SystemError) {
    if path.utf8.contains(0) { throw .invalid }
    guard let found = realpath(path, nil) else { throw .last }
    defer { free(found) }
    let bytes = UnsafeRawBufferPointer(start: found, count: strlen(found))
    self.init(bytes.split(separator: UInt8(ascii: "/")).map { Array($0) })
  }

  /// The place that a path names if none of its names is a link; `nil` if that is outside.
  ///
  /// - Parameter start: The directory of a relative path; an absolute one begins at the top, too.
  package init?(byText path: String, from start: ConfinedPath = ConfinedPath()) {
    let relative = Array(path.utf8.drop { $0 == UInt8(ascii: "/") })
    let isAbsolute = relative.count < path.utf8.count
    do throws(ConfinedFileError) {
      var walk = try ConfinedWalk(relative, from: isAbsolute ? ConfinedPath() : start)
      while case let move = try walk.next(), move != .end {
        if case .open(let name, _) = move { try walk.enter(name) }
      }
      self = walk.position
    } catch {
      return nil
    }
  }

  /// The enclosing directory; for the directory itself, the same path.
  package var parent: ConfinedPath { ConfinedPath(names.dropLast()) }

  package func appending(_ name: [UInt8]) -> ConfinedPath { ConfinedPath(names + [name]) }

  /// The path as the system takes it; `.` is the directory itself.
  var bytes: [UInt8] {
    names.isEmpty ? [UInt8(ascii: ".")] : Array(names.joined(separator: [UInt8(ascii: "/")]))
  }

  /// The path as text, with U+FFFD in place of invalid UTF-8.
  package var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// A regular file beneath a directory, open for reading.
package struct ConfinedFile: Sendable {
  /// The file's location, after all links.
  package let path: ConfinedPath
  private let file: Descriptor

  init(path: ConfinedPath, file: Descriptor) {
    self.path = path
    self.file = file
  }

  /// All of its bytes. May be called once.
  ///
  /// - Throws: ``FileReadError/tooLarge(limit:)`` for a file that has more than `limit` bytes, before any of it is read,
  ///   and for one that exceeds the limit by growing meanwhile.
  package func bytes(limit: Int) throws(FileReadError) -> [UInt8] {
    try file.bytes(limit: limit)
  }
}

/// The reason why a file beneath a directory was not opened.
package enum ConfinedFileError: Error, Hashable, Sendable {
  /// The path leads out of the directory, through `link` if there was one; nothing outside was accessed.
  case outside(link: ConfinedPath?)
  /// That directory has no entry of that name.
  case missing(String, in: ConfinedPath)
  /// Too many links lead to further links, perhaps in a cycle.
  case tooManyLinks
  /// The file is not regular; its kind.
  case notRegular(String)
  case notRead(FileReadError)
}

/// Decides how a path continues from one directory to the next, and that it stays inside.
///
/// The caller looks up each name and reports its kind: a directory by ``enter(_:)``, a link by ``follow(_:from:)``.
/// Links are followed as by the system, except that absolute links count as leading out.
struct ConfinedWalk {
  enum Move: Hashable {
    /// Open the entry of that name in the current directory; nothing follows the last one.
    case open([UInt8], isLast: Bool)
    /// Return to the parent directory.
    case leave
    /// The path ends at the current directory.
    case end
  }

  /// The limit of Linux (`path_resolution(7)`).
  static let linkLimit = 40

  /// The current directory.
  private(set) var position = ConfinedPath()
  /// The names still to come, in reverse order.
  private var ahead: [[UInt8]]
  private var linkCount = 0
  private var lastLink: ConfinedPath?

  /// - Parameter directory: The start of a relative path, found earlier; the walk passes through it again.
  init(_ path: [UInt8], from directory: ConfinedPath = ConfinedPath()) throws(ConfinedFileError) {
    ahead = Array((directory.names + ConfinedWalk.names(of: path)).reversed())
    if path.first == UInt8(ascii: "/") { throw .outside(link: nil) }
    if path.contains(0) { throw .notRead(.nulInPath) }
  }

  mutating func next() throws(ConfinedFileError) -> Move {
    while let name = ahead.popLast() {
      switch name {
      // `x/` and `x/.` are `x` if that is a directory.
      case [], [UInt8(ascii: ".")]: continue
      case [UInt8(ascii: "."), UInt8(ascii: ".")]:
        guard position.names.popLast() != nil else { throw .outside(link: lastLink) }
        return .leave
      default: return .open(name, isLast: ahead.isEmpty)
      }
    }
    return .end
  }

  /// Reports that the last name is a directory, which is now open.
  mutating func enter(_ name: [UInt8]) throws(ConfinedFileError) {
    guard position.names.count < Directory.depthLimit else { throw .notRead(.system(.nameTooLong)) }
    position.names.append(name)
  }

  /// Reports that the last name is a link to `target`.
  mutating func follow(_ target: [UInt8], from name: [UInt8]) throws(ConfinedFileError) {
    linkCount += 1
    guard linkCount <= ConfinedWalk.linkLimit else { throw .tooManyLinks }
    lastLink = position.appending(name)
    if target.first == UInt8(ascii: "/") { throw .outside(link: lastLink) }
    ahead += ConfinedWalk.names(of: target).reversed()
  }

  private static func names(of path: [UInt8]) -> [[UInt8]] {
    path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Array.init)
  }
}

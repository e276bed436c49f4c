/// A directory of this user's own whose files come and go whole.
///
/// Several processes may use one at the same time: whoever opens a file reads all of what one of them has
/// written, whatever the others do meanwhile. What is written is not made to survive a loss of power.
///
/// Files are named `file` or `part/file`; parts are made when the first file comes.
package final class PrivateFolder: Sendable {
  let root: PrivateDirectory

  /// Opens it, or makes it with what is missing above it.
  package init(_ name: String, in path: String) throws(UnsafePlace) {
    // The system would make what the part before the NUL names.
    if path.utf8.contains(0) { throw .system(path, .invalid) }
    do { try FileSystem.makeDirectories(path, mode: 0o700) } catch { throw .system(path, error) }
    root = try PrivateDirectory.at(path + "/" + name, makes: true)
  }

  /// The files of a directory that is open.
  package init(_ root: PrivateDirectory) { self.root = root }

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

  /// The files that a part holds, in order; none where there is no such part.
  package func names(in part: String) -> [String] {
    all(in: part).filter { !Self.isUnfinished($0) }.map { part + "/" + $0 }
  }

  /// The same with what is known of them.
  package func entries(in part: String) -> [Entry] {
    entries(in: part) { !Self.isUnfinished($0) }
  }

  /// The bytes of a file; nil where there is none, or it is longer than the limit.
  package func read(_ name: String, limit: Int) -> [UInt8]? {
    guard let (directory, file) = try? place(of: name, makes: false) else { return nil }
    return try? directory.bytes(of: file, limit: limit)
  }

  /// Marks a file as used now.
  package func touch(_ name: String) {
    if let (directory, file) = try? place(of: name, makes: false) { directory.touch(file) }
  }

  /// Removes a file, if it is there and can be.
  package func remove(_ name: String) {
    if let (directory, file) = try? place(of: name, makes: false) { try? directory.remove(file) }
  }

  /// Makes a file of these bytes, in the place of one of that name.
  package func replace(_ name: String, with bytes: [UInt8]) throws(UnsafePlace) {
    let (directory, file) = try place(of: name, makes: true)
    let temporary = try write(bytes, in: directory)
    do throws(UnsafePlace) { try directory.rename(temporary, to: file) } catch {
      try? directory.remove(temporary)
      throw error
    }
  }

  /// Makes a file of these bytes, unless there is one of that name.
  package func create(_ name: String, with bytes: [UInt8]) throws(UnsafePlace) {
    let (directory, file) = try place(of: name, makes: true)
    let temporary = try write(bytes, in: directory)
    defer { try? directory.remove(temporary) }
    do throws(UnsafePlace) { try directory.link(temporary, as: file) } catch {
      if error.error != .alreadyExists { throw error }
    }
  }

  /// Removes what processes have left in a part that ended before a file was whole.
  ///
  /// - Parameter time: Seconds since 1970; younger ones may be somebody's work.
  package func removeUnfinished(in part: String, before time: Int64) {
    for entry in entries(in: part, where: Self.isUnfinished) where entry.lastUse < time {
      remove(entry.name)
    }
  }
}

extension PrivateFolder {
  private static let unfinished = ".unfinished-"

  static func isUnfinished(_ file: String) -> Bool { file.hasPrefix(unfinished) }

  /// Under a name that nobody else has.
  private func write(
    _ bytes: [UInt8], in directory: PrivateDirectory
  ) throws(UnsafePlace) -> String {
    let name = try unfinishedName()
    do throws(UnsafePlace) {
      try directory.write(bytes, to: name, surviving: false)
      return name
    } catch {
      try? directory.remove(name)
      throw error
    }
  }

  func unfinishedName() throws(UnsafePlace) -> String {
    do {
      return try Self.unfinished + Entropy.bytes(12).map { String($0, radix: 36) }.joined()
    } catch {
      throw .system(root.path, error)
    }
  }

  func place(
    of name: String, makes: Bool
  ) throws(UnsafePlace) -> (directory: PrivateDirectory, file: String) {
    guard let slash = name.firstIndex(of: "/") else { return (root, name) }
    return (
      try root.directory(String(name[..<slash]), makes: makes),
      String(name[name.index(after: slash)...])
    )
  }

  private func all(in part: String) -> [String] {
    (try? root.directory(part, makes: false))?.names() ?? []
  }

  private func entries(in part: String, where isMeant: (String) -> Bool) -> [Entry] {
    guard let directory = try? root.directory(part, makes: false) else { return [] }
    return directory.names().filter(isMeant).compactMap { file in
      directory.sizeAndTime(of: file).map {
        Entry(name: part + "/" + file, size: $0.size, lastUse: $0.changed)
      }
    }
  }
}

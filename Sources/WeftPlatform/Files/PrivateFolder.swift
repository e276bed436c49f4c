package import WeftEncoding

/// A directory that belongs to this user, in which files appear and disappear as a whole.
///
/// Several processes may use it at the same time: an opened file has all the content that one of them has written,
/// whatever the others do meanwhile. Its files survive a power loss only where that is asked for.
///
/// Files are named `file` or `part/file`; a part is created with its first file.
package final class PrivateFolder: Sendable {
  private let root: PrivateDirectory

  /// Opens the folder, or creates it together with missing parents.
  package init(_ name: String, in path: String) throws(UnsafePathError) {
    // The system would create the path before the NUL.
    if path.utf8.contains(0) { throw .system(path, .invalid) }
    do { try FileSystem.makeDirectories(path, mode: 0o700) } catch { throw .system(path, error) }
    root = try PrivateDirectory.at(path + "/" + name, makes: true)
  }

  /// Uses a directory that is open.
  package init(_ root: PrivateDirectory) { self.root = root }

  /// The properties of a file that are known without reading it.
  package struct Entry: Sendable, Hashable {
    package var name: String
    package var size: Int
    /// The second since 1970 in which it was written or last marked as used.
    package var lastUse: Int64

    package init(name: String, size: Int, lastUse: Int64) {
      self.name = name
      self.size = size
      self.lastUse = lastUse
    }
  }

  /// The files in a part, sorted; none if there is no such part.
  package func names(in part: String) -> [String] {
    let names = (try? root.directory(part, makes: false))?.names() ?? []
    return names.filter { !Self.isUnfinished($0) }.map { part + "/" + $0 }
  }

  /// The files in a part with their properties.
  package func entries(in part: String) -> [Entry] {
    entries(in: part) { !Self.isUnfinished($0) }
  }

  /// The bytes of a file; `nil` if there is none, or it is longer than the limit.
  package func read(_ name: String, limit: Int) -> [UInt8]? {
    guard let (directory, file) = try? place(of: name, makes: false) else { return nil }
    return try? directory.bytes(of: file, limit: limit)
  }

  /// The bytes of a file, which is marked as used now unless it was marked at or after a time; `nil` as for
  /// ``read(_:limit:)``.
  ///
  /// - Parameter time: Seconds since 1970.
  package func use(
    _ name: String, limit: Int, markedBefore time: Int64
  ) -> (bytes: [UInt8], isMarkedNow: Bool)? {
    guard let (directory, name) = try? place(of: name, makes: false),
      let file = try? directory.file(name, .reading), let bytes = try? file.bytes(limit: limit)
    else { return nil }
    if let stamp = try? FileStamp(of: file), stamp.modifiedSecond >= time { return (bytes, false) }
    directory.touch(name)
    return (bytes, true)
  }

  /// Marks a file as used now.
  package func touch(_ name: String) {
    if let (directory, file) = try? place(of: name, makes: false) { directory.touch(file) }
  }

  /// Removes a file, if it exists and can be removed.
  package func remove(_ name: String) {
    if let (directory, file) = try? place(of: name, makes: false) { try? directory.remove(file) }
  }

  /// Creates a file with these bytes, replacing an existing one.
  ///
  /// - Parameter power: Whether the new file survives a power loss.
  package func replace(
    _ name: String, with bytes: [UInt8], surviving power: Bool = false
  ) throws(UnsafePathError) {
    let (directory, file) = try place(of: name, makes: true)
    let temporary = try write(bytes, in: directory, surviving: power)
    do throws(UnsafePathError) { try directory.rename(temporary, to: file) } catch {
      try? directory.remove(temporary)
      throw error
    }
  }

  /// Creates a file with these bytes, unless it exists.
  package func create(_ name: String, with bytes: [UInt8]) throws(UnsafePathError) {
    let (directory, file) = try place(of: name, makes: true)
    let temporary = try write(bytes, in: directory)
    defer { try? directory.remove(temporary) }
    do throws(UnsafePathError) { try directory.link(temporary, as: file) } catch {
      if error.error != .alreadyExists { throw error }
    }
  }

  /// Removes files in a part that were left unfinished by processes that have ended.
  ///
  /// - Parameter time: Seconds since 1970; younger files may still be in progress.
  package func removeUnfinished(in part: String, before time: Int64) {
    for entry in entries(in: part, where: Self.isUnfinished) where entry.lastUse < time {
      remove(entry.name)
    }
  }
}

extension PrivateFolder {
  private static let unfinished = ".unfinished-"

  private static func isUnfinished(_ file: String) -> Bool { file.hasPrefix(unfinished) }

  /// Writes the bytes under a unique temporary name.
  private func write(
    _ bytes: [UInt8], in directory: PrivateDirectory, surviving power: Bool = false
  ) throws(UnsafePathError) -> String {
    let name = try unfinishedName()
    do throws(UnsafePathError) {
      try directory.write(bytes, to: name, surviving: power)
      return name
    } catch {
      try? directory.remove(name)
      throw error
    }
  }

  private func unfinishedName() throws(UnsafePathError) -> String {
    do {
      return try Self.unfinished + Entropy.bytes(12).map { String($0, radix: 36) }.joined()
    } catch {
      throw .system(root.path, error)
    }
  }

  private func place(
    of name: String, makes: Bool
  ) throws(UnsafePathError) -> (directory: PrivateDirectory, file: String) {
    guard let slash = name.firstIndex(of: "/") else { return (root, name) }
    return (
      try root.directory(String(name[..<slash]), makes: makes),
      String(name[name.index(after: slash)...])
    )
  }

  private func entries(in part: String, where isMeant: (String) -> Bool) -> [Entry] {
    guard let directory = try? root.directory(part, makes: false) else { return [] }
    return directory.names().filter(isMeant).compactMap { file in
      directory.stamp(ofFile: file).map {
        Entry(name: part + "/" + file, size: Int($0.size), lastUse: $0.modifiedSecond)
      }
    }
  }
}

/// Operations on files that are too large for memory.
extension PrivateFolder {
  /// Opens a file for reading; `nil` if there is none.
  package func open(_ name: String) -> Descriptor? {
    guard let (directory, file) = try? place(of: name, makes: false) else { return nil }
    return try? directory.file(file, .reading)
  }

  package func has(_ name: String) -> Bool {
    guard let (directory, file) = try? place(of: name, makes: false) else { return false }
    return directory.has(file)
  }

  /// Copies a file into the folder, under a name derived from its content.
  ///
  /// - Returns: The hash of the content; `nil` if it was stopped, in which case nothing is kept.
  package func keep(
    _ source: Descriptor, stop: StopSwitch, named name: (SHA256.Digest) -> String
  ) throws(UnsafePathError) -> SHA256.Digest? {
    let temporary = try unfinishedName()
    let copy = try root.file(temporary, .making)
    let digest: SHA256.Digest?
    do throws(SystemError) {
      digest = try source.digest(stop: stop) { (piece) throws(SystemError) in
        try root.calls.writeAll(copy, piece)
      }
    } catch {
      try? root.remove(temporary)
      throw .system(root.path, error)
    }
    guard let digest else {
      try? root.remove(temporary)
      return nil
    }
    do throws(UnsafePathError) {
      let (directory, file) = try place(of: name(digest), makes: true)
      try root.rename(temporary, to: file, in: directory)
      return digest
    } catch {
      try? root.remove(temporary)
      throw error
    }
  }

  /// Removes copies that were left unfinished by processes that have ended.
  ///
  /// - Parameter time: Seconds since 1970; younger copies may still be in progress.
  package func removeUnfinishedCopies(before time: Int64) {
    for name in root.names() where PrivateFolder.isUnfinished(name) {
      if let stamp = root.stamp(ofFile: name), stamp.modifiedSecond < time {
        try? root.remove(name)
      }
    }
  }
}

extension PrivateFolder {
  /// Random bytes that are shared by all processes that use the folder, and secret otherwise. If several find none, all
  /// use those that were created first.
  package func secret(_ name: String, count: Int) throws(UnsafePathError) -> [UInt8] {
    for _ in 1...3 {
      if let bytes = read(name, limit: 1024) {
        if bytes.count == count { return bytes }
        // It is damaged, and everything derived from it is lost.
        remove(name)
      }
      try create(name, with: PrivateFolder.randomBytes(count))
    }
    throw .kind(name, found: "damaged repeatedly")
  }

  private static func randomBytes(_ count: Int) throws(UnsafePathError) -> [UInt8] {
    do { return try Entropy.bytes(count) } catch { throw .system("random bytes", error) }
  }
}

/// Decides when to search a folder for entries to remove, and which entries those are.
package struct FolderBudget: Sendable {
  private let limit: Int
  /// The bytes that this process has written since its last search; `nil` before the first one.
  private var written: Int?

  package init(limit: Int) { self.limit = limit }

  /// Whether to search now. Other processes may write too, so this is due well before this process alone has filled the
  /// folder: with few of them, the limit is hardly exceeded.
  package mutating func isDue(writing size: Int) -> Bool {
    guard let before = written, before + size <= limit / 8 else {
      written = size
      return true
    }
    written = before + size
    return false
  }

  /// The least recently used entries, whose removal makes room for an eighth of the limit, or for as much as is about
  /// to be written.
  package func excess(
    _ entries: [PrivateFolder.Entry], writing bytes: Int = 0
  ) -> [String] {
    let most = limit - max(limit / 8, bytes)
    var size = entries.reduce(0) { $0 + $1.size }
    var names: [String] = []
    for entry in entries.sorted(by: { $0.lastUse < $1.lastUse }) where size > most {
      names.append(entry.name)
      size -= entry.size
    }
    return names
  }
}

import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The entries of a directory that belongs to this user.
extension PrivateDirectory {
  package enum Opening: Sendable {
    /// For reading.
    case reading
    /// For appending and reading.
    case appending
    /// For appending and reading; the file must not exist.
    case making
    /// For appending and reading; the file may exist.
    case makingOrAppending

    fileprivate var flags: Int32 {
      switch self {
      case .reading: O_RDONLY
      case .appending: O_RDWR | O_APPEND
      case .making: O_RDWR | O_APPEND | O_CREAT | O_EXCL
      case .makingOrAppending: O_RDWR | O_APPEND | O_CREAT
      }
    }

    fileprivate var makes: Bool {
      switch self {
      case .making, .makingOrAppending: true
      case .reading, .appending: false
      }
    }
  }

  /// Opens a regular file that belongs to this user, created with mode 0600; a link is refused.
  package func file(_ name: String, _ opening: Opening) throws(UnsafePlaceError) -> Descriptor {
    let place = "\(path)/\(name)"
    let file: Descriptor
    do {
      file = try calls.open(name, in: directory.number, opening.flags, mode: 0o600)
    } catch {
      if PrivateDirectory.isLink(name, in: directory.number) { throw .link(place) }
      throw .system(place, error)
    }
    var status = stat()
    guard fstat(file.number, &status) == 0 else { throw .system(place, .last) }
    let kind = status.st_mode & S_IFMT
    guard kind == S_IFREG else { throw .kind(place, found: RegularFileError.noun(of: kind)) }
    guard status.st_uid == geteuid() else { throw .foreign(place, owner: status.st_uid) }
    if opening.makes, status.st_size == 0 { fchmod(file.number, 0o600) }
    return file
  }

  /// Creates a file with these bytes.
  package func write(
    _ bytes: [UInt8], to name: String, surviving power: Bool
  ) throws(UnsafePlaceError) {
    let file = try file(name, .making)
    do throws(SystemError) {
      try calls.writeAll(file, bytes)
      if power { try calls.synchronizeData(file) }
    } catch {
      throw .system("\(path)/\(name)", error)
    }
  }

  /// The content of a file.
  package func bytes(of name: String, limit: Int) throws(UnsafePlaceError) -> [UInt8] {
    let file = try file(name, .reading)
    do {
      return try FileReader(file: file.number, limit: limit, patience: nil).all()
    } catch {
      throw .system("\(path)/\(name)", error.error ?? .fileTooBig)
    }
  }

  package func rename(_ name: String, to other: String) throws(UnsafePlaceError) {
    do { try calls.rename(name, to: other, in: directory) } catch {
      throw .system("\(path)/\(other)", error)
    }
  }

  /// Moves a file to a different directory of the same file system.
  func rename(
    _ name: String, to other: String, in target: PrivateDirectory
  ) throws(UnsafePlaceError) {
    do { try calls.rename(name, in: directory, to: other, in: target.directory) } catch {
      throw .system("\(target.path)/\(other)", error)
    }
  }

  /// Makes the names in it survive a power loss.
  package func synchronize() throws(UnsafePlaceError) {
    do { try calls.synchronize(directory) } catch { throw .system(path, error) }
  }

  /// Removes a file; a missing one is no error.
  package func remove(_ name: String) throws(UnsafePlaceError) {
    do { try calls.remove(name, in: directory) } catch {
      if error != .notFound { throw .system("\(path)/\(name)", error) }
    }
  }

  /// The names of its entries, sorted, without those that are not UTF-8.
  package func names() -> [String] {
    let listed =
      (try? FileTree.opened(directory.number, Array(".".utf8CString), O_DIRECTORY, at: []))
    guard let listed, let names = try? FileTree.names(in: listed.number, at: []) else { return [] }
    return names.compactMap {
      String(validating: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
  }

  package func has(_ name: String) -> Bool {
    var status = stat()
    return fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// The number of bytes that this user can still write to its disk.
  package var freeBytes: Int? {
    let count = weft_free_bytes(directory.number)
    return count < 0 ? nil : Int(count)
  }

  /// The total number of bytes in regular files below a directory in it, at any depth; no link is followed.
  package func byteCount(of name: String) -> Int {
    FileTree.byteCount(of: name, in: directory.number)
  }

  /// Removes a directory in it with all entries.
  package func removeDirectory(_ name: String) { FileTree.remove(name, in: directory.number) }
}

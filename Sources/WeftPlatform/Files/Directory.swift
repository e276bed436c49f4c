import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An open directory, whose entries are reached through its descriptor.
///
/// Replacing names above it redirects nothing, and no symbolic link in it is followed, except where a method says so.
/// Policies are built on it: `Directory+Confined` (paths that follow links and stay inside), `Directory+Tree` (paths
/// without any link, and walks), and ``PrivateDirectory`` (entries that belong to this user).
package struct Directory: Sendable {
  /// The maximum depth of nested directories in a walk; each one keeps a descriptor open.
  package static let depthLimit = 200

  let descriptor: Descriptor
  let calls: FileCalls

  /// - Parameters:
  ///   - path: A path named by the user; its links may lead anywhere.
  ///   - listable: Whether its names are to be read; otherwise search permission is enough.
  package init(
    _ path: String, listable: Bool = true, calls: FileCalls = .system
  ) throws(SystemError) {
    if path.utf8.contains(0) { throw .invalid }
    let number =
      listable
      ? try retrying { openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
      : try checked(weft_enter_following(path))
    self.init(Descriptor(owning: number), calls)
  }

  private init(_ descriptor: Descriptor, _ calls: FileCalls) {
    self.descriptor = descriptor
    self.calls = calls
  }

  private var number: Int32 { descriptor.number }

  // MARK: Entries

  /// Opens a directory in it; a link is refused.
  ///
  /// - Parameter listable: Whether its names are to be read; otherwise search permission is enough.
  func directory(_ name: EntryName, listable: Bool = true) throws(SystemError) -> Directory {
    if listable { return Directory(try open(name, O_RDONLY | O_DIRECTORY), calls) }
    let name = try name.checked()
    return Directory(Descriptor(owning: try checked(weft_enter(number, name))), calls)
  }

  /// Opens an entry, without waiting for a FIFO or a device; a link is refused.
  func open(_ name: EntryName, _ flags: Int32, mode: mode_t = 0) throws(SystemError) -> Descriptor {
    try calls.refuse(.open)
    let name = try name.checked()
    let flags = flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
    return Descriptor(owning: try retrying { openat(number, name, flags, mode) })
  }

  /// Opens the file that an entry is or leads to.
  func openFollowing(_ name: EntryName) throws(SystemError) -> Descriptor {
    let name = try name.checked()
    let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
    return Descriptor(owning: try retrying { openat(number, name, flags) })
  }

  /// The properties of an entry; links are not followed by default.
  func stamp(of name: EntryName, follows: Bool = false) throws(SystemError) -> FileStamp {
    var status = stat()
    let name = try name.checked()
    _ = try retrying { fstatat(number, name, &status, follows ? 0 : AT_SYMLINK_NOFOLLOW) }
    return FileStamp(status)
  }

  /// The properties of the directory itself.
  func stamp() throws(SystemError) -> FileStamp { try FileStamp(of: descriptor) }

  func isLink(_ name: EntryName) -> Bool { (try? stamp(of: name))?.kind == .link }

  /// The target of a link.
  func target(of name: EntryName) throws(SystemError) -> [UInt8] {
    let name = try name.checked()
    let room = Int(PATH_MAX)
    let target = try [UInt8].filled(room) { (buffer) throws(SystemError) in
      try buffer.withMemoryRebound(to: CChar.self) { (buffer) throws(SystemError) in
        try retrying { readlinkat(number, name, buffer.baseAddress!, room) }
      }
    }
    guard target.count < room else { throw .nameTooLong }
    return target
  }

  /// The names of the entries, without `.` and `..`, in byte order.
  func names() throws(SystemError) -> [EntryName] {
    // Opened again: a shared open directory continues where its last reader has stopped.
    let copy = try retrying { openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard let stream = fdopendir(copy) else {
      let error = SystemError.last
      close(copy)
      throw error
    }
    defer { closedir(stream) }
    var names: [EntryName] = []
    while true {
      // Everything else may set it, too: an allocation that found memory elsewhere, and closing the stream.
      errno = 0
      let found = readdir(stream)
      let error = SystemError.last
      guard let entry = found else {
        guard error == SystemError(number: 0) else { throw error }
        return names.sorted()
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 1) { EntryName(terminated: $0) }
      }
      if !name.isDots { names.append(name) }
    }
  }

  // MARK: Changes

  func makeDirectory(_ name: EntryName, mode: mode_t) throws(SystemError) {
    try calls.refuse(.makeDirectory)
    let name = try name.checked()
    _ = try retrying { mkdirat(number, name, mode) }
  }

  /// Sets the permissions of an entry that is no link, if they can be set.
  func setPermissions(of name: EntryName, _ mode: mode_t) {
    guard let name = try? name.checked() else { return }
    fchmodat(number, name, mode, 0)
  }

  func makeLink(_ name: EntryName, to target: String) throws(SystemError) {
    let name = try name.checked()
    _ = try retrying { symlinkat(target, number, name) }
  }

  /// Gives a file an additional name, which must not exist.
  func link(_ name: EntryName, as other: EntryName) throws(SystemError) {
    let (name, other) = (try name.checked(), try other.checked())
    _ = try retrying { linkat(number, name, number, other, 0) }
  }

  /// Moves an entry into a directory of the same file system.
  func rename(
    _ name: EntryName, to other: EntryName, in target: Directory
  ) throws(SystemError) {
    try calls.refuse(.rename)
    let (name, other) = (try name.checked(), try other.checked())
    _ = try retrying { renameat(number, name, target.number, other) }
  }

  func remove(_ name: EntryName, isDirectory: Bool = false) throws(SystemError) {
    try calls.refuse(.remove)
    let name = try name.checked()
    _ = try retrying { unlinkat(number, name, isDirectory ? AT_REMOVEDIR : 0) }
  }

  /// Sets the timestamps of an entry to now.
  func touch(_ name: EntryName) {
    utimensat(number, name.characters, nil, AT_SYMLINK_NOFOLLOW)
  }

  /// Makes the names in it survive a power loss.
  func synchronize() throws(SystemError) { try calls.synchronize(descriptor) }

  /// The number of bytes that this user can still write to its disk.
  var freeBytes: Int? {
    let count = weft_free_bytes(number)
    return count < 0 ? nil : Int(count)
  }

  // MARK: Trees

  /// Makes all calls, also where a test lets some fail.
  private var unhindered: Directory { Directory(descriptor, .system) }

  /// The total number of bytes in the regular files below an entry, or of that file; files that cannot be examined
  /// count as empty.
  func byteCount(of name: EntryName, depth: Int = 0) -> Int {
    guard let stamp = try? stamp(of: name) else { return 0 }
    switch stamp.kind {
    case .file: return Int(stamp.size)
    case .directory:
      guard depth < Directory.depthLimit, let inner = try? unhindered.directory(name) else {
        return 0
      }
      let names = (try? inner.names()) ?? []
      return names.reduce(0) { $0 + inner.byteCount(of: $1, depth: depth + 1) }
    case .link, .other: return 0
    }
  }

  /// Removes a directory with everything that other processes have put into it.
  ///
  /// Links are removed and never followed. Entries that cannot be removed are left, without an error.
  func removeTree(_ name: EntryName, depth: Int = 1) {
    if let inner = try? unhindered.directory(name) {
      for name in (try? inner.names()) ?? [] where !inner.unlink(name) {
        if depth < Directory.depthLimit { inner.removeTree(name, depth: depth + 1) }
      }
    }
    unlinkat(number, name.characters, AT_REMOVEDIR)
  }

  /// Removes an entry of any kind, as ``removeTree(_:depth:)`` does.
  func removeAny(_ name: EntryName) {
    if !unlink(name) { removeTree(name) }
  }

  private func unlink(_ name: EntryName) -> Bool { unlinkat(number, name.characters, 0) == 0 }

  /// Removes the directory at a path with everything in it, as ``removeTree(_:depth:)`` does.
  package static func removeTree(_ path: String) {
    guard let (parent, name) = try? parent(of: path) else { return }
    parent.removeTree(name)
  }

  /// The directory that contains the entry at a path, and its name there.
  static func parent(of path: String) throws(SystemError) -> (Directory, EntryName) {
    let (above, name) = split(path)
    return (try Directory(above, listable: false), EntryName(name))
  }

  /// The parent path and the last component.
  static func split(_ path: String) -> (above: String, name: String) {
    let bytes = Array(path.utf8)
    let trimmed = bytes.prefix((bytes.lastIndex { $0 != UInt8(ascii: "/") } ?? 0) + 1)
    guard let slash = trimmed.lastIndex(of: UInt8(ascii: "/")) else {
      return (".", String(decoding: trimmed, as: UTF8.self))
    }
    let name = String(decoding: trimmed[(slash + 1)...], as: UTF8.self)
    return (slash == 0 ? "/" : String(decoding: trimmed[..<slash], as: UTF8.self), name)
  }
}

/// The name of an entry: bytes, as the system compares them. Two spellings of "é" are two names.
struct EntryName: Hashable, Sendable, Comparable {
  /// The bytes with a terminating zero.
  fileprivate let characters: [CChar]

  init(_ name: String) { characters = Array(name.utf8CString) }

  init(_ name: [UInt8]) { characters = name.map(CChar.init(bitPattern:)) + [0] }

  fileprivate init(terminated name: UnsafePointer<CChar>) {
    characters = Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1))
  }

  var bytes: [UInt8] { characters.dropLast().map(UInt8.init(bitPattern:)) }

  /// The name with U+FFFD in place of invalid UTF-8.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// `nil` if the name is not UTF-8.
  var validText: String? { String(validating: bytes, as: UTF8.self) }

  fileprivate var isDots: Bool {
    [".", ".."].contains { $0.utf8CString.elementsEqual(characters) }
  }

  /// Whether an entry can have this name.
  var canExist: Bool { characters.count <= Int(NAME_MAX) + 1 && !characters.dropLast().contains(0) }

  /// The characters, unless the system would take only those before a NUL.
  fileprivate func checked() throws(SystemError) -> [CChar] {
    if characters.dropLast().contains(0) { throw .invalid }
    return characters
  }

  static func < (one: EntryName, other: EntryName) -> Bool {
    one.characters.lexicographicallyPrecedes(other.characters) {
      UInt8(bitPattern: $0) < UInt8(bitPattern: $1)
    }
  }
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads the regular files below a directory.
///
/// Directories are read in the byte order of their names, so that the order of files depends only on names. No symbolic
/// link is followed or opened. Each directory is opened through the one before it (`openat`), so that none can be
/// replaced on the way. Names that are not UTF-8 are reported with U+FFFD.
package struct FileTree {
  /// The maximum depth of nested directories; each one keeps a descriptor open.
  package static let depthLimit = 200

  /// The files to read. Paths are the names from the root on.
  package struct Choice {
    package var entersDirectory: ([String]) -> Bool
    package var readsFile: ([String]) -> Bool

    package init(
      entersDirectory: @escaping ([String]) -> Bool, readsFile: @escaping ([String]) -> Bool
    ) {
      self.entersDirectory = entersDirectory
      self.readsFile = readsFile
    }
  }

  package struct Fault: Error, Sendable, Hashable {
    /// The path from the root on; empty for the root itself.
    package var path: String
    package var kind: Kind

    package enum Kind: Sendable, Hashable {
      case tooDeep
      case system(SystemError)
    }
  }

  private let choice: Choice
  /// Called with each piece of a file as it is read, then with `nil` at its end.
  private let take: (UnsafeRawBufferPointer?) -> Void

  /// Reads all chosen files in sequence.
  package static func read(
    below root: String, _ choice: Choice, take: (UnsafeRawBufferPointer?) -> Void
  ) throws(Fault) {
    try withoutActuallyEscaping(take) { take throws(Fault) in
      let directory = try opened(AT_FDCWD, Array(root.utf8CString), O_DIRECTORY, at: [])
      try FileTree(choice: choice, take: take).visit(directory, [])
    }
  }

  private func visit(_ directory: consuming OwnedDescriptor, _ path: [String]) throws(Fault) {
    guard path.count <= FileTree.depthLimit else {
      throw Fault(path: path.joined(separator: "/"), kind: .tooDeep)
    }
    for name in try FileTree.names(in: directory.number, at: path) {
      let path =
        path + [String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)]
      switch try FileTree.kind(of: name, in: directory.number, at: path) {
      case S_IFDIR where choice.entersDirectory(path):
        try visit(FileTree.opened(directory.number, name, O_DIRECTORY | O_NOFOLLOW, at: path), path)
      case S_IFREG where choice.readsFile(path):
        try read(FileTree.opened(directory.number, name, O_NOFOLLOW | O_NONBLOCK, at: path), path)
      default: continue
      }
    }
  }

  private func read(_ file: consuming OwnedDescriptor, _ path: [String]) throws(Fault) {
    let number = file.number
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = try FileTree.placing(path) { () throws(SystemError) in
        try retrying { readPiece(number, into: buffer) }
      }
      guard count > 0 else { break }
      take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    take(nil)
  }
}

/// System calls that add the path to their errors.
extension FileTree {
  private static func placing<Value>(
    _ path: [String], _ call: () throws(SystemError) -> Value
  ) throws(Fault) -> Value {
    do { return try call() } catch {
      throw Fault(path: path.joined(separator: "/"), kind: .system(error))
    }
  }

  static func opened(
    _ directory: Int32, _ name: [CChar], _ flags: Int32, at path: [String]
  ) throws(Fault) -> OwnedDescriptor {
    OwnedDescriptor(
      try placing(path) { () throws(SystemError) in
        try retrying { openat(directory, name, O_RDONLY | O_CLOEXEC | flags) }
      })
  }

  /// The file type, as the bits of `S_IFMT`.
  fileprivate static func kind(
    of name: [CChar], in directory: Int32, at path: [String]
  ) throws(Fault) -> mode_t {
    var status = stat()
    _ = try placing(path) { () throws(SystemError) in
      try retrying { fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) }
    }
    return status.st_mode & S_IFMT
  }

  /// The names of the entries, without `.` and `..`, each with its terminating zero, in byte order.
  static func names(in directory: Int32, at path: [String]) throws(Fault) -> [[CChar]] {
    let copy = try placing(path) { () throws(SystemError) in
      try retrying { fcntl(directory, F_DUPFD_CLOEXEC, 0) }
    }
    guard let stream = fdopendir(copy) else {
      close(copy)
      throw Fault(path: path.joined(separator: "/"), kind: .system(.last))
    }
    defer { closedir(stream) }
    var names: [[CChar]] = []
    errno = 0
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 1) {
          Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1))
        }
      }
      if ![".", ".."].contains(where: { $0.utf8CString.elementsEqual(name) }) {
        names.append(name)
      }
    }
    // Read before the stream is closed, which may set it again.
    let error = SystemError.last
    guard error == SystemError(number: 0) else {
      throw Fault(path: path.joined(separator: "/"), kind: .system(error))
    }
    return names.sorted {
      $0.lexicographicallyPrecedes($1) { UInt8(bitPattern: $0) < UInt8(bitPattern: $1) }
    }
  }
}

private func readPiece(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(file, buffer.baseAddress, buffer.count)
}

import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Operations on directories, and the location of this program.
package enum FileSystem {
  /// Creates `path` and its missing parents, with `mode` less the umask. It may already exist if it is a directory.
  package static func makeDirectories(_ path: String, mode: UInt32 = 0o777) throws(SystemError) {
    do { try makeDirectory(path, mode: mode) } catch {
      switch error {
      case .alreadyExists where isDirectory(path): return
      case .notFound:
        guard let parent = parent(of: path) else { throw error }
        try makeDirectories(parent, mode: mode)
        do { try makeDirectory(path, mode: mode) } catch {
          // A different process created it first.
          guard error == .alreadyExists, isDirectory(path) else { throw error }
        }
      default: throw error
      }
    }
  }

  /// Creates one directory, which must not exist. One that is only for its owner, such as with mode 0700, has this mode
  /// whatever the umask is.
  package static func makeDirectory(_ path: String, mode: UInt32 = 0o777) throws(SystemError) {
    _ = try retrying { mkdir(path, mode_t(mode)) }
    if mode & 0o077 == 0 { chmod(path, mode_t(mode)) }
  }

  /// Whether `path` is a directory; follows symbolic links.
  package static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The current directory; an error if it has been deleted.
  package static func currentDirectory() throws(SystemError) -> String {
    guard let path = getcwd(nil, 0) else { throw .last }
    defer { free(path) }
    return String(cString: path)
  }

  /// Whether what has this path, a link itself rather than its target, belongs to the calling user or to root; `nil` if
  /// nothing has it.
  package static func isTrusted(_ path: String) -> Bool? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    return status.st_uid == geteuid() || status.st_uid == 0
  }

  /// The absolute path of what `path` leads to, after all links.
  package static func resolved(_ path: String) throws(SystemError) -> String {
    guard let found = realpath(path, nil) else { throw .last }
    defer { free(found) }
    return String(cString: found)
  }

  package static func changeDirectory(to path: String) throws(SystemError) {
    _ = try retrying { chdir(path) }
  }

  /// The file of the running program, with symbolic links resolved if the system does so.
  package static func executablePath() throws(SystemError) -> String {
    let path = try [UInt8].filled(4096) { (buffer) throws(SystemError) in
      try buffer.withMemoryRebound(to: CChar.self) { (buffer) throws(SystemError) in
        Int(try checked(weft_executable_path(buffer.baseAddress, buffer.count)))
      }
    }
    return String(decoding: path, as: UTF8.self)
  }

  /// `TMPDIR`, or `/tmp`.
  package static var temporaryDirectory: String {
    guard let path = getenv("TMPDIR"), path.pointee != 0 else { return "/tmp" }
    return String(cString: path)
  }

  private static func parent(of path: String) -> String? {
    let trimmed = path.utf8.reversed().drop { $0 == UInt8(ascii: "/") }
    let above = trimmed.drop { $0 != UInt8(ascii: "/") }.drop { $0 == UInt8(ascii: "/") }
    return above.isEmpty ? nil : String(decoding: above.reversed(), as: UTF8.self)
  }
}

/// Unpredictable bytes.
package enum Entropy {
  package static func bytes(_ count: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = bytes.withUnsafeMutableBytes { weft_random($0.baseAddress, $0.count) }
    _ = try checked(result)
    return bytes
  }
}

/// Properties of the machine.
package enum Machine {
  /// The number of processors that this process may use, at least 1; honours an affinity mask.
  package static var processorCount: Int { Int(weft_processor_count()) }
}

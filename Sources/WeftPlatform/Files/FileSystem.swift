import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The few things asked of directories and of where this program stands.
package enum FileSystem {
  /// Makes `path` and what is missing above it, with `mode` less the umask. That it is there already is
  /// no error if it is a directory.
  package static func makeDirectories(_ path: String, mode: UInt32 = 0o777) throws(SystemError) {
    do { try makeDirectory(path, mode: mode) } catch {
      switch error {
      case .alreadyExists where isDirectory(path): return
      case .notFound:
        guard let parent = parent(of: path) else { throw error }
        try makeDirectories(parent, mode: mode)
        do { try makeDirectory(path, mode: mode) } catch {
          // Someone else was quicker.
          guard error == .alreadyExists, isDirectory(path) else { throw error }
        }
      default: throw error
      }
    }
  }

  /// Makes the one directory, which must not be there.
  package static func makeDirectory(_ path: String, mode: UInt32 = 0o777) throws(SystemError) {
    _ = try retrying { mkdir(path, mode_t(mode)) }
  }

  /// Symbolic links are followed.
  package static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Where this process is; an error when that has been deleted.
  package static func currentDirectory() throws(SystemError) -> String {
    guard let path = getcwd(nil, 0) else { throw .last }
    defer { free(path) }
    return String(cString: path)
  }

  package static func changeDirectory(to path: String) throws(SystemError) {
    _ = try retrying { chdir(path) }
  }

  /// The file of the running program, symbolic links resolved where the system does so.
  package static func executablePath() throws(SystemError) -> String {
    var failure: SystemError?
    let path = String(unsafeUninitializedCapacity: 4096) { buffer in
      do throws(SystemError) {
        return try buffer.withMemoryRebound(to: CChar.self) { buffer throws(SystemError) in
          try checked(weft_executable_path(buffer.baseAddress, buffer.count))
        }
      } catch {
        failure = error
        return 0
      }
    }
    if let failure { throw failure }
    return path
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

/// Bytes that nobody can guess.
package enum Entropy {
  package static func bytes(_ count: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = bytes.withUnsafeMutableBytes { weft_random($0.baseAddress, $0.count) }
    _ = try checked(result)
    return bytes
  }
}

/// What this process has to run on.
package enum Machine {
  /// Processors that this process may use, at least 1; an affinity mask counts.
  package static var processorCount: Int { Int(weft_processor_count()) }
}

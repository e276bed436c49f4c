import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// System calls of the walk.
extension ConfiningDirectory {
  enum Found {
    case directory(Descriptor)
    case file(Descriptor)
    /// A link and its target.
    case link([UInt8])
  }

  /// Looks up a name and opens it. Its kind is checked first, because opening a FIFO or a device has effects.
  static func found(
    _ name: [UInt8], in directory: Descriptor, at place: ConfinedPath, isLast: Bool
  ) throws(ConfinedFileError) -> Found {
    let kind = try placing(name, place) { () throws(SystemError) in
      var status = stat()
      _ = try retrying { fstatat(directory.number, terminated(name), &status, AT_SYMLINK_NOFOLLOW) }
      return status.st_mode & S_IFMT
    }
    switch kind {
    case S_IFLNK:
      return .link(
        try placing(name, place) { () throws(SystemError) in
          try target(of: name, in: directory)
        })
    case S_IFDIR:
      return .directory(
        try placing(name, place) { () throws(SystemError) in
          try entered(name, in: directory.number)
        })
    case _ where !isLast: throw .notRead(.system(.notDirectory))
    case S_IFREG: return .file(try opened(name, in: directory, at: place))
    default: throw .notRegular(RegularFileError.noun(of: kind))
    }
  }

  /// Opens a directory to continue from; search permission is enough. A link is refused.
  static func entered(_ name: [UInt8], in directory: Int32) throws(SystemError) -> Descriptor {
    while true {
      do { return Descriptor(owning: try checked(weft_enter(directory, terminated(name)))) } catch {
        if error != .interrupted { throw error }
      }
    }
  }

  /// The names on the path from `/`, after all links.
  static func resolved(_ path: String) -> ConfinedPath? {
    guard !path.utf8.contains(0), let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    let bytes = UnsafeRawBufferPointer(start: found, count: strlen(found))
    return ConfinedPath(bytes.split(separator: UInt8(ascii: "/")).map { Array($0) })
  }

  /// Opens a regular file. A link is refused, and so is anything else that may have replaced the file since it was
  /// checked.
  static func opened(
    _ name: [UInt8], in directory: Descriptor, at place: ConfinedPath
  ) throws(ConfinedFileError) -> Descriptor {
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    var status = stat()
    let file = try placing(name, place) { () throws(SystemError) in
      let file = Descriptor(
        owning: try retrying { openat(directory.number, terminated(name), flags) })
      _ = try retrying { fstat(file.number, &status) }
      return file
    }
    let kind = status.st_mode & S_IFMT
    guard kind == S_IFREG else { throw .notRegular(RegularFileError.noun(of: kind)) }
    return file
  }

  private static func target(
    of name: [UInt8], in directory: Descriptor
  ) throws(SystemError) -> [UInt8] {
    let room = 4096
    var target = [UInt8](repeating: 0, count: room)
    let count = try retrying {
      target.withUnsafeMutableBytes { buffer in
        readlinkat(
          directory.number, terminated(name),
          buffer.baseAddress!.assumingMemoryBound(to: CChar.self),
          room)
      }
    }
    guard count < room else { throw .nameTooLong }
    return Array(target.prefix(count))
  }

  private static func terminated(_ name: [UInt8]) -> [CChar] {
    name.map(CChar.init(bitPattern:)) + [0]
  }

  private static func placing<Value>(
    _ name: [UInt8], _ place: ConfinedPath, _ call: () throws(SystemError) -> Value
  ) throws(ConfinedFileError) -> Value {
    do { return try call() } catch {
      guard error == .notFound else { throw .notRead(.system(error)) }
      throw .missing(String(decoding: name, as: UTF8.self), in: place)
    }
  }
}

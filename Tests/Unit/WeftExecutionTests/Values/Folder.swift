import Testing

@testable import WeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A temporary directory for one test, removed with its files.
final class Folder: Sendable {
  let path: String

  init() throws {
    var template = Array("\(FileSystem.temporaryDirectory)/weft-values-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit {
    for name in names { unlink(path + "/" + name) }
    rmdir(path)
  }

  func write(_ name: String, _ content: String, mode: mode_t = 0o644) {
    guard let file = try? Descriptor.creating(path + "/" + name, .orEmptied),
      (try? file.writeAll(content)) != nil, fchmod(file.number, mode) == 0
    else {
      Issue.record("\(name) cannot be written")
      return
    }
  }

  /// The names in it.
  var names: [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }
}

/// Whether a file of that name exists, a dangling link included.
func exists(_ path: String) -> Bool {
  var status = stat()
  return lstat(path, &status) == 0
}

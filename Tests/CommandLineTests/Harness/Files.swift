#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A directory for one test, gone with the last reference.
final class Directory: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/weft-test-XXXXXX".utf8CString)
    precondition(mkdtemp(&template) != nil, "cannot make a directory in /tmp: \(errno)")
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Files.remove(path) }

  /// The bytes of a file, `nil` if there is none.
  func read(_ name: String) -> [UInt8]? { Files.read(path + "/" + name) }

  func write(_ name: String, _ text: String) { Files.write(path + "/" + name, Array(text.utf8)) }

  func write(_ name: String, _ bytes: [UInt8]) { Files.write(path + "/" + name, bytes) }
}

enum Files {
  static var currentDirectory: String {
    var buffer = [CChar](repeating: 0, count: 4096)
    precondition(getcwd(&buffer, buffer.count) != nil)
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  static func read(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { return bytes }
      bytes += buffer.prefix(count)
    }
  }

  static func write(_ path: String, _ bytes: [UInt8]) {
    guard let file = fopen(path, "w") else { fatalError("cannot write \(path): \(errno)") }
    defer { fclose(file) }
    precondition(fwrite(bytes, 1, bytes.count, file) == bytes.count, "cannot write \(path)")
  }

  /// The names in a directory, sorted, without hidden ones; empty if there is none.
  static func names(in path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  static func remove(_ path: String) {
    for name in names(in: path) { Files.remove(path + "/" + name) }
    if rmdir(path) != 0 { unlink(path) }
  }
}

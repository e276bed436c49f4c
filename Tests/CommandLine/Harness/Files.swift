#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A temporary directory for one test, removed with the last reference.
final class Directory: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/weft-test-XXXXXX".utf8CString)
    precondition(mkdtemp(&template) != nil, "cannot make a directory in /tmp: \(errno)")
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Files.remove(path) }

  /// The bytes of a file; `nil` if there is none.
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
    entries(in: Array(path.utf8)).map { String(decoding: $0, as: UTF8.self) }
      .filter { !$0.hasPrefix(".") }.sorted()
  }

  /// Removes a file, or a directory with everything in it, whatever the names.
  static func remove(_ path: String) { remove(Array(path.utf8)) }

  private static func remove(_ path: [UInt8]) {
    for name in entries(in: path) { remove(path + [UInt8(ascii: "/")] + name) }
    withCString(path) { path in
      if rmdir(path) != 0 { unlink(path) }
    }
  }

  /// All names but `.` and `..`, as bytes: not every name is UTF-8. A link is not followed.
  private static func entries(in path: [UInt8]) -> [[UInt8]] {
    let number = withCString(path) { open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    guard number >= 0, let directory = fdopendir(number) else { return [] }
    defer { closedir(directory) }
    var names: [[UInt8]] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
    }
    return names
  }

  private static func withCString<Value>(
    _ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Value
  ) -> Value {
    (path.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { body($0.baseAddress!) }
  }
}

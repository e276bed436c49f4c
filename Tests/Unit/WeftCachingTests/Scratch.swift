import Glibc
import WeftExpressions
import WeftPlatform

@testable import WeftCaching

/// A temporary directory for one test, with a workspace and a cache in it.
final class Scratch: Sendable {
  let path: String
  /// A time long after every file was written, in nanoseconds since 1970.
  static let later: @Sendable () -> Int64 = { WallClock.now.nanoseconds + 3_600_000_000_000 }

  init() {
    var template = Array("\(FileSystem.temporaryDirectory)/weft-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("no directory for a test") }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  deinit { Directory.removeTree(path) }

  func write(_ name: String, _ content: String, mode: mode_t = 0o644) {
    let path = "\(path)/\(name)"
    let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    try! FileSystem.makeDirectories(parent.joined(separator: "/"))
    unlink(path)
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try! Descriptor(owning: file).writeAll(content)
    chmod(path, mode)
  }

  func read(_ name: String) -> String? {
    (try? FileReading.bytes(ofRegularFile: "\(path)/\(name)", limit: 1 << 20)).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  func remove(_ name: String) {
    Directory.removeTree("\(path)/\(name)")
    unlink("\(path)/\(name)")
  }

  func link(_ name: String, to target: String) { symlink(target, "\(path)/\(name)") }

  func mode(_ name: String) -> mode_t {
    var status = stat()
    return lstat("\(path)/\(name)", &status) == 0 ? status.st_mode & 0o777 : 0
  }

  func cache(
    limit: Int = 1 << 30, now: @escaping @Sendable () -> Int64 = Scratch.later
  ) throws -> StepCache {
    try StepCache(path + "/.weft/cache", limit: limit, now: now)
  }

  func reader(_ memory: FileMemory = FileMemory(now: Scratch.later)) throws -> WorkspaceReader {
    WorkspaceReader(try Directory(path), memory: memory)
  }

  func inputs(_ patterns: [String]) throws -> [String] {
    let rule = FileRule(try FileSelection(each: patterns), excluding: [[".weft"]])
    return try reader().inputs(rule).records.map(\.path)
  }
}

extension CacheEntry {
  init(
    _ key: CacheKey, outputs: [String] = [],
    result: CachedResult = CachedResult()
  ) {
    self.init(
      key: key, step: "build", run: "r", storedAt: 1, milliseconds: 5, outputs: outputs,
      result: result)
  }
}

extension CacheKey {
  /// A key that differs from others by a text.
  static func sample(_ text: String) -> CacheKey {
    var key = CacheKey()
    key.set(.command, .text(text))
    return key
  }
}

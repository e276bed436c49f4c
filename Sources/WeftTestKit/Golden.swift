#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A recorded text that a test compares with, whole.
///
/// With `UPDATE_GOLDEN=1` in the environment the text is recorded again instead; the difference is then for a
/// person to review in version control.
public struct Golden: Sendable {
  /// The file that holds the recorded text.
  public let path: String

  /// - Parameters:
  ///   - path: Relative to the folder of the test's own source file.
  ///   - file: The test's source file.
  public init(_ path: String, besides file: StaticString = #filePath) {
    let source = file.description
    let folder = source.lastIndex(of: "/").map { source[..<$0] } ?? "."
    self.path = folder + "/" + path
  }

  init(at path: String) { self.path = path }

  /// The names of the files in a folder; empty if it does not exist.
  package static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// Compares `actual` with the recorded text.
  ///
  /// - Returns: `nil` if they are equal, or if the text has just been recorded; else a message that shows the
  ///   first difference.
  public func mismatch(with actual: [UInt8]) -> String? {
    if getenv("UPDATE_GOLDEN") != nil {
      return record(actual) ? nil : "\(path) cannot be written"
    }
    guard let recorded = read() else {
      return "\(path) does not exist; record it with UPDATE_GOLDEN=1\n\(shown(actual))"
    }
    guard recorded != actual else { return nil }
    return "\(path) differs\n" + firstDifference(between: recorded, and: actual)
  }

  /// Compares text like ``mismatch(with:)``.
  public func mismatch(with actual: String) -> String? { mismatch(with: Array(actual.utf8)) }

  /// The recorded text; `nil` if there is none.
  package func read() -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while case let count = fread(&chunk, 1, chunk.count, file), count > 0 {
      bytes += chunk[..<count]
    }
    return bytes
  }

  func record(_ bytes: [UInt8]) -> Bool {
    makeFolders()
    guard let file = fopen(path, "wb") else { return false }
    let written = fwrite(bytes, 1, bytes.count, file)
    return fclose(file) == 0 && written == bytes.count
  }

  private func makeFolders() {
    for index in path.indices.dropFirst() where path[index] == "/" {
      mkdir(String(path[..<index]), 0o777)
    }
  }

  private func firstDifference(between recorded: [UInt8], and actual: [UInt8]) -> String {
    let old = recorded.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let new = actual.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let line =
      zip(old, new).enumerated().first { $1.0 != $1.1 }?.offset ?? min(old.count, new.count)
    return """
      line \(line + 1)
      recorded: \(line < old.count ? shown(old[line]) : "(end)")
      actual:   \(line < new.count ? shown(new[line]) : "(end)")
      the whole of what came:
      \(shown(actual))
      """
  }

  private func shown(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }
}

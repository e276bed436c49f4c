import WeftCaching
import WeftPlatform

/// A file that a step has made, or a directory with all that is in it, as it was when the step ended.
package struct KeptFile: Sendable, Hashable {
  /// What tells it from another.
  package enum Mark: Sendable, Hashable {
    /// SHA-256 in hexadecimal digits: of a file's bytes, of a directory by ``[FileRecord].digest``.
    case digest(String)
    /// Its size, and when it was written last in nanoseconds since 1970.
    case stamp(bytes: Int, modified: Int)
  }

  /// Of one told by its content from the run's directory on; of another as this process opened it.
  package var path: String
  package var mark: Mark

  package init(path: String, _ mark: Mark) {
    self.path = path
    self.mark = mark
  }

  /// A file as it is now; `nil` if it cannot be looked at.
  init?(stampedAt path: String) {
    guard let stamp = try? FileStamp(at: path) else { return nil }
    self.init(path: path, .stamp(bytes: Int(stamp.size), modified: Int(stamp.modified)))
  }

  /// The outputs of an entry, each with what is at it.
  ///
  /// - Parameter foreign: What is there and was not made by the step, beside that of which the entry knows.
  static func outputs(of entry: CacheEntry, beside foreign: [FileRecord] = []) -> [KeptFile] {
    let foreign = foreign.isEmpty ? entry.foreign : foreign
    let all = foreign.isEmpty ? entry.files : (entry.files + foreign).inOrder
    return entry.outputs.map { output in
      KeptFile(path: output, .digest(all.filter { $0.isBelow(output) }.digest))
    }
  }
}

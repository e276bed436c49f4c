import WeftCaching
import WeftPlatform

/// A file that a step wrote, or a directory with its contents, as it was when the step ended.
///
/// The journal records it with the end of the step. On resume, ``OutputVerification`` compares it with the disk.
package struct RecordedOutputFile: Sendable, Hashable {
  /// The evidence by which a change of the file is detected.
  package enum Mark: Sendable, Hashable {
    /// SHA-256 in hexadecimal digits: of a file's bytes; for a directory, ``[FileRecord].digest``.
    case digest(String)
    /// The size, and the time of the last modification in nanoseconds since 1970.
    case stamp(bytes: Int, modified: Int)
  }

  /// With a digest, the path relative to the run's directory; with a stamp, the path as this process opened it.
  package var path: String
  package var mark: Mark

  package init(path: String, _ mark: Mark) {
    self.path = path
    self.mark = mark
  }

  /// The file as it is now; `nil` if its status cannot be read.
  init?(stampedAt path: String) {
    guard let stamp = try? FileStamp(at: path) else { return nil }
    self.init(path: path, .stamp(bytes: Int(stamp.size), modified: Int(stamp.modified)))
  }

  /// The outputs of a cache entry, each with the digest of its contents.
  ///
  /// - Parameter foreign: Files inside the outputs that the step did not write; if empty, those that the entry lists.
  static func outputs(of entry: CacheEntry, beside foreign: [FileRecord] = [])
    -> [RecordedOutputFile]
  {
    let foreign = foreign.isEmpty ? entry.foreign : foreign
    let all = foreign.isEmpty ? entry.files : (entry.files + foreign).inOrder
    return entry.outputs.map { output in
      RecordedOutputFile(path: output, .digest(all.filter { $0.isBelow(output) }.digest))
    }
  }
}

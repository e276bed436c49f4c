import WeftCaching
import WeftEvents
import WeftPlatform

extension RecordedOutputFile {
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

/// A regular file beneath a directory, open for reading.
package struct ConfinedFile: Sendable {
  /// The file's location, after all links.
  package let path: ConfinedPath
  private let file: Descriptor

  init(path: ConfinedPath, file: Descriptor) {
    self.path = path
    self.file = file
  }

  /// All of its bytes. May be called once.
  ///
  /// - Throws: ``FileReadError/tooLarge(limit:)`` for a file that has more than `limit` bytes, before any of it is read,
  ///   and for one that exceeds the limit by growing meanwhile.
  package func bytes(limit: Int) throws(FileReadError) -> [UInt8] {
    try FileReader(file: file.number, limit: limit, patience: nil).all()
  }
}

/// A regular file beneath a directory, open for reading.
package struct ConfinedFile: Sendable {
  /// Where it lies, after all links.
  package let path: ConfinedPath
  private let file: Descriptor

  init(path: ConfinedPath, file: Descriptor) {
    self.path = path
    self.file = file
  }

  /// All of it, to be asked for once.
  ///
  /// - Throws: ``FileNotRead/tooLarge(limit:)`` of a file that has more than `limit` bytes, before any of
  ///   it is read, and of one that grows while it is.
  package func bytes(limit: Int) throws(FileNotRead) -> [UInt8] {
    try FileReader(file: file.number, limit: limit, patience: nil).all()
  }
}

import WeftEncoding
package import WeftEvents
import WeftPlatform

/// The workflow file of a run and the files that it names, as an engine read them.
package struct RecordedTexts: Sendable {
  /// `nil` if it is not recorded.
  package var workflow: [UInt8]?
  /// Nested workflow files and scripts, by their paths: those whose copies are as the journal says.
  package var named: [String: [UInt8]] = [:]

  package init() {}

  init(of opening: RecordOpening, in folder: PrivateDirectory) {
    workflow = (try? folder.workflowFile(RunFolder.workflowName)) ?? nil
    for (index, file) in opening.nested.enumerated() {
      guard
        let bytes = try? folder.workflowFile(
          RunFolder.nestedName(index), below: RunFolder.nestedFolder),
        RecordedFile.hash(of: bytes) == file.hash
      else { continue }
      named[file.path] = bytes
    }
  }
}

extension StateDirectory {
  /// Returns the workflow file of a run as it was read, regardless of its lock; `nil` if there was none.
  package func workflow(of run: RunID) throws(RunFolderError) -> [UInt8]? {
    try folder(of: run).workflowFile(RunFolder.workflowName)
  }

  /// Returns the workflow file of a run and the files that it names, regardless of its lock.
  package func texts(of run: RunID, _ opening: RecordOpening) -> RecordedTexts {
    guard let folder = try? folder(of: run) else { return RecordedTexts() }
    return RecordedTexts(of: opening, in: folder)
  }
}

extension PrivateDirectory {
  /// Returns a workflow file in the folder of a run; `nil` if there is none.
  func workflowFile(
    _ name: String, below folder: String? = nil
  ) throws(RunFolderError) -> [UInt8]? {
    do throws(UnsafePathError) {
      let place = try folder.map { folder throws(UnsafePathError) in
        try directory(folder, makes: false)
      }
      return try (place ?? self).bytes(of: name, limit: FileReading.workflowLimit)
    } catch {
      if error.error == .notFound { return nil }
      throw .place(error)
    }
  }
}

extension RecordedFile {
  package static func hash(of bytes: [UInt8]) -> String {
    SHA256.text(of: SHA256.digest(of: bytes))
  }
}

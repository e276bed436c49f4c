import WeftEvents
import WeftExecution
import WeftPlatform

@testable import WeftRecord

/// A temporary directory for one test, removed with it.
final class ScratchFolder: Sendable {
  let path: String

  init() throws {
    path = "\(FileSystem.temporaryDirectory)/weft-record-\(UInt64.random(in: 0 ... .max))"
    try FileSystem.makeDirectory(path, mode: 0o700)
  }

  deinit { Directory.removeTree(path) }

  func file(_ name: String, _ bytes: [UInt8]) throws -> Descriptor {
    let directory = try PrivateDirectory.at(path, makes: false)
    try directory.write(bytes, to: name, surviving: false)
    return try directory.file(name, .appending)
  }

  func journal(_ bytes: [UInt8]) throws -> JournalContents {
    let directory = try PrivateDirectory.at(path, makes: false)
    try directory.remove("journal")
    return JournalReader(try file("journal", bytes), named: "journal").contents()
  }

  func state(_ calls: FileCalls = .system) throws -> StateDirectory {
    try StateDirectory("\(path)/.weft", makes: true, calls: calls)
  }
}

extension RunFolder {
  static func make(
    in state: StateDirectory, durability: RecordDurability = .process,
    run: RunID = SampleRecords.run
  ) throws(RunFolderError) -> (RunFolder, JournalWriter) {
    try make(
      Contents(
        workflow: Array("{}".utf8), nested: [Array("[]".utf8)],
        opening: RecordOpening(run: run, nested: [RecordedFile(path: "x", hash: "")])),
      in: state, durability: durability, startedAt: SampleRecords.start)
  }
}

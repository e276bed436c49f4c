import Testing
import WeftJSON
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

/// A list of many runs keeps the entries of those that have ended.
@Suite struct RunListTests {
  private let scratch: ScratchFolder
  private let state: StateDirectory
  private let runs = (0..<60).map { RunID("20261121-1513\($0 / 10)\($0 % 10)-4f2a9c") }

  init() throws {
    scratch = try ScratchFolder()
    state = try scratch.state()
    for (index, run) in runs.enumerated() {
      let (_, writer) = try RunFolder.make(in: state, run: run)
      if index > 0 {
        let end = RunEnd(
          outcome: [.success, .failure, .cancelled][index % 3], firstFailure: nil,
          cancellation: nil, duration: .milliseconds(index),
          counts: OutcomeCounts(
            succeeded: index, failed: 1, tolerated: 2, cancelled: 3, skipped: 4),
          outputs: [])
        try writer.record(.event(.runFinished(end)), elapsed: .seconds(1))
      }
      writer.close()
    }
  }

  private var glances: [RunListEntry] { state.newestFirst().compactMap { state.glance(at: $0) } }

  private func keptBytes() throws -> [UInt8] {
    try state.directory.bytes(of: "list", limit: 1 << 20)
  }

  private func keep(_ bytes: [UInt8]) throws {
    try state.directory.remove("list")
    try state.directory.write(bytes, to: "list", surviving: false)
  }

  @Test func keptEntriesAreThoseOfTheJournals() throws {
    let all = glances
    #expect(all.count == 60)
    #expect(state.list() == all)
    #expect(try !keptBytes().isEmpty)
    #expect(state.list() == all)
    #expect(state.list(atMost: 7) == Array(all.prefix(7)))
    #expect(state.list { $0.state == .failure } == all.filter { $0.state == .failure })
    #expect(all.last?.state == .interrupted)
  }

  @Test func keptEntriesAreUsed() throws {
    _ = state.list()
    var bytes = Array(try #require(SealedText.text(in: keptBytes())))
    let text = String(decoding: bytes, as: UTF8.self)
    bytes = Array(
      text.split(separator: "\"succeeded\":59,").joined(separator: "\"succeeded\":7,").utf8)
    #expect(bytes.count == text.utf8.count - 1)
    SealedText.seal(&bytes)
    try keep(bytes)
    #expect(state.list().first?.counts.succeeded == 7)
  }

  @Test(arguments: ["nothing", "a bit", "its end", "nonsense"])
  func damagedEntriesAreNotUsed(_ left: String) throws {
    let all = state.list()
    var bytes = try keptBytes()
    switch left {
    case "nothing": bytes = []
    case "a bit": bytes[bytes.count / 2] ^= 1
    case "its end": bytes.removeFirst(bytes.count / 2)
    default:
      bytes = Array("{}\n{\"run\":7}\n".utf8)
      SealedText.seal(&bytes)
    }
    try keep(bytes)
    #expect(state.list() == all)
  }

  @Test func changedJournalsAreReadAgain() throws {
    _ = state.list()
    let journal = try state.folder(of: runs[7]).bytes(of: "journal.jsonl", limit: 1 << 20)
    var damaged = journal
    damaged[damaged.count / 2] ^= 1
    try state.folder(of: runs[7]).remove("journal.jsonl")
    try state.folder(of: runs[7]).write(damaged, to: "journal.jsonl", surviving: false)
    let folder = try RunFolder.open(runs[8], in: state)
    let writer = try folder.append(
      after: try folder.contents(), RecordOpening(run: runs[8], resumption: 1),
      durability: .process, startedAt: SampleRecords.start)
    state.runs.removeDirectory(runs[9].text)
    let listed = state.list()
    #expect(listed == glances)
    #expect(listed.first { $0.run == runs[7] }?.state == .damaged)
    #expect(listed.first { $0.run == runs[8] }?.state == .running)
    #expect(!listed.contains { $0.run == runs[9] })
    writer.close()
  }
}

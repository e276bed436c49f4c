import TestSupport
import Testing
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct RemovingTests {
  private let scratch: ScratchFolder
  private let state: StateDirectory
  private let run = SampleRecords.run

  init() throws {
    scratch = try ScratchFolder()
    state = try scratch.state()
  }

  private let end = RunRecord.Kind.event(
    .runFinished(
      RunEnd(
        outcome: .success, firstFailure: nil, cancellation: nil, duration: .zero,
        counts: OutcomeCounts())))

  private func record(_ kinds: RunRecord.Kind...) throws {
    let (_, writer) = try RunFolder.make(in: state)
    for kind in kinds { try writer.record(kind, elapsed: .zero) }
    writer.close()
  }

  @Test func aRunThatHasEndedGoesWithAllThatItHas() throws {
    try record(end)
    let folder = try state.folder(of: run)
    try folder.directory("logs", makes: false).write([1, 2, 3], to: "a.log", surviving: false)
    #expect(state.retention(of: run) == .ended)
    #expect(state.byteCount(of: run) > 3)
    #expect(try state.remove(run, retention: .ended))
    #expect(state.runs.names().isEmpty)
    #expect(state.retention(of: run) == nil)
    #expect(try !state.remove(run, retention: .ended))
  }

  @Test func aRunThatAnEngineHasIsNeverRemoved() throws {
    let (folder, writer) = try RunFolder.make(in: state)
    try writer.record(end, elapsed: .zero)
    #expect(state.retention(of: run) == .held)
    #expect(try !state.remove(run, retention: .ended))
    #expect(state.ids == [run])
    _ = folder
  }

  @Test func runResumedMeanwhileIsKept() throws {
    try record(end)
    #expect(state.retention(of: run) == .ended)
    do {
      let folder = try RunFolder.open(run, in: state)
      let writer = try folder.append(
        after: try folder.contents(), RecordOpening(run: run, resumption: 1),
        durability: .process, startedAt: SampleRecords.start)
      writer.close()
    }
    #expect(try !state.remove(run, retention: .ended))
    #expect(state.retention(of: run) == .unfinished)
  }

  @Test(
    "S18: what is not the folder of a run is left alone",
    arguments: ["link", "empty", "file", "stranger", "newer"])
  func foreignFoldersAreLeftAlone(kind: String) throws {
    try record(end)
    let path = "\(state.runs.path)/\(run)"
    let folder = try state.folder(of: run)
    switch kind {
    case "link":
      #expect(rename(path, "\(scratch.path)/elsewhere") == 0)
      #expect(symlink("\(scratch.path)/elsewhere", path) == 0)
    case "empty": try folder.remove("journal.jsonl")
    case "file":
      state.runs.removeDirectory(run.text)
      try state.runs.write([], to: run.text, surviving: false)
    case "stranger", "newer":
      var line = SampleRecords.lines[0]
      if kind == "stranger" {
        line =
          SampleRecords.lines(of: [
            .opened(RecordOpening(run: RunID("20200101-000000-000000")))
          ])[0]
      } else {
        let text = String(decoding: line.dropLast(19), as: UTF8.self)
          .replacing(
            "\"format\":\(RecordOpening.currentFormat)",
            with: "\"format\":\(RecordOpening.currentFormat + 1)")
        line = Forgery.line(Array(text.utf8)) + [UInt8(ascii: "\n")]
      }
      try folder.remove("journal.jsonl")
      try folder.write(line, to: "journal.jsonl", surviving: false)
    default: Issue.record("\(kind)")
    }
    guard case .unknown? = state.retention(of: run) else {
      Issue.record("\(String(describing: state.retention(of: run)))")
      return
    }
    #expect(state.runs.has(run.text))
  }

  @Test func linksInARunAreTakenAwayAndNotFollowed() throws {
    try record(end)
    let other = try ScratchFolder()
    _ = try other.file("kept", [1, 2, 3])
    #expect(symlink(other.path, "\(state.runs.path)/\(run)/logs/link") == 0)
    #expect(state.byteCount(of: run) < 100_000)
    #expect(try state.remove(run, retention: .ended))
    #expect(try PrivateDirectory.at(other.path, makes: false).names() == ["kept"])
  }

  private static let now = WallTime(nanoseconds: WallClock.now.nanoseconds)

  @Test func remnantsOfAKilledProcessAreRemoved() throws {
    _ = try state.runs.directory(".removed-\(run)-1", makes: true)
    state.removeLeftoverFiles(now: RemovingTests.now)
    #expect(state.runs.names() == [])
  }

  @Test("X49: a folder that was being made goes once it is old, unless a process has its lock")
  func unfinishedFolders() throws {
    let folder = try state.runs.directory(".new-\(run)-1", makes: true)
    let lock = try folder.file("lock", .making)
    _ = try folder.directory("logs", makes: true)
    _ = try state.runs.directory(".new-\(run)-2", makes: true)
    state.removeLeftoverFiles(now: RemovingTests.now)
    #expect(state.runs.names() == [".new-\(run)-1", ".new-\(run)-2"])
    let later = RemovingTests.now.advanced(by: .seconds(120))
    #expect(try folder.calls.takeLock(lock))
    state.removeLeftoverFiles(now: later)
    #expect(state.runs.names() == [".new-\(run)-1"])
    folder.calls.releaseLock(lock)
    state.removeLeftoverFiles(now: later)
    #expect(state.runs.names() == [])
  }

  @Test(
    "X51: a run that cannot be removed whole keeps its name",
    .enabled(if: geteuid() == 0, "only root can make a file immutable"))
  func immutableFiles() throws {
    try record(end)
    let log = "\(state.runs.path)/\(run)/logs/a.log"
    try state.folder(of: run).directory("logs", makes: false).write(
      [1], to: "a.log", surviving: false)
    // Some file systems have no immutable files.
    guard try RemovingTests.setImmutable(true, log) else { return }
    defer { _ = try? RemovingTests.setImmutable(false, log) }
    #expect(throws: RunFolderError.place(.system("\(state.runs.path)/\(run)", .notPermitted))) {
      try state.remove(run, retention: .ended)
    }
    #expect(state.runs.names() == [run.text])
    #expect(state.retention(of: run) == .ended)
    #expect(try RemovingTests.setImmutable(false, log))
    #expect(try state.remove(run, retention: .ended))
    #expect(state.runs.names() == [])
  }

  /// Sets or clears `FS_IMMUTABLE_FL` with `FS_IOC_SETFLAGS` (Linux).
  private static func setImmutable(_ isImmutable: Bool, _ path: String) throws -> Bool {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    var flags = isImmutable ? 0x10 : 0
    return ioctl(file, 0x4008_6602, &flags) == 0
  }

  @Test(
    "X50: of several processes that remove a run at once one does, and none fails",
    .hangLimit)
  func removedAtOnce() async throws {
    for _ in 1...40 {
      try record(end)
      let state = state
      let run = run
      let removals = await withTaskGroup(of: Result<Bool, RunFolderError>.self) { group in
        for _ in 1...4 {
          group.addTask {
            Result { () throws(RunFolderError) in try state.remove(run, retention: .ended) }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      for removal in removals { #expect(throws: Never.self) { try removal.get() } }
      #expect(!state.runs.has(run.text))
      state.removeLeftoverFiles(now: RemovingTests.now)
    }
  }
}

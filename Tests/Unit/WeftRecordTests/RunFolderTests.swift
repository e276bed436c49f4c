import Synchronization
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

@Suite struct RunFolderTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  private var runs: String { "\(scratch.path)/.weft/runs" }

  @Test func aNewRunHasAllThatItWasMadeOf() throws {
    let state = try scratch.state()
    let (folder, writer) = try RunFolder.make(in: state)
    writer.close()
    #expect(try folder.workflow() == Array("{}".utf8))
    let nested = RecordedFile(path: "b.json", hash: RecordedFile.hash(of: Array("[]".utf8)))
    var opening = RecordOpening(
      run: folder.run, file: "a.json", nested: [nested])
    #expect(folder.texts(of: opening).named == ["b.json": Array("[]".utf8)])
    #expect(state.texts(of: folder.run, opening).workflow == Array("{}".utf8))
    opening.nested = [RecordedFile(path: "b.json", hash: "that of another text"), nested]
    #expect(folder.texts(of: opening).named.isEmpty, "neither damaged nor missing copies count")
    #expect(state.ids == [SampleRecords.run])
    let run = try folder.contents().run
    #expect(run.opening?.run == SampleRecords.run)
    #expect(run.number == 1)
    #expect(
      try PrivateDirectory.at(scratch.path, makes: false).directory(".weft", makes: false)
        .bytes(of: ".gitignore", limit: 10) == Array("*\n".utf8))
  }

  @Test(
    "X50: runs that start at once in a directory without records all get one",
    .hangLimit)
  func theFirstRunsAtOnce() async throws {
    for _ in 1...50 {
      let scratch = try ScratchFolder()
      let made = await withTaskGroup(of: Result<Void, RunFolderError>.self) { group in
        for number in 0..<4 {
          group.addTask {
            Result { () throws(RunFolderError) in
              let state = try StateDirectory("\(scratch.path)/.weft", makes: true)
              let run = RunID("20261121-151337-00000\(number)")
              _ = try RunFolder.make(in: state, run: run)
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      for result in made { #expect(throws: Never.self) { try result.get() } }
      #expect(try scratch.state().ids.count == 4)
    }
  }

  @Test("J07: whichever call fails while a run is made, the run is there whole or not at all")
  func failuresWhileMaking() throws {
    var failures = 0
    for call in FileCalls.Call.allCases {
      for after in 0..<40 {
        let scratch = try ScratchFolder()
        let calls = FaultyCalls(call, .once(after: after, .error(SystemError(number: 5))))
        let state = try scratch.state(calls.calls)
        calls.isArmed.store(true, ordering: .relaxed)
        do {
          _ = try RunFolder.make(in: state, durability: .power)
          #expect(try RunFolder.contents(of: SampleRecords.run, in: state).run.number == 1)
        } catch {
          failures += 1
          let names = state.runs.names()
          // Only the very last call comes after the folder gets its name.
          if names.isEmpty { continue }
          #expect(names == [SampleRecords.run.text])
          #expect(try RunFolder.contents(of: SampleRecords.run, in: state).run.number == 1)
        }
      }
    }
    #expect(failures > 20)
  }

  @Test(
    "J25: where there is no room, or nothing may be written, a run is refused with the reason",
    arguments: [SystemError.noSpace, .readOnlyFileSystem, .overQuota])
  func noRoom(error: SystemError) throws {
    let state = try scratch.state(FaultyCalls(.reserve, .once(after: 0, .error(error))).armed)
    let fault = #expect(throws: RunFolderError.self) { try RunFolder.make(in: state) }
    #expect(fault?.message.contains(error.description) == true)
    #expect(state.runs.names().isEmpty)
  }

  @Test(
    "S12: folders are 0700 and files 0600, whatever the umask is",
    arguments: [0, 0o777] as [mode_t])
  func runFoldersArePrivate(mask: mode_t) async {
    // Runs in a process of its own, since the umask applies to every thread.
    await #expect(processExitsWith: .success) { [mask] in
      let scratch = try ScratchFolder()
      let runs = "\(scratch.path)/.weft/runs"
      umask(mask)
      let (_, writer) = try RunFolder.make(in: try scratch.state())
      writer.close()
      let folder = "\(runs)/\(SampleRecords.run.text)"
      for path in ["\(scratch.path)/.weft", runs, folder, "\(folder)/logs", "\(folder)/control"] {
        #expect(status(path).st_mode & 0o7777 == 0o700, "\(path)")
      }
      for name in ["journal.jsonl", "workflow.json", "lock", "reserve", "nested/1.json"] {
        #expect(status("\(folder)/\(name)").st_mode & 0o7777 == 0o600, "\(name)")
      }
    }
  }

  @Test(
    "S13: a symbolic link is refused in each place, and nothing is written through it",
    arguments: [".weft", ".weft/runs", ".weft/runs/20261121-151337-4f2a9c"])
  func symbolicLinksAreRefused(name: String) throws {
    let elsewhere = try ScratchFolder()
    var parent = scratch.path
    for part in name.split(separator: "/").dropLast() {
      parent += "/\(part)"
      try FileSystem.makeDirectory(parent, mode: 0o700)
    }
    #expect(symlink(elsewhere.path, "\(scratch.path)/\(name)") == 0)
    let fault = #expect(throws: RunFolderError.self) {
      let state = try scratch.state()
      _ = try RunFolder.contents(of: SampleRecords.run, in: state)
    }
    #expect(fault == .place(.link("\(scratch.path)/\(name)")))
    #expect(try PrivateDirectory.at(elsewhere.path, makes: false).names().isEmpty)
  }

  @Test("S13: a journal that is a link is refused")
  func linkedJournal() throws {
    let state = try scratch.state()
    let (_, writer) = try RunFolder.make(in: state)
    writer.close()
    let journal = "\(runs)/\(SampleRecords.run.text)/journal.jsonl"
    #expect(rename(journal, "\(scratch.path)/elsewhere") == 0)
    #expect(symlink("\(scratch.path)/elsewhere", journal) == 0)
    #expect(throws: RunFolderError.place(.link(journal))) {
      try RunFolder.contents(of: SampleRecords.run, in: state)
    }
  }

  @Test(
    "S13: where all may exchange what is in a directory, it is refused; the sticky bit is enough")
  func writableParents() throws {
    #expect(chmod(scratch.path, 0o777) == 0)
    #expect(throws: RunFolderError.place(.writableByAll(scratch.path))) { try scratch.state() }
    #expect(chmod(scratch.path, 0o1777) == 0)
    _ = try scratch.state()
  }

  @Test(
    "X40: a state directory in which the group or all may write is refused",
    arguments: [0o770, 0o702, 0o1777])
  func writableStateDirectories(mode: UInt32) throws {
    _ = try scratch.state()
    for place in ["\(scratch.path)/.weft/runs", "\(scratch.path)/.weft"] {
      #expect(chmod(place, mode_t(mode)) == 0)
      let fault = RunFolderError.place(.writableByOthers(place, mode: mode))
      #expect(throws: fault) { try scratch.state() }
      #expect(fault.help == "remove the write permission: chmod go-w '\(place)'")
      #expect(chmod(place, 0o755) == 0)
      _ = try scratch.state()
    }
  }

  @Test("X47: what was torn off cannot be put aside: the fault names the file for it")
  func tornFileIsADirectory() throws {
    let state = try scratch.state()
    let folder = try made(state)
    _ = try folder.directory.directory(RunFolder.tornName, makes: true)
    let journal = try folder.directory.file(RunFolder.journalName, .appending)
    try journal.writeAll(Array("{\"n\":2".utf8))
    let torn = "\(folder.directory.path)/\(RunFolder.tornName)"
    #expect(throws: RunFolderError.place(.system(torn, .isDirectory))) {
      try folder.append(
        after: try folder.contents(), RecordOpening(run: SampleRecords.run, resumption: 1),
        durability: .process, startedAt: SampleRecords.start)
    }
  }

  private func made(_ state: StateDirectory) throws -> RunFolder {
    let (folder, writer) = try RunFolder.make(in: state)
    writer.close()
    return folder
  }

  @Test(
    "X48: a journal with bytes and without a whole first record is told of with its file, line and offset",
    arguments: ["{}\r\n", "\0\0\0", "{\"n\":1"])
  func withoutOpening(text: String) throws {
    let state = try scratch.state()
    let path: String
    do { path = try made(state).directory.path }
    let journal = "\(path)/journal.jsonl"
    #expect(truncate(journal, 0) == 0)
    let file = try state.folder(of: SampleRecords.run).file("journal.jsonl", .appending)
    try file.writeAll(Array(text.utf8))
    let fault = RunFolderError.withoutOpening(journal, bytes: text.utf8.count)
    #expect(throws: fault) { try state.detail(of: SampleRecords.run) }
    #expect(state.glance(at: SampleRecords.run)?.damage == fault.message)
    #expect(state.retention(of: SampleRecords.run) == .unknown(reason: fault.message))
    #expect(
      fault.message
        == "\(journal):1:0: no complete first record in its \(text.utf8.count) bytes")
  }

  @Test(
    "S13: another user's directory is refused",
    .enabled(if: geteuid() == 0, "only root can give a directory away"))
  func foreignDirectories() throws {
    _ = try scratch.state()
    #expect(chown("\(scratch.path)/.weft", 65_534, 65_534) == 0)
    #expect(throws: RunFolderError.place(.foreign("\(scratch.path)/.weft", owner: 65_534))) {
      try scratch.state()
    }
  }

  @Test("J12: a run that is held is refused, and its holder named")
  func heldRuns() throws {
    let state = try scratch.state()
    let (folder, _) = try RunFolder.make(in: state)
    let fault = #expect(throws: RunFolderError.self) {
      try RunFolder.open(SampleRecords.run, in: state)
    }
    guard case .held(SampleRecords.run, let holder?)? = fault else {
      Issue.record("\(String(describing: fault))")
      return
    }
    #expect(holder.process == ThisProcess.id)
    #expect(fault?.message.contains("is held by process \(ThisProcess.id), since 20") == true)
    _ = folder
  }

  @Test("J13: the lock of one who is gone is nobody's, whatever its file says")
  func abandonedLocks() throws {
    let state = try scratch.state()
    do { _ = try RunFolder.make(in: state) }
    let folder = try RunFolder.open(SampleRecords.run, in: state)
    #expect(try folder.contents().run.number == 1)
  }

  @Test("J03: what is torn is put aside and cut off before anything is appended")
  func appendingAfterATornTail() throws {
    let state = try scratch.state()
    do {
      let (_, writer) = try RunFolder.make(in: state)
      try writer.record(.event(.stepStarted("a", attempt: 1)), elapsed: .zero)
      writer.close()
    }
    let journal = try state.folder(of: SampleRecords.run).file("journal.jsonl", .appending)
    try journal.writeAll("{\"n\":3,\"at\":\"20")
    for resumption in 1...2 {
      let folder = try RunFolder.open(SampleRecords.run, in: state)
      let contents = try folder.contents()
      #expect(contents.tornBytes == (resumption == 1 ? 15 : 0))
      let writer = try folder.append(
        after: contents, RecordOpening(run: SampleRecords.run, resumption: resumption),
        durability: .process, startedAt: SampleRecords.start)
      try writer.record(.event(.stepStarted("b", attempt: 1)), elapsed: .zero)
      writer.close()
      let after = try folder.contents()
      #expect(after.damage == nil)
      #expect(after.tornBytes == 0)
      #expect(after.run.number == UInt64(2 + 2 * resumption))
      #expect(after.run.resumptions == resumption)
      #expect(after.run.inDoubt == ["a", "b"])
      let torn = try folder.directory.bytes(of: "journal.jsonl.torn", limit: 100)
      #expect(torn == Array("{\"n\":3,\"at\":\"20".utf8))
    }
  }

  @Test("J04: a damaged journal is not gone on with, and not touched, unless it is to be salvaged")
  func damagedJournalIsResumedOnlyWithSalvage() throws {
    let state = try scratch.state()
    do {
      let (_, writer) = try RunFolder.make(in: state)
      for kind in SampleRecords.kinds.dropFirst() { try writer.record(kind, elapsed: .zero) }
      writer.close()
    }
    let directory = try state.folder(of: SampleRecords.run)
    var bytes = try directory.bytes(of: "journal.jsonl", limit: 1 << 20)
    bytes[bytes.count / 2] ^= 1
    try directory.remove("journal.jsonl")
    try directory.write(bytes, to: "journal.jsonl", surviving: false)
    let folder = try RunFolder.open(SampleRecords.run, in: state)
    let contents = try folder.contents()
    let damage = try #require(contents.damage)
    let opening = RecordOpening(run: SampleRecords.run, resumption: 1)
    #expect(throws: RunFolderError.damaged(damage)) {
      try folder.append(
        after: contents, opening, durability: .process, startedAt: SampleRecords.start)
    }
    #expect(try directory.bytes(of: "journal.jsonl", limit: 1 << 20) == bytes)
    let writer = try folder.append(
      after: contents, opening, durability: .process, startedAt: SampleRecords.start,
      salvaging: true)
    writer.close()
    let after = try folder.contents()
    #expect(after.damage == nil)
    #expect(after.run.number == contents.run.number + 1)
    #expect(
      try directory.bytes(of: "journal.jsonl.torn", limit: 1 << 20)
        == Array(bytes[contents.wholeBytes...]))
  }

  @Test("J24: one damaged run hides none of the others")
  func damagedRunsAmongOthers() throws {
    let state = try scratch.state()
    let ids = ["20261121-000000-000001", "20261121-000000-000002"].map { RunID($0) }
    for id in ids { _ = try RunFolder.make(in: state, run: id) }
    let damaged = try state.folder(of: ids[0])
    try damaged.remove("journal.jsonl")
    try damaged.write(Array("nonsense".utf8), to: "journal.jsonl", surviving: false)
    #expect(state.ids == ids)
    #expect(try RunFolder.contents(of: ids[0], in: state).run.opening == nil)
    #expect(try RunFolder.contents(of: ids[1], in: state).run.opening != nil)
  }

  @Test func aRunThatIsNotThereIsNamed() throws {
    let state = try scratch.state()
    let fault = RunFolderError.unknown(SampleRecords.run, in: state.path)
    #expect(throws: fault) { try RunFolder.open(SampleRecords.run, in: state) }
    #expect(throws: RunFolderError.self) { try RunFolder.open(RunID("../.."), in: state) }
  }
}

extension FaultyCalls {
  var armed: FileCalls {
    isArmed.store(true, ordering: .relaxed)
    return calls
  }
}

private func status(_ path: String) -> stat {
  var status = stat()
  #expect(lstat(path, &status) == 0, "\(path)")
  return status
}

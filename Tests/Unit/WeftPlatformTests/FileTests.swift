import Glibc
import Testing

@testable import WeftPlatform

@Suite struct FileReadingTests {
  let scratch = Scratch()

  @Test(arguments: [0, 1, 65_535, 65_536, 300_000])
  func aFileIsReadWhole(size: Int) throws {
    let text = String(repeating: "abcdefg\n", count: size / 8 + 1).prefix(size)
    #expect(try FileReading.bytes(of: scratch.file("in", String(text))) == Array(text.utf8))
  }

  @Test func aFileThatClaimsNoSizeIsReadWhole() throws {
    #expect(try FileReading.bytes(of: "/proc/self/maps").count > 1000)
  }

  @Test(
    "W08: more than the limit is refused, a file by its size and an endless one after the limit")
  func tooLarge() throws {
    let sparse = scratch.file("sparse")
    #expect(truncate(sparse, 1 << 40) == 0)
    let limit = FileReading.workflowLimit
    for path in [sparse, "/dev/zero"] {
      let error = #expect(throws: FileReadError.tooLarge(limit: limit)) {
        try FileReading.bytes(of: path)
      }
      #expect(error?.message == "has more than 64 MiB")
    }
    let exact = scratch.file("exact", "12345")
    #expect(try FileReading.bytes(of: exact, limit: 5).count == 5)
    #expect(throws: FileReadError.tooLarge(limit: 4)) { try FileReading.bytes(of: exact, limit: 4) }
  }

  @Test("W08: a FIFO without a writer is given up; one that comes in time is read to its end")
  func fifoWithoutAWriterIsGivenUp() throws {
    let path = scratch.path + "/fifo"
    #expect(mkfifo(path, 0o600) == 0)
    let error = #expect(throws: FileReadError.self) {
      try FileReading.bytes(of: path, patience: .milliseconds(30))
    }
    #expect(error == .noWriter(waited: .milliseconds(30)))
    let threads = ThreadPool()
    try threads.submit {
      _ = try? run(sh: "exec >'\(path)'; printf one; sleep 0.1; printf two")
    }
    #expect(try FileReading.bytes(of: path) == Array("onetwo".utf8))
  }

  @Test func anEmptyWriterEndsAFIFO() throws {
    let path = scratch.path + "/fifo"
    #expect(mkfifo(path, 0o600) == 0)
    let threads = ThreadPool()
    try threads.submit { _ = try? run(sh: ": >'\(path)'") }
    #expect(try FileReading.bytes(of: path, patience: .seconds(60)) == [])
  }

  @Test func readErrorsAreDistinguished() throws {
    #expect(throws: FileReadError.isDirectory) { try FileReading.bytes(of: scratch.path) }
    #expect(throws: FileReadError.system(.notFound)) { try FileReading.bytes(of: "/nope") }
    #expect(throws: FileReadError.nulInPath) { try FileReading.bytes(of: "/dev/null\0") }
    #expect(
      FileReadError.system(.notFound).message
        == "cannot be read: no such file or directory (ENOENT)")
  }
}

@Suite struct WritingTests {
  @Test("O13: a reader that has gone is told apart, and no signal ends the process")
  func brokenPipe() {
    let (reading, writing) = pipeEnds()
    close(reading)
    // A child that a different test is starting at this moment holds the reading end until its execve.
    #expect(eventually { fails(writing) })
    #expect(throws: WriteError.brokenPipe) { try writing.writeAll("lost") }
  }

  private func fails(_ writing: Descriptor) -> Bool {
    do throws(WriteError) { try writing.writeAll("lost") } catch { return error == .brokenPipe }
    return false
  }

  @Test func fullDiskIsDistinguished() {
    let full = Descriptor(owning: open("/dev/full", O_WRONLY | O_CLOEXEC))
    #expect(throws: WriteError.noSpace(.noSpace)) { try full.writeAll("x") }
  }

  @Test func aDescriptorThatDoesNotBlockIsWaitedFor() throws {
    let reading: Int32
    var writing: Descriptor?
    (reading, writing) = pipeEnds()
    _ = fcntl(try #require(writing).number, F_SETFL, O_NONBLOCK)
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
    let counted = Collected<[UInt8]>()
    let threads = ThreadPool()
    try threads.submit {
      counted.add(
        try? run(["cat"], configure: { $0.input = .file(Descriptor(owning: reading)) }).output)
    }
    try writing?.writeAll(bytes)
    // Closed with its last reference, and only once: the number may belong to a different test by then.
    writing = nil
    #expect(eventually { counted.count == 1 })
    #expect(counted.all[0] == bytes)
  }

  private func pipeEnds() -> (reading: Int32, writing: Descriptor) {
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], Descriptor(owning: ends[1]))
  }
}

@Suite struct SpoolFileTests {
  @Test func appendedBytesCanBeReadAtAnyOffset() throws {
    let spool = try SpoolFile()
    for piece in ["one", "two", "three"] { try spool.append(Array(piece.utf8)) }
    #expect(spool.count == 11)
    #expect(try spool.bytes(in: 3..<8) == Array("twoth".utf8))
    #expect(try spool.bytes(in: 8..<100) == Array("ree".utf8))
    #expect(try spool.bytes(in: 50..<60) == [])
  }

  @Test func spoolFileIsUnlinkedAndOwnedOnce() throws {
    let scratch = Scratch()
    let spool = try SpoolFile(in: scratch.path)
    try spool.append([1])
    #expect(try run(["ls", "-A", scratch.path]).output.isEmpty)
  }

  @Test func missingDirectoryFails() {
    #expect(throws: SystemError.notFound) { try SpoolFile(in: "/nope/nope") }
  }
}

@Suite struct FileSystemTests {
  @Test func missingDirectoriesAreMade() throws {
    let scratch = Scratch()
    let path = scratch.path + "/a/b//c/"
    try FileSystem.makeDirectories(path, mode: 0o700)
    try FileSystem.makeDirectories(path, mode: 0o700)
    #expect(FileSystem.isDirectory(scratch.path + "/a/b/c"))
    let file = scratch.file("file")
    #expect(throws: SystemError.alreadyExists) { try FileSystem.makeDirectories(file) }
    #expect(throws: SystemError.notDirectory) { try FileSystem.makeDirectories(file + "/x") }
  }

  @Test func theProcessKnowsWhereItStands() throws {
    #expect(try FileSystem.currentDirectory() == run(["pwd", "-P"]).text.dropLast())
    #expect(
      try FileSystem.executablePath() == run(["readlink", "/proc/\(getpid())/exe"]).text.dropLast())
    #expect(Machine.processorCount >= 1)
  }

  @Test func randomBytesAreAsManyAsAskedForAndDiffer() throws {
    let (one, other) = (try Entropy.bytes(32), try Entropy.bytes(32))
    #expect(one.count == 32 && one != other)
  }

  @Test func errorsHaveTheirNameAndWords() {
    #expect(SystemError.notFound.description == "no such file or directory (ENOENT)")
    #expect(SystemError(number: -2) == .notFound)
    #expect(SystemError.outOfDescriptors.isShortage && !SystemError.notFound.isShortage)
  }
}

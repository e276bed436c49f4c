import CWeftPlatform
import Glibc
import Testing

@testable import WeftPlatform

@Suite struct InputTests {
  @Test("P23: without input there is an end of file at once")
  func noInput() throws {
    let ran = try run(["cat"])
    #expect(ran.output.isEmpty && ran.end.exited(with: 0))
  }

  @Test(
    "P23: the bytes given are read, then the end of file", arguments: [0, 1, 65_536, 1_000_003])
  func givenInput(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let ran = try run(["cat"], configure: { $0.input = .bytes(bytes) })
    #expect(ran.output == bytes)
  }

  @Test("P24: 100 MB for a program that reads nothing are no error")
  func unreadInput() throws {
    let bytes = [UInt8](repeating: 7, count: 100_000_000)
    #expect(try run(["/bin/true"], configure: { $0.input = .bytes(bytes) }).end.exited(with: 0))
    let ran = try run(sh: "exec <&-; echo on; exit 5", configure: { $0.input = .bytes(bytes) })
    #expect(ran.end.exited(with: 5) && ran.text == "on\n")
  }

  @Test("P25: 100 MB into a program that writes 100 MB before it reads")
  func bothWays() throws {
    var program = ChildProgram(
      ["/bin/sh", "-c", "head -c 100000000 /dev/zero; wc -c >&2"], environment: .inherited())
    program.input = .bytes([UInt8](repeating: 7, count: 100_000_000))
    var (written, errors) = (0, "")
    let end = try program.run(stop: StopSwitch()) { stream, bytes in
      if stream == .output {
        written += bytes.count
      } else {
        errors += String(decoding: bytes, as: UTF8.self)
      }
    }
    #expect(end.exited(with: 0) && written == 100_000_000)
    #expect(errors == "100000000\n")
  }

  @Test func anOpenFileIsReadFromWhereItStands() throws {
    let scratch = Scratch()
    let file = Descriptor(owning: open(scratch.file("in", "onetwo"), O_RDONLY | O_CLOEXEC))
    lseek(file.number, 3, SEEK_SET)
    #expect(try run(["cat"], configure: { $0.input = .file(file) }).text == "two")
  }

  @Test("P24: 100 MB that nobody reads do not keep a program from being stopped")
  func unreadInputAndAStop() throws {
    let bytes = [UInt8](repeating: 7, count: 100_000_000)
    let stop = StopSwitch()
    let ran = try run(
      sh: "echo ready; sleep 1000", stop: stop, configure: { $0.input = .bytes(bytes) },
      onChunk: { _, _ in stop.request(.graceful) })
    #expect(ran.end.stopped == .cancelled && ran.end.status == .killed(by: .terminate))
  }

  @Test func aDirectoryIsNoInput() {
    #expect(throws: InputOpenError.refused(.isDirectory)) {
      try Descriptor.opened(forReading: "/tmp", stop: StopSwitch(), until: nil)
    }
    #expect(throws: InputOpenError.refused(.notFound)) {
      try Descriptor.opened(forReading: "/no/such", stop: StopSwitch(), until: nil)
    }
  }

  @Test func aFIFOIsWaitedForUntilSomebodyWrites() throws {
    let fifo = FIFO()
    try ThreadPool().submit { _ = try? run(sh: "printf given >'\(fifo.path)'") }
    let file = try Descriptor.opened(forReading: fifo.path, stop: StopSwitch(), until: nil)
    #expect(try run(["cat"], configure: { $0.input = .file(file) }).text == "given")
  }

  @Test func aFIFOIsFedOnceSomebodyHasItOpen() throws {
    let fifo = FIFO()
    let reading = try Descriptor(owning: retrying { open(fifo.path, O_RDONLY | O_NONBLOCK) })
    #expect(weft_fifo_is_fed(reading.number) == 0)
    var writing: Descriptor? = try Descriptor(owning: retrying { open(fifo.path, O_WRONLY) })
    #expect(weft_fifo_is_fed(reading.number) == 1)
    _ = write(writing!.number, "x", 1)
    #expect(weft_fifo_is_fed(reading.number) == 1)
    var byte: UInt8 = 0
    #expect(read(reading.number, &byte, 1) == 1)
    writing = nil
    #expect(weft_fifo_is_fed(reading.number) == 1)
  }

  @Test func aFIFOIsNotWaitedForBeyondTheTimeOrAStop() throws {
    let fifo = FIFO()
    #expect(throws: InputOpenError.timedOut) {
      try Descriptor.opened(
        forReading: fifo.path, stop: StopSwitch(), until: MonotonicClock.now + .milliseconds(30))
    }
    let stop = StopSwitch()
    stop.request(.graceful)
    #expect(throws: InputOpenError.stopped) {
      try Descriptor.opened(forReading: fifo.path, stop: stop, until: nil)
    }
  }

  @Test("P26: signals that interrupt every call change no result")
  func interruptedCallsChangeNoResult() throws {
    let storm = try Storm {
      for _ in 0..<30 {
        let input = [UInt8](repeating: 1, count: 300_000)
        let ran = try run(["cat"], configure: { $0.input = .bytes(input) })
        #expect(ran.end.exited(with: 0) && ran.output == input)
        #expect(refusal(["/nope"]) != nil)
      }
    }
    storm.rage()
    #expect(storm.hits > 0)
  }
}

/// A FIFO for one test.
private final class FIFO: Sendable {
  private let scratch = Scratch()
  let path: String

  init() {
    path = scratch.path + "/fifo"
    guard mkfifo(path, 0o600) == 0 else { fatalError("mkfifo: \(SystemError.last)") }
  }
}

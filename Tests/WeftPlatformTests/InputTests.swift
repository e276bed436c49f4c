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

  @Test("P26: signals that interrupt every call change no result")
  func interruptions() throws {
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

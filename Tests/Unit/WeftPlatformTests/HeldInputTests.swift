import Synchronization
import Testing
import WeftPlatform

/// Programs whose standard input stays open until they are to terminate.
@Suite struct HeldInputTests {
  /// Runs a shell script with an input, and asks it to terminate when it has printed `line`.
  private static func run(
    _ script: String, _ input: [UInt8], stoppingAt line: String?, grace: Duration = .seconds(30)
  ) throws -> (end: ProgramEnd, output: String) {
    var program = ChildProgram(["/bin/sh", "-c", script], environment: .inherited())
    program.input = .held(input)
    program.stopPolicy.grace = grace
    let stop = StopSwitch()
    let output = Mutex("")
    let end = try program.run(stop: stop) { _, bytes in
      let all = output.withLock {
        $0 += String(decoding: bytes, as: UTF8.self)
        return $0
      }
      if let line, all.contains(line) { stop.request(.graceful) }
    }
    return (end, output.withLock { $0 })
  }

  @Test func endOfInputTakesThePlaceOfTheSignal() throws {
    let (end, output) = try Self.run(
      "trap 'echo signal; exit 9' TERM; cat; echo eof; exit 3", Array("line\n".utf8),
      stoppingAt: "line\n")
    #expect(output == "line\neof\n")
    #expect(end.status == .exited(code: 3) && end.stopped == .cancelled)
  }

  @Test func programThatEndsByItselfNeedsNoEndOfInput() throws {
    let (end, output) = try Self.run("read -r a; echo \"$a\"", Array("x\n".utf8), stoppingAt: nil)
    #expect(output == "x\n" && end.exited(with: 0))
    #expect(try Self.run("exit 4", [], stoppingAt: nil).end.exited(with: 4))
  }

  @Test func inputLargerThanAPipeIsWrittenWhole() throws {
    let bytes = [UInt8](repeating: 0x61, count: 1_000_000)
    let (end, output) = try Self.run("head -c 1000000 | wc -c", bytes, stoppingAt: nil)
    #expect(output.contains("1000000") && end.exited(with: 0))
  }

  @Test func programThatIgnoresItIsKilledAfterTheGracePeriod() throws {
    let (end, _) = try Self.run(
      "echo up; while :; do sleep 60; done", [], stoppingAt: "up\n", grace: .milliseconds(100))
    #expect(end.status == .killed(by: .kill) && end.stopped == .cancelled && end.neededKill)
  }
}

import Glibc
import Synchronization
import Testing

@testable import WeftPlatform

@Suite struct OutputTests {
  @Test("O01: a silent process that keeps the output does not keep the step, is reported and ended")
  func silentHolder() throws {
    let lock = DeathLock()
    let ran = try run(sh: lock.taking + "sleep 1000 & echo hi")
    #expect(ran.text == "hi\n")
    #expect(ran.end.exited(with: 0) && ran.end.outputWasHeld)
    #expect(ran.end.leftovers.map(\.command) == ["sleep"])
    #expect(lock.isFree)
  }

  @Test("O02: what a leftover writes within the limit is read")
  func writingHolder() throws {
    let script = "(for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.05; done) & exit 4"
    // The default limits pass where the system is busy.
    let ran = try run(
      sh: script,
      configure: {
        $0.drainLimits.quiet = .seconds(60)
        $0.drainLimits.total = .seconds(60)
      })
    #expect(ran.text == "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n")
    #expect(ran.end.exited(with: 4) && !ran.end.outputWasHeld)
  }

  @Test("O02: a leftover that writes for ever is cut off and ended")
  func endlessHolder() throws {
    let lock = DeathLock()
    let ran = try run(sh: lock.taking + "(while :; do echo x; sleep 0.02; done) & exit 0")
    #expect(ran.end.exited(with: 0) && ran.end.outputWasHeld && ran.text.hasPrefix("x\nx\n"))
    #expect(lock.isFree)
  }

  @Test("O03: a daemon with a session of its own and no output is not waited for")
  func silentDaemonIsNotAwaited() throws {
    let lock = DeathLock()
    let scratch = Scratch()
    let fifo = scratch.path + "/left"
    #expect(mkfifo(fifo, 0o600) == 0)
    // The leader stays until the daemon has left its group: a process that has not would be terminated as a leftover.
    let daemon = "setsid sh -c 'echo >\(fifo); exec sleep 1000' </dev/null >/dev/null 2>&1 &"
    let ran = try run(sh: lock.taking + daemon + " echo $!; read x <\(fifo)")
    #expect(ran.end.exited(with: 0) && !ran.end.outputWasHeld && ran.end.leftovers.isEmpty)
    // Killed here; whether the engine finds it is tested elsewhere.
    let process = try #require(ran.text.split(separator: "\n").first.flatMap { Int32($0) })
    kill(process, SIGKILL)
    #expect(lock.becomesFree())
  }

  @Test("O07: bytes split over two writes arrive whole and in order")
  func splitCharacter() throws {
    let scratch = Scratch()
    let fifo = scratch.path + "/go"
    #expect(mkfifo(fifo, 0o600) == 0)
    let threads = ThreadPool()
    // The second half is written when the first has been delivered.
    let ran = try run(
      sh: #"printf '\303'; read x <go; printf '\251'"#, configure: { $0.directory = scratch.path },
      onChunk: { _, bytes in
        guard bytes == [0xc3] else { return }
        try! threads.submit { _ = try? run(sh: "echo go >'\(fifo)'") }
      })
    #expect(ran.text == "\u{e9}")
  }

  @Test func muchOutputOnBothStreamsArrivesComplete() throws {
    let script = "head -c 30000000 /dev/zero & head -c 20000000 /dev/zero >&2; wait"
    var counts: [OutputStream: Int] = [:]
    let program = ChildProgram(["/bin/sh", "-c", script], environment: .inherited())
    let end = try program.run(stop: StopSwitch()) { counts[$0, default: 0] += $1.count }
    #expect(end.exited(with: 0))
    #expect(counts == [.output: 30_000_000, .errors: 20_000_000])
  }

  @Test func aSlowReaderLosesNothingOfWhatWasWrittenBeforeTheExit() throws {
    // Longer than the silence after which held output is delivered.
    let ran = try run(
      sh: "head -c 60000 /dev/zero; head -c 60000 /dev/zero >&2; sleep 1000 & exit 0",
      onChunk: { _, _ in usleep(150_000) })
    #expect(ran.output.count == 60_000 && ran.errors.count == 60_000)
    #expect(ran.end.outputWasHeld)
  }

  @Test("O15: merged, both streams arrive in the very order in which they were written")
  func mergedOutputKeepsItsOrder() throws {
    let script = "i=0; while [ $i -lt 500 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done"
    let ran = try run(sh: script, configure: { $0.mergesOutput = true })
    let expected = (0..<500).map { "o\($0)\ne\($0)\n" }.joined()
    #expect(ran.text == expected && ran.errors.isEmpty)
  }

  @Test("O15: apart, each stream keeps its own order")
  func eachStreamKeepsItsOrder() throws {
    let script = "i=0; while [ $i -lt 500 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done"
    let ran = try run(sh: script)
    #expect(ran.text == (0..<500).map { "o\($0)\n" }.joined())
    #expect(ran.errors == Array((0..<500).map { "e\($0)\n" }.joined().utf8))
  }

  @Test func outputAlarmFires() throws {
    let output = AlarmedOutput()
    let end = try ChildProgram(
      ["/bin/sh", "-c", "printf hi; sleep 1000"], environment: .inherited()
    ).run(stop: output.stop, output: output)
    #expect(end.stopped == .cancelled && output.text == "hi")
  }

  @Test func closedOutputDoesNotEndAProgram() throws {
    let ran = try run(sh: "exec >&- 2>&-; sleep 0.05; exit 9")
    #expect(ran.end.exited(with: 9))
  }

  @Test func exitIsPolledWithoutAProcessDescriptor() throws {
    let arguments = try ProgramArguments(
      ["/bin/sh", "-c", "printf hi; exec >&- 2>&-; sleep 0.05; exit 3"],
      environment: .inherited(), directory: nil)
    var streams = try ProgramStreams(input: .null, merged: false)
    let started = try StartedProgram { () throws(SpawnError) in
      try arguments.start("/bin/sh", streams: streams)
    }
    streams.closeProgramEnds()
    let begin = MonotonicClock.now
    var run = ProgramRun(
      of: ChildProgram(["/bin/sh"], environment: .inherited()), started: started, exit: -1,
      streams: streams, begin: begin)
    var text = ""
    let end = run.toEnd(
      slot: try .ofThisThread(), stop: StopSwitch(),
      output: ImmediateOutput { text += String(decoding: $1, as: UTF8.self) })
    #expect(end.exited(with: 3) && text == "hi")
  }

  @Test func kernelUsageIsReported() throws {
    let end = try run(sh: "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").end
    #expect(end.usage.user + end.usage.system > .zero)
    #expect(end.usage.user + end.usage.system <= end.duration * 2)
    #expect(end.usage.peakResidentBytes > 100_000 && end.usage.minorFaults > 0)
  }
}

/// Asks for an alarm after the first output, and stops the program when it fires.
private final class AlarmedOutput: ProgramOutput {
  let stop = StopSwitch()
  private(set) var text = ""
  private(set) var alarm: Duration?

  func take(_ bytes: UnsafeRawBufferPointer, from stream: OutputStream, at now: Duration) {
    text += String(decoding: bytes, as: UTF8.self)
    alarm = now + .milliseconds(20)
  }

  func timePassed(until now: Duration) {
    alarm = nil
    stop.request(.graceful)
  }
}

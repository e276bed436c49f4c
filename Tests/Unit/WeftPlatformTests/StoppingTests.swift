import Glibc
import Testing

@testable import WeftPlatform

@Suite struct StoppingTests {
  let lock = DeathLock()

  /// Runs a script that prints "ready", and asks it to stop then.
  private func cancelled(
    _ script: String, level: StopLevel = .graceful, grace: Duration = .seconds(30)
  ) throws -> Ran {
    let stop = StopSwitch()
    return try run(
      sh: lock.taking + script, stop: stop,
      configure: { $0.stopPolicy = StopPolicy(grace: grace) },
      onChunk: { _, bytes in
        if String(decoding: bytes, as: UTF8.self).contains("ready") { stop.request(level) }
      })
  }

  @Test("K01: at its timeout a program gets TERM; one that obeys is not killed")
  func timeout() throws {
    let ran = try run(
      sh: lock.taking + "trap 'echo bye; exit 3' TERM; while :; do sleep 0.01; done",
      configure: { $0.timeout = .milliseconds(100) })
    #expect(ran.end.status == .exited(code: 3) && ran.text == "bye\n")
    #expect(ran.end.stopped == .timeout && !ran.end.neededKill)
    #expect(lock.isFree)
  }

  @Test("K02: a program that ignores TERM is killed when the grace is over")
  func ignoringTerm() throws {
    let ran = try cancelled(
      "trap '' TERM; echo ready; while :; do sleep 0.01; done", grace: .milliseconds(100))
    #expect(ran.end.status == .killed(by: .kill))
    #expect(ran.end.stopped == .cancelled && ran.end.neededKill)
    #expect(lock.isFree)
  }

  @Test("K03: a shell and its background children all end")
  func backgroundChildren() throws {
    let ran = try cancelled("sleep 1000 & sleep 1000 & echo ready; wait")
    #expect(ran.end.stopped == .cancelled && !ran.end.neededKill)
    #expect(lock.isFree)
  }

  @Test("K08: a stopped program hears of it", arguments: ["$$", "0"])
  func stoppedProgram(target: String) throws {
    let ran = try cancelled("trap 'exit 7' TERM; echo ready; kill -STOP \(target); sleep 1000")
    #expect(ran.end.stopped == .cancelled)
    #expect([.exited(code: 7), .killed(by: .terminate)].contains(ran.end.status))
    #expect(lock.isFree)
  }

  @Test("K09: children that ignore TERM are killed after their leader has obeyed it")
  func leaderFirst() throws {
    let ran = try cancelled(
      "(trap '' TERM; echo ready; while :; do sleep 0.01; done) & wait", grace: .milliseconds(100))
    #expect(ran.end.status == .killed(by: .terminate))
    #expect(ran.end.stopped == .cancelled && ran.end.neededKill)
    #expect(lock.isFree)
  }

  @Test func outputDuringTerminationIsRead() throws {
    let ran = try cancelled(
      "(trap 'sleep 0.2; echo saved; exit' TERM; echo ready; while :; do sleep 0.01; done) & wait")
    #expect(ran.text == "ready\nsaved\n")
    #expect(!ran.end.neededKill && lock.isFree)
  }

  @Test("K11: stopped before it starts, nothing is started")
  func stoppedBefore() {
    let stop = StopSwitch()
    stop.request(.graceful)
    let scratch = Scratch()
    let path = scratch.path + "/ran"
    #expect(throws: SpawnError.stopped) { try run(["touch", path], stop: stop) }
    #expect(access(path, F_OK) != 0)
  }

  @Test("K12: a stop in the instant of the exit leaves one outcome, and never a lost program")
  func stopAtTheExit() throws {
    let threads = ThreadPool()
    for _ in 0..<200 {
      let stop = StopSwitch()
      var program = ChildProgram(["/bin/true"], environment: .empty)
      program.stopPolicy = StopPolicy(grace: .seconds(30))
      let end = try program.run(
        stop: stop, started: { _ in try! threads.submit { stop.request(.graceful) } },
        output: { _, _ in })
      switch end.stopped {
      case nil: #expect(end.status == .exited(code: 0))
      case .cancelled:
        #expect([.exited(code: 0), .killed(by: .terminate)].contains(end.status))
      case .timeout, .stall: Issue.record("there was no limit")
      }
    }
  }

  @Test func aProgramThatIsSilentForTooLongIsEnded() throws {
    let ran = try run(
      sh: lock.taking + "echo begun; sleep 1000",
      configure: { $0.stallTimeout = .milliseconds(100) })
    #expect(ran.end.stopped == .stall && ran.text == "begun\n" && lock.isFree)
  }

  @Test func writingProgramIsNotStalled() throws {
    let ran = try run(
      sh: "for i in 1 2 3 4 5 6; do sleep 0.2; echo $i >&2; done",
      configure: { $0.stallTimeout = .seconds(5) })
    #expect(ran.end.exited(with: 0))
  }

  @Test("K13: stops from many threads are one")
  func stopFromManyThreads() throws {
    let threads = ThreadPool()
    let stop = StopSwitch()
    let ran = try run(
      sh: lock.taking + "trap 'sleep 0.1; exit 6' TERM; echo ready; while :; do sleep 0.01; done",
      stop: stop,
      onChunk: { _, _ in
        for _ in 0..<8 { try! threads.submit { stop.request(.graceful) } }
      })
    #expect(ran.end.status == .exited(code: 6) && ran.end.stopped == .cancelled)
    #expect(!ran.end.neededKill && lock.isFree)
  }

  @Test func aHardStopKillsAtOnce() throws {
    let ran = try cancelled("trap '' TERM; echo ready; sleep 1000 & wait; sleep 1000", level: .now)
    #expect(ran.end.status == .killed(by: .kill) && ran.end.neededKill)
    #expect(lock.isFree)
  }

  @Test func anotherSignalCanBeChosen() throws {
    let stop = StopSwitch()
    let ran = try run(
      sh: "trap 'exit 8' USR1; trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done",
      stop: stop,
      configure: { $0.stopPolicy = StopPolicy(signal: .user1) },
      onChunk: { _, _ in stop.request(.graceful) })
    #expect(ran.end.status == .exited(code: 8))
  }

  @Test func stopSwitchStopsAllItsPrograms() throws {
    let threads = ThreadPool()
    let stop = StopSwitch()
    let ends = Collected<ProgramEnd>()
    let ready = Collected<Bool>()
    for _ in 0..<5 {
      try threads.submit {
        ends.add(
          (try? run(sh: "echo ready; sleep 1000", stop: stop, onChunk: { _, _ in ready.add(true) }))?
            .end)
      }
    }
    #expect(eventually { ready.count == 5 })
    stop.request(.graceful)
    #expect(eventually { ends.count == 5 })
    #expect(ends.all.allSatisfy { $0?.stopped == .cancelled })
    // The next jobs run on these threads, with their wake descriptors.
    for _ in 0..<5 { try threads.submit { ends.add((try? run(["/bin/true"]))?.end) } }
    #expect(eventually { ends.count == 10 })
    #expect(ends.all.suffix(5).allSatisfy { $0?.exited(with: 0) == true })
  }

  @Test("K21: a program lives on when the thread that started it has ended")
  func spawnerEnds() throws {
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    let input = Descriptor(owning: ends[0])
    let toProgram = Descriptor(owning: ends[1])
    let spawner = Collected<(process: Int32, thread: String)>()
    try Thread.start(name: "spawner", stackBytes: 1 << 20) {
      let arguments = try? ProgramArguments(
        ["/bin/sh", "-c", "read line; exit $line"], environment: .empty, directory: nil)
      let streams = try? ProgramStreams(input: .file(input), merged: true)
      guard let arguments, let streams else { return spawner.add(nil) }
      spawner.add(try? (arguments.start("/bin/sh", streams: streams), currentThread()))
    }
    #expect(eventually { spawner.count == 1 })
    let (process, thread) = try #require(spawner.all[0])
    #expect(eventually { access("/proc/\(thread)", F_OK) != 0 })
    try toProgram.writeAll("42\n")
    var status: Int32 = 0
    #expect(waitpid(process, &status, 0) == process)
    #expect(ProgramEnd.Status(waitStatus: status) == .exited(code: 42))
  }
}

/// The calling thread, as "PID/task/TID".
private func currentThread() -> String {
  var bytes = [UInt8](repeating: 0, count: 64)
  let count = bytes.withUnsafeMutableBytes {
    readlink("/proc/thread-self", $0.baseAddress!, $0.count)
  }
  return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
}

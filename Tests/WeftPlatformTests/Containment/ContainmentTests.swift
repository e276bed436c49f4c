import Glibc
import Testing

@testable import WeftPlatform

/// Programs that try to get away, at every level that this process can have.
@Suite struct ContainmentTests {
  static let levels: [ContainmentLevel] =
    [.groupAndCookie] + (ControlGroupTree.isUsable ? [.cgroup] : [])

  /// What a step may do to be alive when it is thought to have ended. Each says "ready".
  static let escapes: [(name: String, script: String)] = [
    ("K04: setsid", "setsid sh -c 'echo ready; exec sleep 1000' & wait"),
    (
      "K05: double fork, new session, cwd /",
      "(cd / && setsid sh -c 'sh -c \"echo ready; exec sleep 1000\" &' &) ; sleep 1000"
    ),
    ("cleared environment", "env -i setsid /bin/sh -c 'echo ready; exec sleep 1000' & wait"),
    (
      "K04: setsid that ignores TERM",
      "setsid sh -c \"trap '' TERM; echo ready; while :; do sleep 0.01; done\" & wait"
    ),
    ("stopped in a session of its own", "setsid sh -c 'echo ready; kill -STOP $$; sleep 9' & wait"),
    (
      "nested sessions",
      "setsid sh -c 'setsid sh -c \"setsid sh -c \\\"echo ready; sleep 1000\\\" & wait\" & wait' & wait"
    ),
  ]

  private func contained(
    _ script: String, _ level: ContainmentLevel, run id: String = uniqueRun(),
    stop: StopSwitch = StopSwitch(), _ body: (any Containment) throws -> Void = { _ in },
    configure: (inout ChildProgram) -> Void = { _ in }
  ) throws -> Ran {
    let cookie = ["WEFT_TEST_RUN=\(id)"]
    let containment = try Containments.make(.exactly(level), run: id, cookie: cookie)
    defer {
      _ = containment.endStrays(StopPolicy(), stop: StopSwitch())
      containment.close()
    }
    #expect(containment.level == level)
    let enclosure = try containment.enclose(cookie: cookie + ["WEFT_TEST_STEP=1"])
    let ran = try run(
      sh: script, stop: stop,
      environment: environment([("WEFT_TEST_RUN", id), ("WEFT_TEST_STEP", "1")]),
      configure: { program in
        program.enclosure = enclosure
        program.stopPolicy.grace = .milliseconds(200)
        configure(&program)
      },
      onChunk: { _, bytes in
        if String(decoding: bytes, as: UTF8.self).contains("ready") { stop.request(.graceful) }
      })
    try body(containment)
    return ran
  }

  @Test("K04, K05: what has left the group is ended by a cancellation", arguments: levels, escapes)
  func cancelled(level: ContainmentLevel, escape: (name: String, script: String)) throws {
    let lock = DeathLock()
    let ran = try contained(lock.taking + escape.script, level)
    #expect(ran.end.stopped == .cancelled)
    #expect(ran.end.survivors.isEmpty)
    #expect(lock.becomesFree())
  }

  @Test("after a failure what has left the group is ended, and told", arguments: levels)
  func failed(level: ContainmentLevel) throws {
    let lock = DeathLock()
    let script = "setsid sleep 1000 >&- 2>&- & exit 3"
    let ran = try contained(lock.taking + script, level)
    #expect(ran.end.exited(with: 3))
    #expect(ran.end.leftovers.map(\.command).allSatisfy { ["sleep", "setsid", "sh"].contains($0) })
    #expect(ran.end.leftovers.count == 1)
    #expect(lock.becomesFree())
  }

  @Test("after a success what has a session of its own lives until the run ends", arguments: levels)
  func succeeded(level: ContainmentLevel) throws {
    let lock = DeathLock()
    let scratch = Scratch()
    let fifo = scratch.path + "/fifo"
    #expect(mkfifo(fifo, 0o600) == 0)
    let script =
      lock.taking + "setsid sh -c 'echo up > \"\(fifo)\"; exec sleep 1000' >&- 2>&- & "
      + "read line < '\(fifo)'"
    let ran = try contained(script, level) { containment in
      #expect(!lock.isFree)
      #expect(containment.mayHoldStrays)
      let end = containment.endStrays(StopPolicy(grace: .seconds(20)), stop: StopSwitch())
      // "sh", where it has not become sleep yet.
      #expect(end.ended.count == 1)
      #expect(end.survivors.isEmpty)
    }
    #expect(ran.end.exited(with: 0) && ran.end.leftovers.isEmpty)
    #expect(lock.becomesFree())
  }

  @Test("leftovers that are kept outlive the run", arguments: levels)
  func kept(level: ContainmentLevel) throws {
    let lock = DeathLock()
    let ran = try contained(lock.taking + "sleep 1000 >&- 2>&- & echo $!", level) { containment in
      #expect(containment.endStrays(StopPolicy(), stop: StopSwitch()) == StraysEnd())
    } configure: {
      $0.keepsLeftovers = true
    }
    #expect(ran.end.exited(with: 0) && ran.end.leftovers.isEmpty)
    #expect(!lock.isFree)
    let process = try #require(Int32(ran.text.dropLast()))
    #expect(kill(process, SIGKILL) == 0)
    #expect(lock.becomesFree())
  }

  @Test("K07: what forks while it is being killed does not win", arguments: levels)
  func forkBomb(level: ContainmentLevel) throws {
    let lock = DeathLock()
    // Each starts another in a session of its own, and ends; a dozen of such chains at a time.
    let bomb = """
      chain() { n=0; while [ $n -lt 400 ]; do setsid sh -c 'sleep 0.02' & n=$((n+1)); sleep 0.01; done; }
      trap '' TERM; i=0; while [ $i -lt 12 ]; do chain & i=$((i+1)); done; echo ready; wait
      """
    let ran = try contained(lock.taking + bomb, level)
    #expect(ran.end.stopped == .cancelled && ran.end.survivors.isEmpty)
    #expect(lock.becomesFree())
  }

  @Test(
    "a run's directories in the cgroup tree go with it",
    .enabled(if: ControlGroupTree.isUsable, "no cgroup v2 that can be written"))
  func nothingIsLeftInTheTree() throws {
    let id = uniqueRun()
    for script in ["true", "setsid sleep 0.01 &", "exit 1"] {
      _ = try contained(script, .cgroup, run: id)
    }
    let place = try #require(ControlGroupTree.ownPlace)
    #expect(access(place.directory + "/weft-" + id, F_OK) != 0)
  }
}

private func uniqueRun() -> String {
  "test-\(getpid())-\(UInt32.random(in: .min ... .max))"
}

extension ControlGroupTree {
  /// Whether this machine lets this process make groups.
  static let isUsable: Bool = {
    guard let tree = try? ControlGroupTree(run: uniqueRun()) else { return false }
    tree.close()
    return true
  }()
}

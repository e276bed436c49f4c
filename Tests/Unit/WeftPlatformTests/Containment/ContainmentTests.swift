import Glibc
import Synchronization
import Testing

@testable import WeftPlatform

/// Programs that try to escape, at every level that this process can use.
@Suite struct ContainmentTests {
  static let levels: [ContainmentLevel] =
    [.groupAndCookie] + (ControlGroupTree.isUsable ? [.cgroup] : [])

  /// Ways for a step to stay alive after it seems to have ended. Each prints "ready".
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
    let entries = ["WEFT_TEST_RUN=\(id)"]
    let containment = try Containments.make(
      .exactly(level), run: id, cookie: EngineCookie(), entries: entries)
    defer {
      _ = containment.endOrphans(StopPolicy(), stop: StopSwitch())
      containment.close()
    }
    #expect(containment.level == level)
    let enclosure = try containment.enclose(cookie: entries + ["WEFT_TEST_STEP=1"])
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
    #expect(ran.end.orphans.isEmpty)
    #expect(lock.becomesFree())
  }

  @Test(
    "a process that starts after the signal, by one that handles it, gets none", arguments: levels)
  func cleanupOfAChild(level: ContainmentLevel) throws {
    let lock = DeathLock()
    let handler = "trap 'setsid sh -c \"sleep 0.2; echo saved\"; exit' TERM"
    let script = "(\(handler); echo ready; while :; do sleep 0.01; done) & wait"
    let ran = try contained(
      lock.taking + script, level, configure: { $0.stopPolicy.grace = .seconds(20) })
    #expect(ran.end.stopped == .cancelled && ran.text == "ready\nsaved\n")
    #expect(!ran.end.neededKill && lock.becomesFree())
  }

  @Test("after a failure what has left the group is ended, and told", arguments: levels)
  func escapedProcessesEndAfterAFailure(level: ContainmentLevel) throws {
    let lock = DeathLock()
    let script = "setsid sleep 1000 >&- 2>&- & exit 3"
    let ran = try contained(lock.taking + script, level)
    #expect(ran.end.exited(with: 3))
    #expect(ran.end.leftovers.map(\.command).allSatisfy { ["sleep", "setsid", "sh"].contains($0) })
    #expect(ran.end.leftovers.count == 1)
    #expect(lock.becomesFree())
  }

  @Test("after a success what has a session of its own lives until the run ends", arguments: levels)
  func detachedSessionLivesUntilTheRunEnds(level: ContainmentLevel) throws {
    let lock = DeathLock()
    let scratch = Scratch()
    let fifo = scratch.path + "/fifo"
    #expect(mkfifo(fifo, 0o600) == 0)
    let script =
      lock.taking + "setsid sh -c 'echo up > \"\(fifo)\"; exec sleep 1000' >&- 2>&- & "
      + "read line < '\(fifo)'"
    let ran = try contained(script, level) { containment in
      #expect(!lock.isFree)
      #expect(containment.mayHoldOrphans)
      let end = containment.endOrphans(StopPolicy(grace: .seconds(20)), stop: StopSwitch())
      // "sh" if it has not become sleep yet.
      #expect(end.ended.count == 1)
      #expect(end.orphans.isEmpty)
    }
    #expect(ran.end.exited(with: 0) && ran.end.leftovers.isEmpty)
    #expect(lock.becomesFree())
  }

  @Test("leftovers that are kept outlive the run", arguments: levels)
  func keptLeftoversOutliveTheRun(level: ContainmentLevel) throws {
    let lock = DeathLock()
    let ran = try contained(lock.taking + "sleep 1000 >&- 2>&- & echo $!", level) { containment in
      #expect(containment.endOrphans(StopPolicy(), stop: StopSwitch()) == OrphansEnd())
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
    // Each starts the next in a session of its own, and ends; a dozen such chains at a time.
    let bomb = """
      chain() { n=0; while [ $n -lt 400 ]; do setsid sh -c 'sleep 0.02' & n=$((n+1)); sleep 0.01; done; }
      trap '' TERM; i=0; while [ $i -lt 12 ]; do chain & i=$((i+1)); done; echo ready; wait
      """
    let ran = try contained(lock.taking + bomb, level)
    #expect(ran.end.stopped == .cancelled && ran.end.orphans.isEmpty)
    #expect(lock.becomesFree())
  }

  @Test(
    "a run's directories in the cgroup tree go with it",
    .enabled(if: ControlGroupTree.isUsable, "no cgroup v2 that can be written"))
  func controlGroupTreeIsRemoved() throws {
    let id = uniqueRun()
    for script in ["true", "setsid sleep 0.01 &", "exit 1"] {
      _ = try contained(script, .cgroup, run: id)
    }
    #expect(try groups(of: id) == [])
  }

  @Test(
    "X36: what a success leaves behind is told at any priority",
    arguments: levels, ["", "nice -n 18 ", "nice -n 19 "])
  func leftoversAreReportedAtAnyPriority(level: ContainmentLevel, nice: String) throws {
    let lock = DeathLock()
    let ran = try contained(lock.taking + nice + "sleep 1000 >&- 2>&- &", level)
    #expect(ran.end.exited(with: 0))
    // The name is the one before it became sleep, if that was quick.
    #expect(ran.end.leftovers.count == 1, "\(ran.end.leftovers)")
    #expect(lock.becomesFree())
  }

  @Test("X36: a group of which only the leader is left is empty, whatever its priority")
  func nicedLeader() throws {
    for nice in ["", "nice -n 18 ", "nice -n 19 "] {
      let ran = try run(sh: "exec " + nice + "true")
      #expect(ran.end.exited(with: 0) && ran.end.leftovers.isEmpty)
    }
  }

  // MARK: Control groups and their removal

  @Test(
    "X22: an engine has its control group and the lock of it, whoever clears up meanwhile",
    .enabled(if: ControlGroupTree.isUsable, "no cgroup v2 that can be written"))
  func clearedWhileMade() throws {
    let isOver = Atomic(false)
    try Thread.start(name: "clearer", stackBytes: 512 << 10) {
      while !isOver.load(ordering: .relaxed) { ControlGroupTree.clear() }
    }
    defer { isOver.store(true, ordering: .relaxed) }
    for _ in 0..<100 {
      let trees = try (0..<2).map { _ in
        try ControlGroupTree(run: uniqueRun(), cookie: EngineCookie())
      }
      for tree in trees {
        // In a removed group, nothing could be created.
        let enclosure = try tree.enclose(cookie: [])
        enclosure.abandoned()
        tree.close()
      }
    }
  }

  @Test(
    "X22: a control group that somebody has removed is made anew, once",
    .enabled(if: ControlGroupTree.isUsable, "no cgroup v2 that can be written"))
  func removedBySomebody() throws {
    let id = uniqueRun()
    let tree = try ControlGroupTree(run: id, cookie: EngineCookie())
    defer { tree.close() }
    try tree.enclose(cookie: []).abandoned()
    #expect(!tree.restore(), "it is there")
    for path in try groups(of: id) {
      for child in ["/1", ""] { #expect(rmdir(path + child) == 0) }
    }
    let gone = try tree.enclose(cookie: [])
    #expect(throws: SpawnError.resources(.notFound)) {
      try run(["/bin/true"]) { $0.enclosure = gone }
    }
    gone.abandoned()
    #expect(tree.restore())
    let there = try tree.enclose(cookie: [])
    #expect(try run(["/bin/true"]) { $0.enclosure = there }.end.exited(with: 0))
  }

  @Test(
    "X82: what is kept goes on, though it forks while it is moved out of its control group",
    .enabled(if: ControlGroupTree.isUsable, "no cgroup v2 that can be written"))
  func keptWhileForking() throws {
    let (id, lock, scratch) = (uniqueRun(), DeathLock(), Scratch())
    let stopFile = scratch.path + "/stop"
    // Chains of processes, each of which starts the next and ends.
    let link = scratch.file(
      "link", "#!/bin/sh\n[ -e '\(stopFile)' ] || \"$0\" &\n[ -e '\(stopFile)' ] || sleep 0.001\n")
    let chains = (0..<8).map { _ in "'\(link)' >&- 2>&- & " }.joined()
    let ran = try contained(
      lock.taking + chains + "sleep 0.1", .cgroup, run: id,
      configure: {
        $0.keepsLeftovers = true
      })
    #expect(ran.end.exited(with: 0) && ran.end.keptProcesses)
    #expect(try groups(of: id) == [])
    #expect(!lock.isFree, "some of it was ended")
    close(open(stopFile, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
    #expect(lock.becomesFree())
  }

  @Test("X07: only a name with a run's id and an engine's mark is that of a run's control group")
  func controlGroupNeedsARunIDAndAMark() {
    let cookie = EngineCookie()
    let name = ControlGroupName(run: "20261120-233012-4f2a9c", cookie: cookie)
    #expect(ControlGroupName(name.text) == name)
    #expect(!name.text.contains(cookie.text.prefix(8)), "everybody can read names")
    for other in [
      "weft-nightly.service", "weft-empty.slice", "weft-", "weft-20261120-233012-4f2a9c",
      "weft-20261120-233012-4f2a9c.service", name.text + ".service", name.text.uppercased(),
      String(name.text.dropLast()), "weft-nightly-a-b-" + name.mark, "x" + name.text,
    ] {
      #expect(ControlGroupName(other) == nil, "\(other)")
    }
  }
}

/// The directories of a run's control groups.
private func groups(of run: String) throws -> [String] {
  let place = try #require(ControlGroupTree.ownLocation)
  return children(of: place.directory).filter { $0.contains("/weft-" + run) }
}

private func children(of path: String) -> [String] {
  let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard directory >= 0 else { return [] }
  defer { close(directory) }
  return CgroupFile.directories(of: directory).map { "\(path)/\($0)" }
}

private func uniqueRun() -> String {
  let digits = String(UInt32.random(in: 0...0xFF_FFFF) | 0x10_0000, radix: 16)
  let number = String(1_000_000 + Int.random(in: 0..<1_000_000)).dropFirst()
  return "20000101-\(number)-\(digits)"
}

extension ControlGroupTree {
  /// Whether this process may create control groups on this machine.
  static let isUsable: Bool = {
    guard let tree = try? ControlGroupTree(run: uniqueRun(), cookie: EngineCookie()) else {
      return false
    }
    tree.close()
    return true
  }()
}

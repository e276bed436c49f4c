import Glibc
import Synchronization
import Testing
import Weft
import WeftFutures

/// The guarantees for a program that embeds Weft while runs are under way.
@Suite struct HostTests {
  @Test("K22: the host waits for its own children as ever, and what they exit with is there for it")
  func theHostsChildrenAreItsOwn() async throws {
    let early = HostChild("exit 7")
    early.becomesZombie()
    // The engine terminates what the second step leaves behind, and must not reap anything for that.
    let run = try Engine().start(
      Workflow(parallel: [Step("a", run: "true"), Step("b", run: "sleep 1000 >&- 2>&- &")]))
    let late = HostChild("exit 8")
    #expect(await run.report.succeeded)
    #expect(early.exitCode() == 7)
    #expect(late.exitCode() == 8)
  }

  @Test("K22: what a step leaves behind becomes nobody's child in the host")
  func orphansDoNotComeToTheHost() async throws {
    // The orphan's parent exits; the step reports the orphan's new parent.
    let script = """
      directory=$(mktemp -d)
      mkfifo "$directory/parent"
      cat >"$directory/orphan" <<'END'
      while read -r _ _ _ parent _ <"/proc/$$/stat" && [ "$parent" = "$1" ]; do :; done
      echo "$parent"
      END
      sh -c 'sh "$0/orphan" $$ >"$0/parent" &' "$directory"
      cat "$directory/parent"
      rm -r "$directory"
      """
    let run = try Engine().start(Workflow(steps: [Step("leaves", run: script)]))
    let report = await run.report
    #expect(report.succeeded)
    let reported = String(decoding: run.output(of: report.steps[0].address), as: UTF8.self)
    let parent = try #require(Int32(reported.prefix { $0 != "\n" }))
    #expect(parent != getpid())
  }

  /// Steps that end in every way.
  private static var endings: Workflow {
    Workflow(
      parallel: [
        Step("fails", run: "exit 3"), Step("killed", run: "kill -KILL $$"),
        Step("leaves", run: "sleep 1000 >&- 2>&- & exit 4"),
        Step("slow", run: "sleep 1000", timeout: .milliseconds(50)), Step("good", run: "true"),
      ], onFailure: .continue)
  }

  @Test("X01, K22: in a host that reaps every child no failure is taken for a success")
  func aHostThatReapsAll() async {
    await #expect(processExitsWith: .success) {
      Thread.detachReaper()
      for _ in 0..<20 {
        let report = await (try Engine().start(Self.endings)).report
        let lost = report.steps.filter { $0.isLost }.map(\.address.text)
        for name in ["fails", "killed", "leaves", "slow"] {
          #expect(report.failed(name), "\(name) is \(report.steps)")
        }
        #expect(!report.failed("good") || lost.contains("good"))
      }
    }
  }

  @Test(
    "X01, K22: in a host that ignores SIGCHLD every end is unknown, and a failure of its own class")
  func aHostThatIgnoresTheSignal() async {
    await #expect(processExitsWith: .success) {
      signal(SIGCHLD, SIG_IGN)
      let report = await (try Engine().start(Self.endings)).report
      for name in ["fails", "killed", "leaves", "good"] {
        let step = report.steps.first { $0.address.text == name }
        #expect(step?.isLost == true, "\(name): \(report.steps)")
      }
      #expect(report.failed("slow") && !report.succeeded)
    }
  }

  @Test("K22: the host's signals stay as they were")
  func signalDispositionsStay() async {
    // Runs in a process of its own, since dispositions belong to the whole process.
    await #expect(processExitsWith: .success) {
      let numbers = [SIGCHLD, SIGPIPE, SIGINT, SIGTERM, SIGHUP]
      let before = numbers.map(Disposition.init)
      let run = try Engine().start(Workflow(steps: [Step("one", run: "true")]))
      _ = await run.report
      #expect(numbers.map(Disposition.init) == before)
    }
  }

  @Test("C10: a run goes on when nobody holds it or its engine, and leaves nothing")
  func anAbandonedRunEnds() async throws {
    let events = try Engine().start(
      Workflow(steps: [Step("one", run: "sleep 1000 & echo one"), Step("two", run: "echo two")])
    ).events
    var lines: [String] = []
    for await event in events {
      if case .stepOutput(_, let output) = event.kind { lines.append(output.text) }
    }
    #expect(lines == ["one", "two"])
  }

  @Test("C10: a run can be cancelled after its engine was released")
  func aRunOutlivesItsEngine() async throws {
    let run = try startedByAnEngineThatGoes(Step("long", run: ["sleep", "1000"]))
    run.cancel()
    #expect(await run.report.end?.outcome == .cancelled)
  }

  private func startedByAnEngineThatGoes(_ step: Step) throws -> Run {
    try Engine().start(Workflow(steps: [step]))
  }

  @MainActor
  @Test("C11: what the main actor gives to a future or a run may be called on any thread")
  func closuresOfTheMainActorRunAnywhere() async throws {
    let calls = Mutex<[String]>([])
    let note: @Sendable (String) -> Void = { call in calls.withLock { $0.append(call) } }
    let promise = Promise<Int, Never>(ifDropped: .success(0))
    let future = promise.future
      .map { value in
        note("map")
        return value + 1
      }
      .flatMap { value in
        note("flatMap")
        return Future(value: value)
      }
    future.whenSettled { _ in note("whenSettled") }
    _ = await Task.detached { promise.succeed(1) }.value
    #expect(await future.value == 2)
    #expect(calls.withLock { $0 } == ["map", "flatMap", "whenSettled"])

    let run = try Engine().start(Workflow(steps: [Step("one", run: "true")]))
    var count = 0
    for await _ in run.events { count += 1 }
    #expect(count == 5)
  }
}

extension RunReport {
  fileprivate func failed(_ name: String) -> Bool {
    guard case .finished(let end)? = steps.first(where: { $0.address.text == name })?.state else {
      return false
    }
    return end.outcome == .failure
  }
}

extension StepReport {
  /// Whether it failed because the exit status of its program is unknown.
  fileprivate var isLost: Bool {
    guard case .finished(let end) = state else { return false }
    return end.failure?.classes == [.lost] && end.exit == nil
  }
}

private enum Thread {
  /// Reaps every child of this process, for ever.
  static func detachReaper() {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { _ in
        while true {
          if waitpid(-1, nil, 0) < 0 { usleep(100) }
        }
      }, nil)
  }
}

/// A child that the host has started for itself.
private struct HostChild {
  private let process: pid_t

  init(_ script: String) {
    var process: pid_t = 0
    let words: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(script), nil]
    defer { for word in words { free(word) } }
    let error = posix_spawn(&process, "/bin/sh", nil, nil, words, environ)
    precondition(error == 0, "cannot start /bin/sh: \(error)")
    self.process = process
  }

  /// Returns when it has exited and can be reaped.
  func becomesZombie() {
    var info = siginfo_t()
    while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
  }

  /// Waits for it; `nil` if it has already been reaped elsewhere.
  func exitCode() -> Int32? {
    var status: Int32 = 0
    guard waitpid(process, &status, 0) == process else { return nil }
    return (status >> 8) & 0xff
  }
}

/// The disposition of a signal.
private struct Disposition: Equatable {
  private let number: Int32
  private let handler: UInt
  private let flags: Int32

  init(_ number: Int32) {
    var action = sigaction()
    sigaction(number, nil, &action)
    self.number = number
    handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self)
    flags = action.sa_flags
  }
}

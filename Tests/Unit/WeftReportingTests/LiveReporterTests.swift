import Testing
import WeftDefinition
import WeftPlanning
import WeftRecord

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftReporting

@Suite struct LiveReporterTests {
  private static let settings = DisplaySettings(mode: .live, isTerminal: true)

  /// Draws on a screen what is due at certain times, and records how often.
  private struct Session {
    var reporter: Reporter
    var screen: Screen
    var size: DisplaySize?
    var writes: [[UInt8]] = []
    /// The remaining duration of the run.
    var remaining: Duration?
    var waiting = WaitingSteps()

    init(columns: Int = 60, rows: Int = 12, labels: StepLabels = StepLabels()) {
      reporter = Reporter(LiveReporterTests.settings, labels: labels)
      screen = Screen(columns: columns, rows: rows)
      size = DisplaySize(columns: columns, rows: rows)
    }

    mutating func handle(_ events: some Sequence<RunEvent>, at milliseconds: Int) {
      var written: [[UInt8]] = []
      reporter.handle(
        Array(events), now: .milliseconds(milliseconds), size: { [size] in size },
        log: { _, _ in [] }, remaining: { [remaining] in remaining },
        waiting: { [waiting] in waiting },
        write: { written.append($0) })
      for bytes in written { screen.feed(bytes) }
      writes += written
    }

    mutating func withdraw() {
      var written: [[UInt8]] = []
      reporter.withdraw(isVisible: size != nil) { written.append($0) }
      for bytes in written { screen.feed(bytes) }
      writes += written
    }
  }

  @Test func aDisplayThatWithdrawsLeavesCleanRowsAndComesBack() {
    var run = LiveReporterTests.running(2, line: "working")
    var session = Session()
    session.handle(run.events, at: 3000)
    let shown = run.events.count
    run.succeed("step1")
    session.handle(run.events[shown...], at: 3010)
    session.withdraw()
    #expect(
      session.screen.lines == ["✓ step1  1.0 s", "  │ working"], "though the next frame was not due"
    )
    #expect(session.screen.cursor == (2, 0))
    session.withdraw()
    #expect(session.writes.count == 2, "there was nothing more to take away")
    session.handle([], at: 3100)
    #expect(session.screen.lines.last == "1/40 done · 1 running · 00:03")
  }

  @Test("in the background nothing is redrawn, and what has ended is shown later")
  func aHiddenDisplayCatchesUp() {
    var run = LiveReporterTests.running(2)
    var session = Session()
    session.size = nil
    session.handle(run.events, at: 3000)
    let shown = run.events.count
    run.succeed("step1")
    session.handle(run.events[shown...], at: 4000)
    session.withdraw()
    #expect(session.writes.isEmpty)
    session.size = DisplaySize(columns: 60, rows: 12)
    session.handle([], at: 5000)
    #expect(session.screen.lines.first == "✓ step1  1.0 s")
    #expect(session.screen.lines.last == "1/40 done · 1 running · 00:05")
  }

  @Test func aRunThatEndsInTheBackgroundShowsItsResult() {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    run.at(80)
    run.succeed("a")
    run.finish()
    var session = Session()
    session.size = nil
    session.handle(run.events, at: 80)
    #expect(session.screen.lines == ["✓ a  80 ms", "1 step succeeded in 80 ms"])
  }

  private static func running(_ count: Int, line: String? = nil) -> ScriptedRun {
    var run = ScriptedRun(steps: 40)
    for step in 1...count {
      run.at(step * 1000)
      run.start("step\(step)")
      if let line { run.write("step\(step)", line) }
    }
    return run
  }

  @Test func eachRunningStepHasItsAgeAndLastLineAboveACounter() {
    var run = ScriptedRun(steps: 40)
    run.start("build", "unit-tests")
    run.write("build", "compiling")
    run.write("build", "\u{1B}[32mlinking\u{1B}[0m")
    run.write("build", "  ")
    run.at(61_000)
    run.start("lint")
    run.fail("lint")
    var session = Session()
    session.handle(run.events, at: 65_000)
    #expect(
      session.screen.lines == [
        "✗ lint  0 ms  exited with code 1",
        "  build       1 m 05 s  linking",
        "  unit-tests  1 m 05 s",
        "1/40 done · 2 running · 1 failed · 01:05",
      ])
  }

  @Test(
    "the counter ends with how much longer the run takes, if that is known and worth a word",
    arguments: [
      (nil, 60, "0/40 done · 1 running · 00:03"),
      (.milliseconds(499), 60, "0/40 done · 1 running · 00:03"),
      (.milliseconds(500), 60, "0/40 done · 1 running · 00:03 · about 1 s left"),
      (.seconds(65), 60, "0/40 done · 1 running · 00:03 · about 1 m 05 s left"),
      (.seconds(65), 40, "0/40 done · 1 running · 00:03 · about …"),
    ] as [(Duration?, Int, String)])
  func counterShowsTheRemainingTime(remaining: Duration?, columns: Int, counter: String) {
    var session = Session(columns: columns)
    session.remaining = remaining
    session.handle(LiveReporterTests.running(1).events, at: 3000)
    #expect(session.screen.lines.last == counter)
  }

  @Test func cancellingRunShowsNoRemainingTime() {
    var run = LiveReporterTests.running(1)
    run.add(.runCancelling(.signal("TERM")))
    var session = Session()
    session.remaining = .seconds(9)
    session.handle(run.events, at: 3000)
    #expect(session.screen.lines.last == "0/40 done · 1 stopping · 00:03")
  }

  @Test("O08: what a line shows for now is shown, and its end does not linger")
  func transientLineIsShown() {
    var run = ScriptedRun(steps: 2)
    run.start("fetch")
    run.write("fetch", "begins")
    run.show("fetch", "40%")
    var session = Session()
    session.handle(run.events, at: 1000)
    #expect(
      session.screen.lines == ["begins", "40%", "  fetch  1 s", "0/2 done · 1 running · 00:01"])
    let seen = run.events.count
    run.write("fetch", "done")
    session.handle(run.events[seen...], at: 2000)
    #expect(
      session.screen.lines == ["begins", "done", "  fetch  2 s", "0/2 done · 1 running · 00:02"])
  }

  @Test("C08: a run that is shorter than a frame shows its result alone")
  func aShortRunIsDrawnOnce() {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    var session = Session()
    session.handle(run.events, at: 0)
    let shown = run.events.count
    run.at(80)
    run.succeed("a")
    run.finish()
    session.handle(run.events[shown...], at: 80)
    #expect(session.writes.count == 1)
    #expect(session.screen.lines == ["✓ a  80 ms", "1 step succeeded in 80 ms"])
    #expect(session.reporter.nextRedraw == nil)
  }

  @Test func aQuietRunWritesNothingButTheSeconds() {
    var session = Session()
    session.handle(LiveReporterTests.running(2, line: "waiting").events, at: 2500)
    #expect(session.writes.count == 1)
    #expect(session.reporter.nextRedraw == .seconds(3))
    session.handle([], at: 2700)
    #expect(session.writes.count == 1)
    session.handle([], at: 3000)
    #expect(session.writes.count == 2)
    let ticked = String(decoding: session.writes[1], as: UTF8.self)
    #expect(ticked.contains("2 s") && ticked.contains("00:03"))
  }

  @Test("however much a step writes, there are at most ten frames a second")
  func framesAreLimited() {
    var run = ScriptedRun(steps: 2)
    run.start("a", "b")
    var session = Session()
    session.handle(run.events, at: 0)
    for millisecond in 1...1000 {
      var output = ScriptedRun(steps: 1)
      output.write("a", "\(millisecond) %\r")
      session.handle(output.events[1...], at: millisecond)
    }
    #expect(session.writes.count == 10)
    #expect(session.screen.lines.first == "  a  1 s  1000 %")
  }

  @Test(
    "C06: as many running steps are shown as there are rows, oldest first",
    arguments: [
      (12, ["step1", "step2", "step8"], "  … and 22 more", 10),
      (5, ["step1"], "  … and 29 more", 3), (4, [], "  … and 30 more", 2), (3, [], nil, 1),
      (1, [], nil, 1),
    ] as [(Int, [String], String?, Int)])
  func theOldestStepsAreShown(rows: Int, names: [String], more: String?, height: Int) {
    var session = Session(rows: max(rows, 3))
    session.size = DisplaySize(columns: 60, rows: rows)
    session.handle(LiveReporterTests.running(30).events, at: 60_000)
    let lines = session.screen.lines
    #expect(lines.count == height)
    #expect(lines.last == "0/40 done · 30 running · 01:00")
    for name in names { #expect(lines.contains { $0.hasPrefix("  \(name) ") }) }
    if let more { #expect(lines.dropLast().last == more) }
  }

  @Test(
    "C06: in a storm of resizes no line is wider, and no area higher, than the terminal",
    arguments: [(1, 1), (2, 3), (7, 2), (19, 4), (33, 5), (80, 3), (500, 200), (0, 0)])
  func everyLineFits(columns: Int, rows: Int) {
    var run = LiveReporterTests.running(
      20, line: "漢字 \u{1B}[31m👩‍👩‍👧 and \u{7}more\u{301}, much more text")
    run.cancel(.signal("INT"))
    var display = LiveDisplay(
      LiveReporterTests.settings,
      labels: StepLabels(titles: [
        StepAddress("step1"): "a title that is wider than the column it gets, by far"
      ]))
    for event in run.events { display.apply(event, log: { _, _ in [] }) }
    let size = DisplaySize(columns: columns, rows: rows)
    let area = display.area(size: size, now: .seconds(86_400 * 30))
    #expect(area.count <= max(1, size.rows - 2))
    for line in area { #expect(DisplayText.columns(of: line) < size.columns || line.isEmpty) }
  }

  @Test func aLoopHasOneBarWithRateAndTimeLeft() {
    var run = ScriptedRun(steps: 1)
    run.add(.groupStarted(StepAddress("each"), GroupStart(elements: 100)))
    var session = Session(columns: 100, rows: 24)
    session.handle(run.events, at: 0)
    for second in 1...10 {
      let shown = run.events.count
      run.at(second * 1000)
      for element in (second * 2 - 2)..<(second * 2) {
        run.start("each[\(element)]")
        if element == 5 { run.fail("each[5]") } else { run.succeed("each[\(element)]") }
      }
      run.start("each[9\(second)]")
      session.handle(run.events[shown...], at: second * 1000)
    }
    #expect(
      session.screen.lines.first { $0.hasPrefix("  each ") }
        == "  each       10 s  ━━━━──────────────── 20/100 · 10 running · 1 failed · 2.0/s"
        + " · 40 s left")
  }

  @Test func waitingStepsSayForWhat() {
    var run = ScriptedRun(steps: 9)
    run.start("a")
    var session = Session(columns: 90)
    session.waiting = WaitingSteps(
      [
        WaitingStep(StepAddress("b"), .pool("db", holders: [StepAddress("a"), StepAddress("x")])),
        WaitingStep(StepAddress("c"), .slot), WaitingStep(StepAddress("d"), .rate("api")),
        WaitingStep(StepAddress("e[1]"), .rate("api")),
        WaitingStep(StepAddress("f"), .group(StepAddress("narrow"))),
      ], count: 12)
    session.handle(run.events, at: 1000)
    #expect(
      session.screen.lines == [
        "  a  1 s", "  b       waits for pool \"db\", held by \"a\" and \"x\"",
        "  d       waits for the rate of pool \"api\"", "  f       waits for a slot of \"narrow\"",
        "0/9 done · 1 running · 12 waiting · 00:01",
      ])
  }

  @Test func progressReplacesTheLastLine() {
    var run = ScriptedRun(steps: 2)
    run.start("a", "b")
    run.write("a", "compiling")
    run.add(.stepProgress(StepAddress("a"), StepProgress(1, of: 4, text: "one\u{1B}[2J")))
    var session = Session(columns: 80)
    session.handle(run.events, at: 1000)
    #expect(session.screen.lines.first == "  a  1 s  ━━━━━─────────────── 1/4  one\\x1b[2J")
    let shown = run.events.count
    run.at(3000)
    run.add(.stepProgress(StepAddress("a"), StepProgress(3, of: 4)))
    session.handle(run.events[shown...], at: 3000)
    #expect(
      session.screen.lines.first == "  a  3 s  ━━━━━━━━━━━━━━━───── 3/4 · 40/min · 2 s left")
  }

  @Test func aStepAloneHasItsProgressBelowItsLines() {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    run.write("a", "compiling")
    run.add(.stepProgress(StepAddress("a"), StepProgress(1, of: 4)))
    var session = Session(columns: 80)
    session.handle(run.events, at: 1000)
    #expect(
      session.screen.lines == [
        "compiling", "  a  1 s  ━━━━━─────────────── 1/4", "0/1 done · 1 running · 00:01",
      ])
  }

  @Test("C06: after a resize the area is drawn anew and nothing that scrolled is lost")
  func aResizeRedraws() {
    var session = Session(columns: 60, rows: 10)
    var run = LiveReporterTests.running(3, line: "working")
    run.succeed("step1")
    session.handle(run.events, at: 5000)
    for (columns, rows) in [(40, 10), (60, 6), (30, 4), (60, 10)] {
      session.size = DisplaySize(columns: columns, rows: rows)
      session.handle([], at: 6000 + session.writes.count * 1000)
    }
    #expect(session.screen.lines.first == "✓ step1  2.0 s")
    #expect(session.screen.lines.filter { $0.contains("done") }.count == 1)
    #expect(session.screen.lines.count == 5)
  }

  @Test func manySkipsForOneReasonTakeFewLines() {
    var run = ScriptedRun(steps: 1001)
    run.start("root")
    run.fail("root")
    for step in 1...1000 { run.skip("s\(step)", because: .dependencyFailed(StepAddress("root"))) }
    run.finish()
    var session = Session(columns: 80)
    session.handle(run.events, at: 1)
    #expect(
      session.screen.lines == [
        "✗ root  0 ms  exited with code 1",
        "− s1  skipped because \"root\" failed", "− s2  skipped because \"root\" failed",
        "− s3  skipped because \"root\" failed",
        "− and 997 more steps skipped because \"root\" failed", "",
        "✗ \"root\" failed after 0 ms: exited with code 1",
        "1000 steps skipped because \"root\" failed: s1, s2, s3 and 997 more",
        "0 of 1001 steps succeeded, 1 failed, 1000 skipped in 0 ms",
      ])
  }

  @Test func theCounterSaysWhatAnotherInterruptDoes() {
    var run = LiveReporterTests.running(1)
    run.cancel(.signal("INT"))
    var session = Session()
    session.handle(run.events, at: 2000)
    #expect(session.screen.lines.last == "0/40 done · 1 stopping · 00:02 · ^C again kills now")
  }

  @Test func outsideUTF8EverythingIsASCII() {
    let settings = DisplaySettings(mode: .live, isTerminal: true, usesUnicode: false)
    let runs = SampleRuns.all.map { Collected.of($0.run, settings).bytes }
    for bytes in runs { #expect(!bytes.isEmpty && bytes.allSatisfy { $0 < 0x80 }) }
  }

  @Test func aDisplayThatComesLateShowsWhatRuns() {
    let run = EveryKind.events
    var session = Session()
    session.handle(run.filter { $0.kind.traits.type == "run.snapshot" }.prefix(1), at: 1040)
    #expect(
      session.screen.lines == [
        "  3  1 s", "  4  0 s  waits for approval: Ship \"it\"?",
        "  5  0 s  waits, 1 m 29 s left", "  6       attempt 2 in 1 s",
        "5/9 done · 3 running · 1 to be retried · 00:01",
      ])
  }

  @Test func aStepThatOnlyWaitsIsCountedDown() {
    var run = ScriptedRun(steps: 1)
    run.start("pause")
    run.add(.stepWaiting(StepAddress("pause"), for: .seconds(90)))
    var session = Session()
    session.handle(run.events, at: 30_000)
    #expect(session.screen.lines.first == "  pause  30 s  waits, 1 m 00 s left")
  }

  @Test func aDisplayThatComesLateKnowsTheGroups() throws {
    let shape = StepLabels(
      try #require(
        Planner.plan(
          Workflow(parallel: [
            Step("up", run: "put").forEach(["x", "y", "z"]),
            Step("g", steps: [Step("a", run: "a"), Step("b", run: "b")]).retry(1),
          ])
        ).plan))
    var run = ScriptedRun(steps: 3, groups: 1)
    guard case .runStarted(let start)? = run.events.first?.kind else { return }
    let end = StepEnd(
      outcome: .success, conclusion: .success, attempts: 1, exit: .code(0), duration: .zero)
    var report = RunReport(
      start: start,
      steps: [
        StepReport(address: StepAddress("up"), state: .pending),
        StepReport(address: StepAddress("a"), state: .finished(end)),
        StepReport(address: StepAddress("b"), state: .pending),
        StepReport(address: StepAddress("up[0]"), state: .finished(end)),
        StepReport(address: StepAddress("up[1]"), state: .running(since: .zero, attempt: 1)),
      ])
    report.groups = [
      GroupReport(
        address: StepAddress("up"), start: GroupStart(elements: 3), state: .running(since: .zero)),
      GroupReport(
        address: StepAddress("g"), start: GroupStart(), state: .retrying(until: .seconds(3))),
    ]
    run.add(.snapshot(report))
    var session = Session(labels: shape)
    session.handle(run.events.suffix(1), at: 1000)
    #expect(
      session.screen.lines == [
        "  up     1 s  ━━━━━────────── 1/3 · 1 running", "  up[1]  1 s",
        "  g           attempt 2 in 2 s",
        "1/5 done · 1 running · 1 to be retried · 00:01",
      ])
  }
}

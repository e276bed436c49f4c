import Testing
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftReporting

/// The output of steps as displays show it, in each mode.
@Suite struct StepOutputTests {
  private static let run = RunReference(id: "R", arguments: "R")

  /// A terminal of any height, on which events arrive at chosen times.
  private struct Session {
    var reporter: Reporter
    var screen = Screen(columns: 80, rows: 40)
    var isHidden = false
    var log: Reporter.ReadLog = { _, _ in [] }
    var openLine: [UInt8]?
    private var seen = 0

    init(_ output: OutputMode) {
      let settings = DisplaySettings(
        mode: .live, isTerminal: true, usesColour: true, run: StepOutputTests.run, output: output)
      reporter = Reporter(settings, labels: StepLabels())
    }

    /// Passes on the new events of the run.
    mutating func handle(_ run: ScriptedRun, at milliseconds: Int) {
      handle(Array(run.events[seen...]), at: milliseconds)
      seen = run.events.count
    }

    mutating func handle(_ events: [RunEvent], at milliseconds: Int) {
      var written: [UInt8] = []
      reporter.handle(
        events, now: .milliseconds(milliseconds),
        size: { [isHidden] in isHidden ? nil : DisplaySize(columns: 80, rows: 40) },
        log: log, openLine: { [openLine] _ in openLine }, write: { written += $0 })
      screen.feed(written)
    }

    /// The screen without the redrawn area.
    var scrolled: [String] {
      Array(
        screen.lines.prefix {
          !$0.contains(" done · ") && !$0.hasPrefix("  a  ") && !$0.hasPrefix("  b  ")
        })
    }
  }

  private static func two() -> ScriptedRun {
    var run = ScriptedRun(steps: 2)
    run.start("a", "b")
    run.write("a", "one")
    run.write("b", "two")
    run.at(50)
    run.succeed("a")
    run.fail("b")
    run.finish()
    return run
  }

  @Test(
    "steps side by side, in each mode",
    arguments: [
      (.auto, ["✓ a  50 ms", "  │ one", "✗ b  50 ms  exited with code 1", "  │ two"], false),
      (.group, ["✓ a  50 ms", "  │ one", "✗ b  50 ms  exited with code 1", "  │ two"], false),
      (.stream, ["[a] one", "[b] two", "✓ a  50 ms", "✗ b  50 ms  exited with code 1"], true),
      (.failed, ["✓ a  50 ms", "✗ b  50 ms  exited with code 1", "  │ two"], false),
      (.none, ["✓ a  50 ms", "✗ b  50 ms  exited with code 1"], true),
    ] as [(OutputMode, [String], Bool)])
  func stepsSideBySide(mode: OutputMode, lines: [String], isRepeated: Bool) {
    var session = Session(mode)
    session.handle(StepOutputTests.two(), at: 50)
    #expect(Array(session.screen.lines.prefix { !$0.isEmpty }) == lines)
    let summary = session.screen.lines.drop { !$0.isEmpty }
    #expect(summary.contains("  │ two") == isRepeated, "\(summary)")
    #expect(session.screen.lines.suffix(2) == ["details: weft show R", "output:  weft logs R b"])
  }

  @Test(
    "a step that runs alone is shown line by line by auto and stream",
    arguments: [
      (.auto, ["one", "two", "✓ a  50 ms"]), (.stream, ["one", "two", "✓ a  50 ms"]),
      (.group, ["✓ a  50 ms", "  │ one", "  │ two"]), (.failed, ["✓ a  50 ms"]),
      (.none, ["✓ a  50 ms"]),
    ] as [(OutputMode, [String])])
  func stepAlone(mode: OutputMode, lines: [String]) {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    run.write("a", "one")
    run.write("a", "two", ending: .endOfStream)
    run.at(50)
    run.succeed("a")
    run.finish()
    var session = Session(mode)
    session.handle(run, at: 50)
    #expect(Array(session.screen.lines.prefix(lines.count)) == lines)
  }

  @Test func linesOfAStepAloneAreShownWithTheNextFrame() {
    var run = ScriptedRun(steps: 2)
    run.start("a")
    run.write("a", "\u{1B}[31mred\u{1B}[K")
    var session = Session(.auto)
    session.handle(run, at: 100)
    #expect(session.screen.lines == ["red", "  a  0 s", "0/2 done · 1 running · 00:00"])
    run.at(150)
    run.write("a", "more")
    session.handle(run, at: 150)
    session.handle([], at: 200)
    #expect(session.scrolled == ["red", "more"])
  }

  @Test("a step that is joined by another is shown at its end, without the lines that were shown")
  func stepIsJoined() {
    var run = ScriptedRun(steps: 2)
    run.start("a")
    run.write("a", "alone")
    var session = Session(.auto)
    session.handle(run, at: 100)
    run.at(150)
    run.start("b")
    run.write("a", "together")
    session.handle(run, at: 250)
    #expect(session.scrolled == ["alone"])
    run.at(300)
    run.succeed("a")
    session.handle(run, at: 400)
    #expect(session.scrolled == ["alone", "✓ a  300 ms", "  │ together"])
  }

  @Test("a step that is left alone is shown line by line after a second")
  func stepIsLeftAlone() {
    var run = ScriptedRun(steps: 2)
    run.start("a", "b")
    run.write("a", "together")
    run.at(100)
    run.succeed("b")
    var session = Session(.auto)
    session.handle(run, at: 200)
    run.at(900)
    run.write("a", "soon")
    session.handle(run, at: 1000)
    #expect(session.scrolled == ["✓ b  100 ms"])
    session.handle([], at: 2000)
    #expect(session.scrolled == ["✓ b  100 ms", "together", "soon"])
    run.at(2100)
    run.write("a", "late")
    run.succeed("a")
    session.handle(run, at: 2200)
    #expect(
      session.scrolled.prefix(5) == ["✓ b  100 ms", "together", "soon", "late", "✓ a  2.1 s"])
  }

  @Test("long output is cut in the middle, and the rest is where the command says")
  func longOutputIsCut() {
    var run = ScriptedRun(steps: 2)
    run.start("a", "b")
    for line in 1...100 { run.write("a", "\(line)") }
    run.succeed("a")
    var session = Session(.auto)
    session.handle(run, at: 100)
    #expect(
      session.scrolled == ["✓ a  0 ms"] + (1...10).map { "  │ \($0)" }
        + ["  │ … 81 more lines: weft logs R a"] + (92...100).map { "  │ \($0)" })
    var short = ScriptedRun(steps: 2)
    short.start("a", "b")
    for line in 1...20 { short.write("a", "\(line)") }
    short.succeed("a")
    session = Session(.group)
    session.handle(short, at: 100)
    #expect(session.scrolled == ["✓ a  0 ms"] + (1...20).map { "  │ \($0)" })
  }

  @Test("an excerpt of output without events is read from the log", arguments: [2, 10_000])
  func excerptIsReadFromTheLog(lines: Int) {
    var run = ScriptedRun(steps: 2)
    run.start("a", "b")
    run.write("a", "first")
    for line in 1...lines { run.writeUnseen("a", "line \(line)") }
    run.succeed("a")
    var session = Session(.auto)
    session.log = run.log
    session.handle(run, at: 100)
    #expect(session.scrolled[1] == "  │ first" && session.scrolled.last == "  │ line \(lines)")
    #expect(session.scrolled.count == (lines == 2 ? 4 : 21))
    if lines > 2 { #expect(session.scrolled[11].hasSuffix("kB more: weft logs R a")) }
  }

  @Test(
    "lines without events are read from the log, none lost or shown twice",
    arguments: [OutputMode.auto, .stream])
  func gapsAreFilled(mode: OutputMode) {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    run.write("a", "1")
    var session = Session(mode)
    session.log = run.log
    session.handle(run, at: 100)
    run.writeUnseen("a", "2", "3")
    run.write("a", "4")
    run.writeUnseen("a", "5")
    session.log = run.log
    session.handle(run, at: 200)
    run.succeed("a")
    session.handle(run, at: 300)
    #expect(session.scrolled == ["1", "2", "3", "4", "5", "✓ a  0 ms"])
  }

  @Test("in the background nothing is kept, and the log is shown afterwards")
  func hiddenOutputIsShownLater() {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    run.write("a", "1")
    var session = Session(.stream)
    session.handle(run, at: 100)
    session.isHidden = true
    for line in 2...2000 { run.write("a", "\(line)") }
    session.handle(run, at: 200)
    session.handle([], at: 300)
    #expect(session.scrolled == ["1"])
    session.isHidden = false
    session.log = run.log
    session.handle([], at: 1000)
    #expect(session.scrolled.count == 2000 && session.scrolled.last == "2000")
  }

  @Test("a step that ends in the background is shown by an excerpt")
  func hiddenEndIsAnExcerpt() {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    var session = Session(.stream)
    session.isHidden = true
    for line in 1...200 { run.write("a", "\(line)") }
    run.succeed("a")
    session.log = run.log
    session.handle(run, at: 200)
    session.isHidden = false
    session.handle([], at: 1000)
    #expect(session.scrolled.count == 21 && session.scrolled[0] == "✓ a  0 ms")
    #expect(session.scrolled[11] == "  │ … 181 more lines: weft logs R a")
  }

  @Test(
    "a line that stays open is shown below the others: a prompt, or the state of a progress bar")
  func openLineIsShown() {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    run.write("a", "hello")
    var session = Session(.auto)
    session.openLine = Array("Name: ".utf8)
    session.handle(run, at: 100)
    #expect(!session.screen.lines.contains("Name:"), "it may end in a moment")
    #expect(session.reporter.nextRedraw == .milliseconds(300))
    session.handle([], at: 300)
    #expect(session.screen.lines.prefix(2) == ["hello", "Name: "])
    session.openLine = nil
    run.at(400)
    run.write("a", "Name: Ada")
    run.show("a", "40%")
    session.handle(run, at: 500)
    #expect(session.screen.lines.prefix(3) == ["hello", "Name: Ada", "40%"])
    run.write("a", "done")
    session.handle(run, at: 700)
    #expect(session.screen.lines.prefix(3) == ["hello", "Name: Ada", "done"])
    #expect(!session.screen.lines.contains("40%"))
  }

  @Test("each attempt shows its own lines")
  func attemptsAreShown() {
    var run = ScriptedRun(steps: 2)
    run.start("b", "a")
    run.write("a", "first")
    run.retry("a", attempt: 1, of: 2, after: 0)
    run.start("a", attempt: 2)
    run.write("a", "second")
    run.succeed("a", attempts: 2)
    var session = Session(.group)
    session.handle(run, at: 100)
    #expect(
      session.scrolled == [
        "✗ a  0 ms  exited with code 1; attempt 2 of 2 now", "  │ first", "✓ a  0 ms  at attempt 2",
        "  │ second",
      ])
  }

  @Test("elements of a long loop have lines if they have written something")
  func elementsAreShown() {
    var run = ScriptedRun(steps: 1)
    run.add(.groupStarted(StepAddress("up"), GroupStart(elements: 12)))
    for index in 0..<12 { run.start("up[\(index)]") }
    run.write("up[3]", "hello")
    for index in 0..<12 { run.succeed("up[\(index)]") }
    var session = Session(.auto)
    session.handle(run, at: 100)
    #expect(session.scrolled.prefix(2) == ["✓ up[3]  0 ms", "  │ hello"])
    #expect(session.scrolled.filter { $0.hasPrefix("✓") }.count == 1)
  }

  // MARK: Elsewhere

  private static func plain(
    _ run: ScriptedRun, _ output: OutputMode, isGitHub: Bool = false
  ) -> [String] {
    let settings = DisplaySettings(
      mode: .plain, annotatesForGitHub: isGitHub, run: StepOutputTests.run, output: output)
    return Collected.of(run, settings).text.split(separator: "\n").map(String.init)
      .filter { !$0.contains("started") }
  }

  @Test(
    "elsewhere, in each mode",
    arguments: [
      (
        .auto,
        [
          "[a] one", "[b] two", "weft: [a] succeeded in 50 ms",
          "weft: [b] failed after 50 ms: exited with code 1",
        ]
      ),
      (
        .stream,
        [
          "[a] one", "[b] two", "weft: [a] succeeded in 50 ms",
          "weft: [b] failed after 50 ms: exited with code 1",
        ]
      ),
      (
        .group,
        [
          "weft: [a] succeeded in 50 ms", "[a] one",
          "weft: [b] failed after 50 ms: exited with code 1", "[b] two",
        ]
      ),
      (
        .failed,
        [
          "weft: [a] succeeded in 50 ms", "weft: [b] failed after 50 ms: exited with code 1",
          "[b] two",
        ]
      ),
      (
        .none, ["weft: [a] succeeded in 50 ms", "weft: [b] failed after 50 ms: exited with code 1"]
      ),
    ] as [(OutputMode, [String])])
  func plainLines(mode: OutputMode, lines: [String]) {
    let shown = StepOutputTests.plain(StepOutputTests.two(), mode).dropFirst()
    #expect(Array(shown.prefix(lines.count)) == lines)
    #expect(shown.contains("  | two"), "the summary has the last lines")
  }

  @Test func plainOmissionIsAMessage() {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    for line in 1...30 { run.write("a", "\(line)") }
    run.succeed("a")
    let lines = StepOutputTests.plain(run, .group)
    #expect(
      lines.count == 22 && lines[12] == "weft: [a] ... 11 more lines: weft logs R a", "\(lines)")
  }

  @Test("in GitHub Actions, the lines of each step are in groups, in order, and none is missing")
  func gitHubGroups() {
    var run = ScriptedRun(steps: 3)
    run.start("a")
    run.write("a", "1")
    run.start("b")
    run.write("a", "2")
    run.writeUnseen("a", "3")
    run.write("b", "::error::x")
    run.succeed("b")
    run.write("a", "4")
    run.succeed("a")
    run.start("c")
    run.fail("c")
    let lines = StepOutputTests.plain(run, .auto, isGitHub: true).dropFirst()
    #expect(
      Array(lines.prefix(15)) == [
        "::group::a", "[a] 1", "::endgroup::", "::group::b", "[b] ::error::x", "::endgroup::",
        "weft: [b] succeeded in 0 ms", "::group::a (continued)", "[a] 2", "[a] 3", "[a] 4",
        "::endgroup::", "weft: [a] succeeded in 0 ms",
        "weft: [c] failed after 0 ms: exited with code 1",
        "::error title=c::exited with code 1",
      ])
  }

  @Test("a group that many lines wait for is shown in parts")
  func gitHubGroupsAreBounded() {
    var run = ScriptedRun(steps: 2)
    run.start("a", "b")
    let line = String(repeating: "x", count: 1000)
    for _ in 0..<1000 { run.write("a", line) }
    run.succeed("a")
    let lines = StepOutputTests.plain(run, .auto, isGitHub: true)
    #expect(lines.count { $0.hasPrefix("[a] x") } == 1000)
    #expect(lines.count { $0.hasPrefix("::group::a (continued)") } == 3)
    #expect(lines.count { $0 == "::endgroup::" } == 4)
  }
}

import Testing
import WeftJSON
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftReporting

@Suite struct PlainReporterTests {
  private static let settings = DisplaySettings(mode: .plain)

  private static func lines(of step: String, in run: ScriptedRun) -> [String] {
    Collected.of(run, settings).text.split(separator: "\n").map(String.init)
      .filter { $0.hasPrefix("[\(step)] ") }
  }

  @Test("O08: plain output has what a line shows in the end, and nothing it showed before")
  func onlyTheLastStateOfALineIsShown() {
    let collected = Collected.of(SampleRuns.progress, DisplaySettings(mode: .plain))
    let text = String(decoding: collected.bytes, as: UTF8.self)
    let shown = text.split(separator: "\n").filter { $0.hasPrefix("[") }
    #expect(shown == ["[fetch] fetched", "[unpack] 100 files"])
  }

  @Test("O11: lines of steps that write together stay whole and in order")
  func linesOfManyStepsAreWhole() {
    var run = ScriptedRun(steps: 1000)
    let steps = (0..<1000).map { "s\($0)" }
    for step in steps { run.start(step) }
    for line in 0..<20 {
      for step in steps { run.write(step, "line \(line) of \(step)") }
    }
    for step in steps { run.succeed(step) }
    var shown: [Substring: [Substring]] = [:]
    for line in Collected.of(run, PlainReporterTests.settings).text.split(separator: "\n")
    where line.hasPrefix("[") {
      let parts = line.dropFirst().split(separator: "] ", maxSplits: 1)
      shown[parts[0], default: []].append(parts[1])
    }
    #expect(shown.count == 1000)
    for step in steps {
      #expect(shown[step[...]] == (0..<20).map { "line \($0) of \(step)"[...] })
    }
  }

  @Test("O12: output that a slow reader missed is read from the log, none lost or told twice")
  func droppedOutputIsReadFromTheLog() {
    var run = ScriptedRun(steps: 2)
    run.start("a", "b")
    run.write("a", "1")
    run.writeUnseen("a", "2", "3")
    run.writeUnseen("b", "x")
    run.write("a", "4")
    run.writeUnseen("a", "5")
    run.succeed("a", "b")
    run.finish()
    #expect(PlainReporterTests.lines(of: "a", in: run) == (1...5).map { "[a] \($0)" })
    #expect(PlainReporterTests.lines(of: "b", in: run) == ["[b] x"])
  }

  @Test("O12: a line that was begun in a gap and ended after it is told whole")
  func aLineAcrossAGapIsWhole() {
    // The log: "1\n", "be", "err\n", "gun\n"; the event of "begun" has the offset of its beginning.
    let log = Array("1\nbeerr\ngun\n".utf8)
    func output(_ text: String, _ stream: StepOutput.Stream, at offset: UInt64) -> RunEvent.Kind {
      let bytes = Array(text.utf8)[...]
      let line = StepOutput(stream: stream, bytes: bytes, ending: .newline, logOffset: offset)
      return .stepOutput(StepAddress("a"), line)
    }
    var run = ScriptedRun(steps: 1)
    run.start("a")
    run.add(output("1", .stdout, at: 0))
    run.add(.outputDropped(OutputGap(sequences: 5...5, count: 1, bytes: 0)))
    run.add(output("err", .stderr, at: 4))
    run.add(output("begun", .stdout, at: 2))
    run.succeed("a")
    var reporter = Reporter(PlainReporterTests.settings, labels: StepLabels())
    var text = ""
    reporter.handle(
      run.events, now: .zero, size: { DisplaySize(columns: 80, rows: 24) },
      log: { Array(log[Int($1.lowerBound)..<Int($1.upperBound)]) },
      write: { text += String(decoding: $0, as: UTF8.self) })
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("[a]") }
    #expect(lines == ["[a] 1", "[a] be", "[a] err", "[a] begun"])
  }

  @Test func aStepOfAClusterIsSubmittedAndThenStarts() {
    var run = ScriptedRun(steps: 2)
    for (step, job) in [("a", .slurm), ("b", .local), ("c", nil)] as [(String, JobKind?)] {
      run.start(step, attempt: 1, job: job)
      if job == .slurm { run.add(.stepBegun(StepAddress(step), attempt: 1)) }
      run.succeed(step)
    }
    let lines = Collected.of(run, PlainReporterTests.settings).text.split(separator: "\n")
    let words = lines.filter { !$0.contains("succeeded") }.dropFirst()
      .compactMap { $0.split(separator: " ").last }
    #expect(words.prefix(4) == ["submitted", "started", "started", "started"])
  }

  @Test("a large log is read in parts, and written in parts")
  func aLargeLogTakesNoMemory() {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    let line = String(repeating: "x", count: 999)
    for _ in 0..<2000 { run.writeUnseen("a", line) }
    run.succeed("a")
    var largestRead = 0
    var largestWrite = 0
    var shown = 0
    var reporter = Reporter(PlainReporterTests.settings, labels: StepLabels())
    reporter.handle(
      run.events, now: .zero, size: { DisplaySize(columns: 80, rows: 24) },
      log: { step, range in
        largestRead = max(largestRead, range.count)
        return run.log(step, range)
      },
      write: { bytes in
        largestWrite = max(largestWrite, bytes.count)
        shown += bytes.count { $0 == UInt8(ascii: "\n") }
      })
    #expect(shown == 2000 + 3)
    #expect(largestRead <= 64 << 10)
    #expect(largestWrite <= 160 << 10)
  }

  @Test("a log that was cut ends what can be read of it")
  func aLogThatWasCutIsNoEndlessLoop() {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    run.writeUnseen("a", "lost")
    run.fail("a")
    run.finish()
    var reporter = Reporter(PlainReporterTests.settings, labels: StepLabels())
    var text = ""
    reporter.handle(
      run.events, now: .zero, size: { DisplaySize(columns: 80, rows: 24) }, log: { _, _ in [] },
      write: { text += String(decoding: $0, as: UTF8.self) })
    #expect(text.hasSuffix("0 of 1 step succeeded, 1 failed in 0 ms\n"))
    #expect(!text.contains("lost"))
  }

  @Test("O05: a line without end is shown in pieces")
  func anEndlessLineIsShownInPieces() {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    let piece = String(repeating: "x", count: 64 << 10)
    for _ in 0..<3 { run.write("a", piece, ending: .partial) }
    run.write("a", "end")
    run.succeed("a")
    #expect(
      PlainReporterTests.lines(of: "a", in: run).map(\.utf8.count)
        == [65_540, 65_540, 65_540, 7])
  }

  @Test func partsOfALineAreJoinedStreamByStream() {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    run.write("a", "out ", ending: .partial)
    run.write("a", "err ", to: .stderr, ending: .partial)
    run.write("a", "put")
    run.write("a", "or", to: .stderr, ending: .endOfStream)
    run.write("a", "unfinished", ending: .partial)
    run.succeed("a")
    #expect(
      PlainReporterTests.lines(of: "a", in: run) == ["[a] out put", "[a] err or", "[a] unfinished"])
  }

  @Test("O10: nothing that a step writes can be a line of Weft or a command of GitHub Actions")
  func outputIsInert() {
    for line in SampleRuns.hostileLines + [Array("\r::error::x".utf8), Array("#\u{AD}#[x]".utf8)] {
      var run = ScriptedRun(steps: 1)
      run.start("a")
      run.write("a", bytes: line)
      run.fail("a")
      run.finish()
      let settings = DisplaySettings(mode: .plain, annotatesForGitHub: true)
      let collected = Collected.of(run, settings)
      let lines = collected.bytes
        .split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        .map { String(decoding: $0, as: UTF8.self) }
      #expect(
        lines.filter { $0.hasPrefix("::") } == [
          "::group::a", "::endgroup::", "::error title=a::exited with code 1",
        ])
      #expect(lines.filter { $0.hasPrefix("weft: ") }.count == 3)
      for line in lines {
        #expect(!line.filter { $0.isASCII && $0 > " " }.contains("##[") || line.contains(" ["))
      }
    }
  }

  @Test(
    "X31, O10, S20: no key is a line of Weft, a command of GitHub Actions or a terminal's",
    arguments: [
      "x] succeeded in 0.1 s: all good", "##[error]no", "##", "a\u{202E}txt.exe", "\u{1B}[2J",
      "\n::error::x",
    ], [DisplaySettings.Mode.plain, .live])
  func keysAreInert(key: String, mode: DisplaySettings.Mode) {
    // Keys with some of these are rejected, but a reporter does not rely on that.
    let address = StepAddress("up").element(key)
    for isGitHub in [false, true] where !isGitHub || mode == .plain {
      var run = ScriptedRun(steps: 1)
      run.add(.groupStarted("up", GroupStart(elements: 1)))
      run.start(address.text)
      run.write(address.text, "hello")
      run.add(.stepAsking(address, message: "ok?"))
      run.add(.groupStarted(address, GroupStart(attempt: 2)))
      run.fail(address.text)
      run.add(.stepSkipped("b", .dependencyFailed(address)))
      run.finish()
      let settings = DisplaySettings(mode: mode, annotatesForGitHub: isGitHub)
      let collected = Collected.of(run, settings)
      let text = collected.text
      for line in text.split(separator: "\n") {
        #expect(!line.hasPrefix("weft: [x]") && !line.unicodeScalars.contains("\u{202E}"))
        let isCommand =
          line.hasPrefix("::error title=up[") || line.hasPrefix("::group::up[")
          || line == "::endgroup::"
        #expect(!line.hasPrefix("::") || isCommand && isGitHub)
        #expect(!line.contains("\u{1B}[2J") || mode == .live)
        if isGitHub { #expect(!line.filter { $0 > " " }.contains("##[error")) }
      }
    }
  }

  @Test("X60: why nothing is tried again is told after several attempts, too", arguments: [1, 7])
  func reasonForNoRetryIsShown(attempts: Int) {
    for mode in [DisplaySettings.Mode.plain, .live] {
      var run = ScriptedRun(steps: 1)
      run.start("a")
      run.fail("a", attempts: attempts, notRetried: "the time of \"within\" is over")
      run.finish()
      let collected = Collected.of(run, DisplaySettings(mode: mode))
      let text = collected.text
      #expect(text.contains("not retried: the time of \"within\" is over"), "\(text)")
    }
  }

  @Test("X52: outputs are shown as they are in every locale")
  func outputsAreExact() {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    run.succeed("a")
    run.add(
      .runFinished(
        RunEnd(
          outcome: .success, firstFailure: nil, cancellation: nil, duration: .zero,
          counts: OutcomeCounts(succeeded: 1, failed: 0, tolerated: 0, cancelled: 0, skipped: 0),
          outputs: [ReportedOutput(name: "word", value: .some(.string("h\u{e9}\u{1B}[2J")))])))
    let collected = Collected.of(run, DisplaySettings(mode: .plain, usesUnicode: false))
    let text = collected.text
    #expect(text.contains("word: h\u{e9}\\x1b[2J"), "\(text)")
  }

  @Test("X39: a terminal gets no bytes of a log that it would obey", arguments: [true, false])
  func logsAreCleanOnATerminal(isTerminal: Bool) {
    let settings = DisplaySettings(mode: .plain, isTerminal: isTerminal)
    var lines = LogLines(settings, of: nil)
    let bytes = Array("a\u{1B}]52;c;eA==\u{7}b\n".utf8)
    let shown = String(decoding: lines.take(bytes), as: UTF8.self)
    #expect(shown == (isTerminal ? "a\\x1b]52;c;eA==\\x07b\n" : "a\u{1B}]52;c;eA==\u{7}b\n"))
  }

  @Test func leftoverProcessesAreNamed() {
    var run = ScriptedRun(steps: 1)
    run.start("a")
    for event in EveryKind.events {
      if case .stepFinished(_, let end) = event.kind, !end.leftovers.isEmpty { run.add(event.kind) }
    }
    let text = Collected.of(run, PlainReporterTests.settings).text
    #expect(
      text.contains(
        "; ended processes that it left running: 99 (sleep), 100 (x) \\x1b[2J); "
          + "could not end: 101 (dd)\n"))
  }
}

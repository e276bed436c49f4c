import Testing
import WeftDefinition
import WeftDiagnostics
import WeftExecution
import WeftJSON
import WeftPlanning
import WeftReporting

@testable import WeftEvents
@testable import WeftRecord
@testable import WeftReports

@Suite struct ReportFormatTests {
  @Test(arguments: [
    ("a.md", ReportFormat.markdown), ("x/y.xml", .junit), ("run.trace.json", .trace),
    ("trace.json", .trace), ("A.CSV", .csv), ("r.html", .html), ("X.HTML", .html),
  ])
  func theEndingOfANameStandsForAFormat(name: String, format: ReportFormat) {
    #expect(ReportFormat(ending: name) == format)
  }

  @Test(arguments: ["a", "a.json", "a.md/b", "", "csv", "a.txt", "/", "a.htm", "a.markdown"])
  func otherEndingsStandForNone(name: String) {
    #expect(ReportFormat(ending: name) == nil)
  }

  // MARK: Hostile texts

  static let hostile =
    "</script><script>alert(1)</script>]]>-->&amp;<!--\"'`|=1+1\u{202E}x\u{2028}\u{1B}[31m\u{0}\u{FFFF}"

  private static var run: Journal {
    var journal = Journal(name: hostile, file: hostile)
    let step = StepAddress("each").element(hostile)
    journal.step(step, queued: 0, started: 0, ended: 10, .failure)
    journal.log(step, hostile + "\n" + String(repeating: "w", count: 1 << 20) + hostile + "\n")
    journal.add(
      .stepSkipped("b", .dependencyFailed(step)), at: 10)
    journal.add(
      .runWarning(RunWarning(kind: .scarceResources, message: hostile, help: hostile)), at: 10)
    journal.finish(.failure, at: 10, first: step)
    return journal
  }

  @Test(arguments: ReportFormat.allCases)
  func noTextControlsATerminalOrReordersALine(format: ReportFormat) {
    let bytes = Self.run.reported().rendered(as: format)
    let text = String(validating: bytes, as: UTF8.self)
    #expect(text != nil && bytes.last == UInt8(ascii: "\n"))
    let bad = text!.unicodeScalars.filter {
      $0 != "\n" && $0 != "\r" && ($0.value < 0x20 || TerminalText.escape($0) != nil)
    }
    #expect(bad.isEmpty)
    #expect(bytes.count < 1 << 20)
  }

  @Test func theTraceIsJSON() throws {
    let bytes = Self.run.reported().rendered(as: .trace)
    let (root, problems) = JSONReader.read(SourceFile(path: "t", bytes: bytes), beside: nil)
    #expect(problems.isEmpty && root?.kind == .object)
  }

  @Test(arguments: ReportFormat.allCases)
  func secretsOfTheFileAreMasked(format: ReportFormat) throws {
    var journal = Journal(name: "with hunter2-secret")
    journal.step("a", queued: 0, started: 0, ended: 10, .failure)
    journal.finish(.failure, at: 10, first: "a")
    let plan = Planner.plan(
      Workflow(name: "with hunter2-secret", steps: [Step("a", run: ["echo", "hunter2-secret"])])
    ).plan
    let mask = SecretMask([try Secret(Array("hunter2-secret".utf8))])
    let text = String(
      decoding: journal.reported(plan, mask: mask).rendered(as: format), as: UTF8.self)
    #expect(!text.contains("hunter2"))
  }

  @Test(arguments: ReportFormat.allCases)
  func aDamagedRunSaysSo(format: ReportFormat) {
    var journal = Journal()
    journal.step("a", queued: 0, started: 0, ended: 10)
    let damage = JournalError(kind: .checksum, file: "journal.jsonl", line: 7, offset: 99)
    let run = journal.reported(damage: damage)
    #expect(run.isDamaged)
    let text = String(decoding: run.rendered(as: format), as: UTF8.self)
    if format != .csv { #expect(text.contains("journal.jsonl:7:99")) }
    #expect(text.contains("succeeded") || format == .junit || format == .markdown)
  }
}

@Suite struct HTMLReportTests {
  private func text(_ journal: Journal, _ plan: Plan? = nil) -> String {
    String(decoding: journal.reported(plan).rendered(as: .html), as: UTF8.self)
  }

  /// The data of the page, as a browser reads them.
  private func data(_ page: String) throws -> JSONValue {
    let start = try #require(page.firstRange(of: "id=\"data\">")?.upperBound)
    let end = try #require(page[start...].firstRange(of: "</script>")?.lowerBound)
    let bytes = Array(page[start..<end].utf8)
    let (root, problems) = JSONReader.read(SourceFile(path: "d", bytes: bytes), beside: nil)
    #expect(problems.isEmpty)
    return JSONValue(try #require(root))
  }

  @Test func thePolicyAllowsOnlyItsOwnScriptAndStyle() {
    let page = text(Journal())
    #expect(page.components("<script") == 2 && page.components("</script>") == 2)
    #expect(page.contains("default-src 'none'") && !page.contains("unsafe"))
    #expect(!page.contains("http://") || page.contains("http://www.w3.org/2000/svg"))
    for word in ["innerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "src="] {
      #expect(!page.contains(word))
    }
  }

  @Test func hostileTextsStayTexts() throws {
    var journal = Journal(name: ReportFormatTests.hostile, file: ReportFormatTests.hostile)
    let step = StepAddress("each").element(ReportFormatTests.hostile)
    journal.step(step, queued: 0, started: 0, ended: 10, .failure)
    journal.log(step, ReportFormatTests.hostile)
    journal.finish(.failure, at: 10, first: step)
    let page = text(journal)
    #expect(page.components("<script") == 2 && page.components("</script>") == 2)
    #expect(!page.contains("<!--"))
    guard case .object(let members) = try data(page) else {
      Issue.record("not an object")
      return
    }
    #expect(members.contains { $0.key == "title" && "\($0.value)".contains("</script>") })
  }

  @Test func aLargeReportIsSmallEnough() {
    var journal = Journal(slots: 4)
    for number in 0..<10_000 {
      let step = StepAddress("compile").element("src/module-\(number)/file.c")
      let start = number / 4 * 10
      journal.step(
        step, queued: 0, started: start, ended: start + 10, number % 50 == 0 ? .failure : .success)
      journal.log(step, String(repeating: "a line of output of some length\n", count: 30))
    }
    #expect(text(journal).utf8.count < 3_000_000)
  }
}

@Suite struct JUnitReportTests {
  private func text(_ journal: Journal, _ plan: Plan? = nil) -> String {
    String(decoding: journal.reported(plan).rendered(as: .junit), as: UTF8.self)
  }

  @Test func aRetriedFailureIsAFailureWithReruns() {
    var journal = Journal()
    for attempt in 1...3 {
      journal.add(.stepStarted("a", attempt: attempt), at: attempt * 10)
      if attempt < 3 {
        journal.add(
          .stepRetrying("a", Journal.retry(attempt, after: 5, delay: 0)), at: attempt * 10 + 5)
      }
    }
    journal.add(.stepFinished("a", Journal.end(.failure, after: 5, attempts: 3)), at: 35)
    journal.log("a", "one\ntwo & three\n")
    let text = text(journal)
    #expect(text.contains(#"tests="1" errors="0" skipped="0" failures="1""#))
    #expect(text.components("<failure message=\"exited with code 3\" type=\"exit:3\">") == 1)
    #expect(text.components("<rerunFailure ") == 2 && text.components("<flakyFailure") == 0)
    #expect(text.contains("<system-out>one\ntwo &amp; three\n</system-out>"))
  }

  @Test func anAttemptBeforeASuccessIsFlaky() {
    var journal = Journal()
    journal.add(.stepStarted("a", attempt: 1), at: 0)
    journal.add(.stepRetrying("a", Journal.retry(1, after: 5, delay: 0)), at: 5)
    journal.add(.stepStarted("a", attempt: 2), at: 5)
    journal.add(.stepFinished("a", Journal.end(.success, after: 5, attempts: 2)), at: 10)
    let text = text(journal)
    #expect(text.contains(#"skipped="0" failures="0""#))
    #expect(text.components("<flakyFailure ") == 1 && text.components("<failure") == 0)
  }

  @Test(arguments: [
    (Outcome.failure, Outcome.success, CancelReason?.none, "skipped"),
    (.cancelled, .cancelled, .raceWon("r", by: "b"), "skipped"),
    (.cancelled, .cancelled, .signal("INT"), "error"),
    (.cancelled, .cancelled, .runTimeout(.seconds(1)), "error"),
    (.failure, .failure, nil, "failure"),
  ])
  func outcomesBecomeResults(
    outcome: Outcome, conclusion: Outcome, reason: CancelReason?, element: String
  ) {
    var journal = Journal()
    journal.add(.stepStarted("a", attempt: 1), at: 0)
    journal.add(
      .stepFinished(
        "a", Journal.end(outcome, after: 5, conclusion: conclusion, because: reason)), at: 5)
    #expect(text(journal).components("<\(element) ") == 1)
  }

  private static let group = Planner.plan(
    Workflow(steps: [Step("g", parallel: [Step("a", run: ["a"]), Step("b", run: ["b"])])])
  ).plan

  @Test func aFailureThatItsGroupToleratesIsSkippedInAllFormats() {
    var journal = Journal()
    journal.add(.groupStarted("g", GroupStart()), at: 0)
    journal.step("a", queued: 0, started: 0, ended: 10, .failure)
    journal.step("b", queued: 0, started: 0, ended: 10)
    journal.add(
      .groupFinished(
        "g",
        GroupEnd(
          outcome: .failure, conclusion: .success, failure: Journal.failure, cause: "a",
          duration: .milliseconds(10))), at: 10)
    journal.finish(.success, at: 10)
    for plan in [Self.group, nil] {
      let run = journal.reported(plan)
      #expect(text(journal, plan).contains(#"tests="2" errors="0" skipped="1" failures="0""#))
      #expect(run.failures.isEmpty && run.firstFailure == nil)
      #expect(run.timeline["a"].spans.last?.verdict == .tolerated)
      for format in [ReportFormat.csv, .markdown] {
        let text = String(decoding: run.rendered(as: format), as: UTF8.self)
        #expect(!text.contains("failed") && !text.contains("Failures"))
      }
    }
  }

  @Test(arguments: [
    (CancelReason.groupTimeout("g", .seconds(1)), Outcome.success, "skipped"),
    (.groupTimeout("g", .seconds(1)), .failure, "error"),
    (.failure(of: "a"), .success, "skipped"), (.failure(of: "a"), .failure, "error"),
  ])
  func aMemberCancelledByAToleratedFailureIsSkipped(
    reason: CancelReason, conclusion: Outcome, element: String
  ) {
    var journal = Journal()
    journal.add(.groupStarted("g", GroupStart()), at: 0)
    journal.step("a", queued: 0, started: 0, ended: 5, .failure)
    journal.add(.stepStarted("b", attempt: 1), at: 0)
    journal.add(.stepFinished("b", Journal.end(.cancelled, after: 5, because: reason)), at: 5)
    journal.add(
      .groupFinished(
        "g",
        GroupEnd(
          outcome: .failure, conclusion: conclusion, failure: Journal.failure, cause: "a",
          duration: .milliseconds(5))), at: 5)
    // Another step fails the run.
    journal.step("c", queued: 0, started: 0, ended: 10, .failure)
    journal.finish(.failure, at: 10, first: "c")
    let (text, isSkipped) = (text(journal, Self.group), element == "skipped")
    let (errors, skipped) = (isSkipped ? 0 : 1, isSkipped ? 2 : 0)
    #expect(text.contains(#"errors="\#(errors)" skipped="\#(skipped)""#))
  }

  @Test func aFailureIsNotToleratedByAGroupThatFailed() {
    var journal = Journal()
    journal.step("a", queued: 0, started: 0, ended: 10, .failure)
    journal.add(
      .groupFinished(
        "g",
        GroupEnd(
          outcome: .failure, conclusion: .failure, failure: Journal.failure, cause: "a",
          duration: .milliseconds(10))), at: 10)
    journal.finish(.failure, at: 10, first: "a")
    #expect(text(journal, Self.group).contains(#"errors="0" skipped="0" failures="1""#))
  }

  @Test func aGroupThatFailedByItselfIsAnErrorWithItsCause() {
    var journal = Journal()
    let failure = StepFailure(classes: [.timeout], message: "timed out after 5s", help: nil)
    journal.step("a", queued: 0, started: 0, ended: 10)
    journal.add(
      .groupFinished(
        "g",
        GroupEnd(
          outcome: .failure, conclusion: .failure, failure: failure, cause: nil,
          duration: .milliseconds(10))), at: 10)
    journal.finish(.failure, at: 10, first: "g")
    let run = journal.reported(Self.group)
    #expect(text(journal, Self.group).contains(#"tests="2" errors="1" skipped="0" failures="0""#))
    #expect(text(journal, Self.group).contains(#"<testcase name="g" "#))
    for format in [ReportFormat.junit, .markdown, .html] {
      #expect(
        String(decoding: run.rendered(as: format), as: UTF8.self).contains("timed out after 5s"))
    }
  }

  @Test(arguments: [Outcome.failure, .cancelled])
  func aRunThatDidNotSucceedIsNeverGreen(outcome: Outcome) {
    var journal = Journal()
    journal.step("a", queued: 0, started: 0, ended: 10)
    journal.finish(outcome, at: 10)
    #expect(text(journal).contains(#"tests="2" errors="1""#))
    var damaged = Journal()
    damaged.step("a", queued: 0, started: 0, ended: 10)
    let damage = JournalError(kind: .checksum, file: "journal.jsonl", line: 7, offset: 99)
    let bytes = damaged.reported(damage: damage).rendered(as: .junit)
    #expect(String(decoding: bytes, as: UTF8.self).contains(#"tests="2" errors="1""#))
  }

  @Test(arguments: [(Outcome.failure, "interrupted", "error"), (.success, "tolerated", "skipped")])
  func aStepLeftInDoubtHasTheAttemptsThatStarted(
    conclusion: Outcome, verdict: String, element: String
  ) {
    var journal = Journal()
    journal.add(.stepStarted("a", attempt: 1), at: 0)
    journal.add(.stepSkipped("b", .notSelected), at: 20)
    for start in [30, 60] {
      journal.resume(at: start)
      journal.add(.stepQueued("a"), at: start + 1)
      journal.add(.stepStarted("a", attempt: 1), at: start + 1)
      let failure = StepFailure(classes: [.inDoubt], message: "in doubt", help: nil)
      journal.add(
        .stepFinished(
          "a",
          StepEnd(
            outcome: .failure, conclusion: conclusion, attempts: 1, exit: nil, failure: failure,
            cancellation: nil, duration: .zero)), at: start + 2)
    }
    journal.finish(conclusion, at: 63)
    let run = journal.reported()
    #expect(run.timeline["a"].attempts == 1)
    #expect(
      run.detail.steps.map { run.verdict(of: $0.step, at: $0.address).rawValue }[0] == verdict)
    #expect(text(journal).components("<\(element) ") == (element == "skipped" ? 2 : 1))
  }

  @Test func theReasonOfACancellationIsInTheHead() {
    var journal = Journal()
    journal.step("a", queued: 0, started: 0, ended: 10)
    journal.add(
      .runFinished(
        RunEnd(
          outcome: .cancelled, firstFailure: nil, cancellation: .signal("INT"),
          duration: .milliseconds(10), counts: OutcomeCounts())), at: 10)
    let text = String(decoding: journal.reported().rendered(as: .markdown), as: UTF8.self)
    #expect(text.split(separator: "\n")[0].contains(CancelReason.signal("INT").sentence))
  }

  @Test func anInterruptedStepIsAnErrorAndWhatWasNotReachedIsSkipped() {
    let plan = Planner.plan(
      Workflow(steps: [Step("a", run: ["a"]), Step("b", run: ["b"])])
    ).plan
    var journal = Journal()
    journal.add(.stepStarted("a", attempt: 1), at: 0)
    let text = text(journal, plan)
    #expect(text.contains(#"tests="2" errors="1" skipped="1""#))
    #expect(text.contains("type=\"interrupted\"") && text.contains("message=\"not started\""))
  }
}

extension String {
  /// The number of times that a text occurs.
  func components(_ part: String) -> Int {
    var (count, rest) = (0, self[...])
    while let found = rest.firstRange(of: part) {
      (count, rest) = (count + 1, rest[found.upperBound...])
    }
    return count
  }
}

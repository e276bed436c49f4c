import WeftDefinition
import WeftHTTP
import WeftJSON
public import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

/// Records of every kind, with everything that they can hold.
enum SampleRecords {
  static let run = RunID("20261121-151337-4f2a9c")
  static let start = WallTime(nanoseconds: 1_795_274_017_123_000_000)

  static let opening: RecordOpening = {
    var opening = RecordOpening(
      run: run, version: "1.2.3", workflow: "release \"two\"", file: "flöw.json", hash: "ab12",
      nested: [RecordedFile(path: "child.json", hash: "cd34")], directory: "/home/me\n",
      inputs: [
        ReportedOutput(name: "count", value: .int(3)),
        ReportedOutput(name: "null", value: .some(.null)),
        ReportedOutput(name: "token", value: .none),
      ],
      excluded: ["b", "c.2"], engine: ProcessIdentity(id: 1, startTicks: 77),
      bootID: "7d4c0c3e-2f8a-4a35-9d3e-6b1f0a5c9e11", cookie: cookie)
    (opening.onFailure, opening.timeout) = (.continue, .milliseconds(1500))
    return opening
  }()
  static let cookie = EngineCookie("00112233445566778899aabbccddeeff")

  static let failure = StepFailure(
    classes: [.exit(3), .exit], message: "exited with code 3", help: "look")
  static let usage = ResourceUsage(
    userTime: .microseconds(12), systemTime: .microseconds(34), minorFaults: 5, majorFaults: 6,
    voluntarySwitches: 7, involuntarySwitches: 8, peakMemoryBytes: 9 << 20)
  static var http: HTTPSummary {
    var figures = ExchangeFigures()
    figures.requests = 3
    (figures.bodyBytesSent, figures.bodyBytesReceived, figures.headerBytesReceived) = (1, 2, 3)
    (figures.remoteAddress, figures.remotePort) = ("::1", 443)
    figures.protocolVersion = "HTTP/2"
    figures.timings.nameResolved = .microseconds(1)
    figures.timings.connected = .microseconds(2)
    figures.timings.secured = .microseconds(3)
    figures.timings.firstByte = .microseconds(4)
    figures.timings.total = .microseconds(5)
    return HTTPSummary(
      method: "GET", url: "https://h/\"x\"", status: 200, redirects: 1, savedTo: "f",
      cache: "stale", staleReason: "no connection", figures: figures)
  }
  /// The summary of a fresh response from the cache.
  static var unasked: HTTPSummary {
    HTTPSummary(
      method: "GET", url: "https://h/", status: 200, cache: "fresh", figures: ExchangeFigures())
  }
  static let process = LeftoverProcess(process: 4711, command: "sleep \u{1} 100")
  static let outputs = [
    ReportedOutput(name: "a", value: .some(.object(["x": .array([.bool(true), .null])]))),
    ReportedOutput(name: "s", value: .none),
  ]

  static var wholeEnd: StepEnd {
    var end = StepEnd(
      outcome: .failure, conclusion: .success, attempts: 2, exit: .code(3), failure: failure,
      duration: .milliseconds(5), usage: usage, outputBytes: 12, outputTruncated: true,
      logBytes: 40, outputs: outputs, leftovers: [process], unkillable: [process]
    ).having(http)
    end.notRetried = "the budget is spent"
    return end
  }

  static let retry = Retry(
    attempt: 1, of: 3, failure: failure, exit: .signal("SEGV"), duration: .microseconds(7),
    delay: .seconds(2), usage: usage)

  static let reasons: [CancelReason] = [
    .requested, .signal("INT"), .runTimeout(.seconds(9)), .groupTimeout("g", .seconds(1)),
    .failure(of: "a"), .raceWon("r", by: "b"), .joined("j"), .recordLost,
    .filesChanged,
  ]

  static let events: [RunEvent.Kind] =
    [
      .runStarted(
        RunStart(
          run: run, workflow: "w", file: "f", startedAt: start.advanced(by: .milliseconds(1)),
          stepCount: 3, groupCount: 1,
          maxParallel: 2, engineProcess: 99, containment: .groupAndCookie, resumption: 0)),
      .stepQueued("a"), .stepQueued("a", waitingFor: [PoolRequest("d\"b", slots: 2)]),
      .stepQueued("a", because: .pool("d\"b", holders: ["b"])),
      .stepQueued("a", because: .rate("p")),
      .stepQueued("a", because: .group("g")), .stepQueued("a", because: .slot),
      .stepStarted("a", attempt: 1), .stepBegun("a", attempt: 1),
      .stepAsking("a", message: "ship \"it\"?"),
      .stepRetrying("a", retry),
      .runWaiting(
        RunPause(
          requests: [ApprovalRequest(step: "a", message: "m\n"), .init(step: "b", message: "")],
          duration: .microseconds(8),
          counts: OutcomeCounts(succeeded: 1, failed: 2, tolerated: 3, cancelled: 4, skipped: 5),
          leftovers: [process], unkillable: [process])),
      .stepSkipped("b", .dependencyFailed("a")), .stepSkipped("b", .heldBack(by: "a")),
      .stepSkipped("b", .condition(of: "b")), .stepSkipped("b", .notSelected),
      .groupStarted("g", GroupStart(attempt: 2)), .groupStarted("g", GroupStart(elements: 5)),
      .groupRetrying("g", retry),
      .groupFinished(
        "g",
        GroupEnd(
          outcome: .failure, conclusion: .failure, failure: failure, cause: "a", attempts: 2,
          winner: "b",
          notStarted: ElementsNotStarted(elements: 4, steps: 8, outcome: .skipped),
          duration: .microseconds(3), outputs: outputs)),
      .runWarning(RunWarning(kind: .jobserver, message: "m", help: "h")),
      .runFinished(
        RunEnd(
          outcome: .failure, firstFailure: "a", cancellation: .requested, duration: .seconds(4),
          counts: OutcomeCounts(succeeded: 1, failed: 2, tolerated: 3, cancelled: 4, skipped: 5),
          failure: failure, outputs: outputs, leftovers: [process], unkillable: [process])),
    ] + reasons.map { .runCancelling($0) } + reasons.map { .stepSkipped("c", .cancelled($0)) }

  static let kinds: [RunRecord.Kind] =
    [.opened(opening)] + events.map { .event($0) } + [
      .event(.stepFinished("a", wholeEnd), keeping: RecordedValues()),
      .event(.stepFinished("a", wholeEnd.having(unasked)), keeping: RecordedValues()),
      .event(.stepCached("a", wholeEnd), keeping: RecordedValues(stdout: .text("kept"))),
      .event(
        .stepFinished(
          "deploy[eu/west \\[\u{fc}\u{301}\\]\\ ]",
          StepEnd(
            outcome: .cancelled, conclusion: .cancelled, attempts: 1, exit: nil,
            cancellation: .requested, duration: .zero)),
        keeping: RecordedValues(
          stdout: .text("one\ntwo \\ \"three\" \u{1F600}"), stderr: .tooLong,
          returned: .value(.object(["k": .string("v")])))),
      .event(
        .stepFinished(
          "b",
          StepEnd(
            outcome: .success, conclusion: .success, attempts: 1, exit: .code(0), duration: .zero)),
        keeping: RecordedValues(stdout: .secret, stderr: .notUTF8, returned: .secret)),
      .event(
        .stepFinished("a", wholeEnd),
        keeping: RecordedValues(answer: RecordedResponse(headers: .secret))),
      .event(
        .stepFinished("a", wholeEnd),
        keeping: RecordedValues(
          answer: RecordedResponse(
            headers: .value(.object(["content-type": .string("a/b")])), body: .text("{}"),
            isJSON: true, collected: .text("[1]")))),
      .event(
        .stepFinished("a", wholeEnd),
        keeping: RecordedValues(
          answer: RecordedResponse(
            headers: .value(.object([:])), body: .tooLong, collected: .secret))),
      .event(
        .stepFinished("a", wholeEnd),
        keeping: RecordedValues(files: [
          RecordedOutputFile(path: "out/\u{e9}", .digest(String(repeating: "0f", count: 32))),
          RecordedOutputFile(
            path: "/tmp/saved", .stamp(bytes: 12, modified: 1_795_274_099_123_456_789)),
        ])),
      .spawned("a", attempt: 1, ProcessIdentity(id: 4242, startTicks: 123_456)),
      .kept("a", attempt: 1),
      .outdated(["a", "b[x].c"]),
      .listed(
        "g",
        RecordedElements(elements: [
          .init(key: "0", value: .string("x")), .init(key: "null", value: .some(.null)),
        ])),
      .listed("h", RecordedElements(elements: [.init(key: "0", value: .none)], isSecret: true)),
      .listed("i", RecordedElements(elements: [])),
      .waiting("w", until: WallTime(nanoseconds: 1_795_274_099_000_000_000)),
    ]

  /// All of them, as they are in a journal.
  static let records = kinds.enumerated().map { index, kind in
    RunRecord(
      number: UInt64(index + 1),
      at: start.advanced(by: .milliseconds(index)), kind)
  }

  static let lines: [[UInt8]] = lines(of: kinds)

  static func lines(of kinds: [RunRecord.Kind], version: String = "1.2.3") -> [[UInt8]] {
    var json = RecordJSON(version: version, startedAt: start)
    return kinds.enumerated().map { index, kind in
      json.withLine(of: kind, UInt64(index + 1), after: .milliseconds(index)) { Array($0) }
    }
  }
}

extension StepAddress: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(text) }
}

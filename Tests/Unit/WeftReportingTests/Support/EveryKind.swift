import WeftDefinition
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution

/// Events of every kind, with everything that each can contain, and with as little as possible.
enum EveryKind {
  static var events: [RunEvent] {
    var run = ScriptedRun(nil, steps: 9, groups: 2)
    for kind in outputs + retries + stepEnds + skips + groups + warnings + cancellations + ends {
      run.add(kind)
    }
    run.write("a", "not seen")
    run.add(.snapshot(report(of: run, end: nil)))
    run.add(.snapshot(report(of: ScriptedRun(steps: 9, resumption: 2), end: fullEnd)))
    var left = report(of: ScriptedRun(steps: 9), end: nil)
    left.pause = pause
    run.add(.snapshot(left))
    return run.events
  }

  private static let a = StepAddress("a")
  private static let checks = StepAddress("checks")
  private static let failure = StepFailure(
    classes: [.exit(3), .exit], message: "exited with code 3", help: "see \"man make\"")

  private static let reasons: [CancelReason] = [
    .requested, .signal("INT"), .runTimeout(.seconds(600)),
    .groupTimeout(checks, .milliseconds(1500)), .failure(of: StepAddress("checks.3")),
    .raceWon(checks, by: a), .joined(StepAddress("deploy[e u]/checks")), .recordLost,
    .filesChanged,
  ]

  private static let retries: [RunEvent.Kind] = [
    .stepRetrying(
      a,
      Retry(
        attempt: 1, of: 5, failure: failure, exit: .code(3), duration: .milliseconds(85),
        delay: .milliseconds(1200), usage: fullStepEnd.usage)),
    .stepRetrying(
      StepAddress("up[a\\]b]"),
      Retry(
        attempt: 4, of: 5, failure: failure, exit: nil, duration: .zero, delay: .zero,
        usage: ResourceUsage(userTime: .microseconds(7), systemTime: .zero))),
    .groupRetrying(
      checks,
      Retry(
        attempt: 1, of: 2, failure: failure, exit: nil, duration: .seconds(2), delay: .seconds(1))),
  ]

  private static let outputs: [RunEvent.Kind] = [
    .stepQueued(a), .stepQueued(a, waitingFor: [PoolRequest("db", slots: 2)]),
    .stepQueued(a, because: .slot), .stepQueued(a, because: .group(checks)),
    .stepQueued(
      a, waitingFor: [PoolRequest("db", slots: 2)],
      because: .pool("db", holders: [StepAddress("b"), StepAddress("up[a\\]b]")])),
    .stepQueued(a, because: .pool("db", holders: [])), .stepQueued(a, because: .rate("api")),
    .stepProgress(a, StepProgress(3, of: 10, text: "linking \u{202E}\u{1B}[31m")),
    .stepProgress(a, StepProgress(1 << 40, of: 1 << 60, unit: .bytes)),
    .stepProgress(a, StepProgress(0, unit: .bytes)),
    .stepReady(
      a,
      StepEnd(
        outcome: .success, conclusion: .success, attempts: 2, exit: nil,
        duration: .milliseconds(1200), outputBytes: 7)),
    .stepStarted(a, attempt: 2), .stepBegun(a, attempt: 2), .stepAsking(a, message: "Ship \"it\"?"),
    .stepWaiting(a, for: .milliseconds(1500)),
    output("plain \"quoted\" \\ \u{1B}[31mred\u{7F}\u{2028}", .stdout, .newline, 0),
    output("part", .stderr, .partial, 70_000), output("end", .stderr, .endOfStream, 1 << 40),
    output("40%", .stdout, .transient, 70_004),
    .outputDropped(OutputGap(sequences: 3...5, count: 2, bytes: 7)),
  ]

  private static func output(
    _ text: String, _ stream: StepOutput.Stream, _ ending: StepOutput.Ending, _ offset: UInt64
  ) -> RunEvent.Kind {
    .stepOutput(
      a,
      StepOutput(
        stream: stream, bytes: Array(text.utf8)[...], ending: ending, logOffset: offset))
  }

  private static let fullStepEnd = StepEnd(
    outcome: .failure, conclusion: .success, attempts: 2, exit: .code(3), failure: failure,
    duration: .microseconds(85_123),
    usage: ResourceUsage(
      userTime: .microseconds(1200), systemTime: .microseconds(340), minorFaults: 5,
      majorFaults: 1, voluntarySwitches: 7, involuntarySwitches: 2, peakMemoryBytes: 52_428_800),
    outputBytes: 12_345,
    leftovers: [
      LeftoverProcess(process: 99, command: "sleep"), .init(process: 100, command: "x) \u{1B}[2J"),
    ], unkillable: [.init(process: 101, command: "dd")]
  )

  private static var stepEnds: [RunEvent.Kind] {
    let success = StepEnd(
      outcome: .success, conclusion: .success, attempts: 1, exit: .code(0), duration: .zero)
    let notStarted = StepEnd(
      outcome: .failure, conclusion: .failure, attempts: 1, exit: nil,
      failure: StepFailure(classes: [.spawn], message: "\"/nope\" was not found"), duration: .zero)
    let cancelled = reasons.map {
      StepEnd(
        outcome: .cancelled, conclusion: .cancelled, attempts: 1, exit: .signal("TERM"),
        cancellation: $0, duration: .seconds(86_400 * 30))
    }
    let cut = StepEnd(
      outcome: .success, conclusion: .success, attempts: 1, exit: .code(0), duration: .seconds(1),
      outputBytes: 5_000_000_000, outputTruncated: true, logBytes: 1 << 30)
    var refused = notStarted
    refused.notRetried = "\"retry\" does not cover failures of class \"spawn\""
    return ([success, fullStepEnd, notStarted, refused, cut] + cancelled).map {
      .stepFinished(a, $0)
    } + [success, fullStepEnd].map { .stepRestored(StepAddress("other/b"), $0) }
      + [.stepCached(StepAddress("build"), cached)]
  }

  private static let cached = StepEnd(
    outcome: .success, conclusion: .success, attempts: 1, exit: .code(0), duration: .seconds(3))

  private static var skips: [RunEvent.Kind] {
    ([.dependencyFailed(a), .heldBack(by: checks), .condition(of: checks), .notSelected]
      + reasons.map(SkipReason.cancelled)).map {
        .stepSkipped(StepAddress("3"), $0)
      }
  }

  private static let groups: [RunEvent.Kind] = [
    .groupStarted(checks, GroupStart()),
    .groupStarted(StepAddress("up"), GroupStart(elements: 100_000)),
    .groupStarted(checks, GroupStart(attempt: 2)),
    .groupStarted(checks, GroupStart(isRestored: true)),
    .groupFinished(
      checks,
      GroupEnd(
        outcome: .success, conclusion: .success, failure: nil, cause: nil, attempts: 2, winner: a,
        duration: .zero)),
    .groupFinished(
      checks,
      GroupEnd(
        outcome: .success, conclusion: .success, failure: nil, cause: nil, duration: .zero)),
    .groupFinished(
      StepAddress("up"),
      GroupEnd(
        outcome: .cancelled, conclusion: .cancelled, failure: nil, cause: nil,
        notStarted: ElementsNotStarted(elements: 99_000, steps: 198_000, outcome: .cancelled),
        duration: .zero)),
    .groupFinished(
      checks,
      GroupEnd(
        outcome: .failure, conclusion: .success, failure: failure,
        cause: StepAddress("checks.3"), duration: .seconds(2))),
  ]

  private static var warnings: [RunEvent.Kind] { shortages.map { .runWarning($0) } }

  private static let shortages = [
    RunWarning(
      kind: .fewDescriptors, message: "at most 5 steps run at once instead of 200",
      help: "raise the limit: ulimit -n 1024"),
    RunWarning(kind: .scarceResources, message: "waiting for \"memory\""),
  ]

  private static var cancellations: [RunEvent.Kind] { reasons.map { .runCancelling($0) } }

  private static var fullEnd: RunEnd {
    var counts = OutcomeCounts()
    counts.succeeded = 1
    counts.failed = 2
    counts.tolerated = 3
    counts.cancelled = 4
    counts.skipped = 5
    counts.restored = 1
    counts.cached = 1
    return RunEnd(
      outcome: .cancelled, firstFailure: a, cancellation: .runTimeout(.seconds(1)),
      duration: .milliseconds(2150), counts: counts,
      leftovers: [LeftoverProcess(process: 7, command: "gradle")],
      unkillable: [LeftoverProcess(process: 8, command: "dd")])
  }

  private static var ends: [RunEvent.Kind] {
    let success = RunEnd(
      outcome: .success, firstFailure: nil, cancellation: nil, duration: .zero,
      counts: OutcomeCounts())
    return [.runFinished(fullEnd), .runFinished(success), .runWaiting(pause)]
  }

  private static var pause: RunPause {
    RunPause(
      requests: [
        ApprovalRequest(step: a, message: "Ship \"it\"?"),
        ApprovalRequest(step: StepAddress("up[a\\]b]"), message: "…"),
      ],
      duration: .seconds(61), counts: fullEnd.counts, leftovers: fullEnd.leftovers,
      unkillable: fullEnd.unkillable)
  }

  private static var groupReports: [GroupReport] {
    let up = StepAddress("up")
    var reports = [
      GroupReport(address: checks, start: GroupStart(), state: .running(since: .milliseconds(5))),
      GroupReport(
        address: checks, start: GroupStart(attempt: 2), state: .retrying(until: .seconds(1))),
      GroupReport(
        address: up, start: GroupStart(elements: 3, isRestored: true),
        state: .running(since: .zero)),
    ]
    for case .groupFinished(let address, let end) in groups {
      reports.append(
        GroupReport(
          address: address, start: GroupStart(attempt: end.attempts, elements: 3),
          state: .finished(end)))
    }
    return reports
  }

  private static func report(of run: ScriptedRun, end: RunEnd?) -> RunReport {
    guard case .runStarted(let start)? = run.events.first?.kind else {
      preconditionFailure("a run without its start")
    }
    let states: [StepState] = [
      .pending, .queued, .running(since: .milliseconds(40), attempt: 1),
      .asking(since: .milliseconds(500), message: "Ship \"it\"?"),
      .waiting(since: .milliseconds(500), until: .seconds(90)),
      .retrying(after: 1, until: .milliseconds(1300)),
      .skipped(.dependencyFailed(a)), .skipped(.cancelled(.requested)), .finished(fullStepEnd),
      .restored(fullStepEnd), .cached(cached),
    ]
    let steps = states.enumerated().map {
      StepReport(address: StepAddress("\($0.offset + 1)"), state: $0.element)
    }
    var report = RunReport(start: start, steps: steps, end: end)
    if end != nil {
      report.warnings = shortages
      report.groups = groupReports
    }
    return report
  }
}

import Testing
import WeftDefinition
import WeftHTTP
import WeftPlanning
import WeftRecord

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftReporting

/// The summary of a step that has sent a request.
@Suite struct RequestLineTests {
  private static func summary(
    status: Int? = 200, bytes: Int = 0, requests: Int = 1, redirects: Int = 0,
    savedTo: String? = nil, cache: String? = nil, staleReason: String? = nil
  ) -> HTTPSummary {
    var figures = ExchangeFigures()
    figures.requests = requests
    figures.bodyBytesReceived = bytes
    return HTTPSummary(
      method: "GET", url: "http://h/", status: status, redirects: redirects, savedTo: savedTo,
      cache: cache, staleReason: staleReason, figures: figures)
  }

  private static func end(
    _ http: HTTPSummary, attempts: Int = 1, failure: StepFailure? = nil
  ) -> StepEnd {
    StepEnd(
      outcome: failure == nil ? .success : .failure,
      conclusion: failure == nil ? .success : .failure, attempts: attempts, exit: nil,
      failure: failure, duration: .milliseconds(84)
    ).having(http)
  }

  private static func lines(_ end: StepEnd, _ settings: DisplaySettings) -> String {
    var run = ScriptedRun(steps: 1)
    run.start("fetch")
    run.add(.stepFinished("fetch", end))
    run.finish()
    let collected = Collected.of(run, settings)
    return collected.text
  }

  static let answers: [(http: HTTPSummary, reported: String)] = [
    (summary(bytes: 12_345), "200, 12 kB"),
    (summary(status: 204), "204, 0 B"),
    (summary(bytes: 999), "200, 999 B"),
    (summary(bytes: 66, requests: 3), "200, 66 B in 3 requests"),
    (summary(bytes: 66, requests: 3, redirects: 2), "200, 66 B"),
    (summary(bytes: 5_100_000, savedTo: "out/a.zip"), "200, 5.1 MB to out/a.zip"),
    (summary(cache: "hit"), "200 from the cache"),
    (summary(bytes: 10, cache: "miss"), "200, 10 B"),
    (summary(bytes: 10, cache: "revalidated"), "200, 10 B, as in the cache"),
    (
      summary(bytes: 10, cache: "stale", staleReason: "no connection"),
      "200, a stale response from the cache: no connection"
    ),
  ]

  @Test(arguments: answers)
  func aPlainLineHasWhatWasAnswered(http: HTTPSummary, reported: String) {
    let text = Self.lines(Self.end(http), DisplaySettings(mode: .plain))
    #expect(text.contains("[fetch] succeeded in 84 ms: \(reported)\n"), "\(text)")
    let again = Self.lines(Self.end(http, attempts: 2), DisplaySettings(mode: .plain))
    #expect(again.contains("succeeded in 84 ms (attempt 2): \(reported)\n"), "\(again)")
  }

  @Test(arguments: answers)
  func aLiveLineHasWhatWasAnswered(http: HTTPSummary, reported: String) {
    let text = Self.lines(Self.end(http), DisplaySettings(mode: .live, isTerminal: true))
    #expect(text.contains("  \(reported)"), "\(text)")
  }

  @Test func unansweredRequestShowsOnlyItsFailure() {
    let failure = StepFailure(classes: [.network(.dns), .network], message: "no address")
    for mode in [DisplaySettings(mode: .plain), DisplaySettings(mode: .live, isTerminal: true)] {
      let text = Self.lines(Self.end(Self.summary(status: nil), failure: failure), mode)
      #expect(text.contains("no address") && !text.contains("0 B"), "\(text)")
    }
  }

  @Test("O09: a path or a reason commands no terminal", arguments: ["savedTo", "staleReason"])
  func textsFromOutsideAreHarmless(part: String) {
    let evil = "a\u{1B}[2Jb"
    let http =
      part == "savedTo"
      ? Self.summary(savedTo: evil) : Self.summary(cache: "stale", staleReason: evil)
    for mode in [DisplaySettings(mode: .plain), DisplaySettings(mode: .live, isTerminal: true)] {
      #expect(!Self.lines(Self.end(http), mode).contains("\u{1B}[2J"))
    }
  }
}

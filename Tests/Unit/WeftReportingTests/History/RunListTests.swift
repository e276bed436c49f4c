import Testing
import WeftRecord
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftReporting

@Suite struct RunListTests {
  private static let start: Int64 = 1_795_274_017_123_000_000

  private static func glance(_ digit: Int, _ state: RecordedState) -> RunListEntry {
    var glance = RunListEntry(RunID("20261121-15133\(digit)-4f2a9c"), state)
    glance.startedAt = WallTime(nanoseconds: start + Int64(digit) * 60_000_000_000)
    glance.file = "w.json"
    return glance
  }

  private static let runs: [RunListEntry] = {
    var running = glance(5, .running)
    running.runningSince = running.startedAt
    running.stepCount = 12
    running.counts = OutcomeCounts(
      succeeded: 3, failed: 1, tolerated: 0, cancelled: 0, skipped: 1)
    var success = glance(4, .success)
    success.workflow = "release, \"two\""
    success.duration = .milliseconds(61_234)
    success.counts = OutcomeCounts(succeeded: 7, failed: 0, tolerated: 1, cancelled: 0, skipped: 0)
    var failure = glance(3, .failure)
    failure.duration = .milliseconds(12)
    failure.counts = OutcomeCounts(succeeded: 1, failed: 2, tolerated: 0, cancelled: 3, skipped: 4)
    var interrupted = glance(2, .interrupted)
    interrupted.duration = .seconds(3)
    interrupted.stepCount = 1
    interrupted.workflow = "\u{1B}[31m\u{202E}evil\nname"
    interrupted.file = "-dé.json"
    var cancelled = glance(1, .cancelled)
    cancelled.file = nil
    cancelled.duration = .zero
    return [running, success, failure, interrupted, cancelled]
      + [.damaged(RunID("20261121-151330-4f2a9c"), because: "\"a\u{7}b\", is a symbolic link")]
  }()

  private static let now = WallTime(nanoseconds: start + 6 * 60_000_000_000)

  @Test("S18: what a record says moves no terminal's cursor", arguments: [true, false])
  func hostileRecordTextIsHarmlessInTables(isUnicode: Bool) {
    let settings = DisplaySettings(mode: .plain, usesUnicode: isUnicode)
    let text = RunTable(settings, now: RunListTests.now).rendered(RunListTests.runs)
    #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0 != "\u{202E}" })
    let name = isUnicode ? "table" : "ascii"
    #expect(Golden("../Golden/history/runs.\(name)").mismatch(with: text) == nil)
  }

  @Test func coloursAreNoColumns() {
    let plain = RunTable(DisplaySettings(mode: .plain), now: RunListTests.now)
    let coloured = RunTable(
      DisplaySettings(mode: .plain, usesColour: true), now: RunListTests.now)
    let bare = coloured.rendered(RunListTests.runs).replacing(#/\u{1B}\[\d*m/#, with: "")
    #expect(bare == plain.rendered(RunListTests.runs))
  }

  @Test func programsGetAllThatIsKnown() {
    let json = RunListJSON.rendered(RunListTests.runs)
    #expect(Golden("../Golden/history/runs.json").mismatch(with: json) == nil)
  }

  @Test("RFC 4180: fields with quotes and commas are quoted, lines end with CR and LF")
  func csvFieldsAreQuotedByRFC4180() {
    let text = RunListCSV.rendered(RunListTests.runs)
    #expect(Golden("../Golden/history/runs.csv").mismatch(with: text) == nil)
    #expect(text.utf8.count { $0 == UInt8(ascii: "\r") } == RunListTests.runs.count + 1)
  }

  @Test("X37: no field is a formula", arguments: ["=cmd|calc!A0", "+1", "-2", "@SUM(A1)"])
  func fieldsAreNoFormulas(name: String) {
    var glance = RunListTests.glance(4, .success)
    glance.workflow = name
    #expect(RunListCSV.rendered([glance]).contains(",'\(name),"))
  }

  @Test func noRunsAreAListOfNone() {
    #expect(RunListCSV.rendered([]).utf8.count { $0 == UInt8(ascii: "\n") } == 1)
    #expect(
      String(decoding: RunListJSON.rendered([]), as: UTF8.self)
        == "{\n  \"format\": 1,\n  \"runs\": []\n}\n")
  }
}

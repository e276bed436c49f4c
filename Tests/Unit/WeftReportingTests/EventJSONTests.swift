import Testing
import WeftDefinition
import WeftEncoding
import WeftJSON
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

@Suite struct EventJSONTests {
  @Test(
    "O09, O10: events keep what steps write exactly",
    arguments: SampleRuns.all.map(\.name) + ["every-kind"])
  func eventsKeepOutputExactly(name: String) throws {
    let events =
      try name == "every-kind"
      ? EveryKind.events : #require(SampleRuns.all.first { $0.name == name }).run.events
    let lines = EventJSONTests.lines(of: events)
    #expect(Golden("Golden/events/\(name).jsonl").mismatch(with: lines) == nil)
  }

  @Test(
    "events are read as they are written",
    arguments: SampleRuns.all.map(\.name) + ["every-kind"])
  func wholeRunsReadBack(name: String) throws {
    let lines = try #require(Golden("Golden/events/\(name).jsonl").read())
    var json = EventJSON(version: "1.2.3")
    for line in lines.split(separator: UInt8(ascii: "\n")) {
      let (number, moment, kind) = try line.withUnsafeBytes(EventJSONTests.read)
      json.writer.removeAll()
      json.clock.start(at: moment)
      json.begin(kind.traits.type, UInt64(number), after: .zero)
      json.write(kind)
      json.endLine()
      #expect(json.writer.bytes.dropLast() == line)
    }
  }

  private static func read(
    _ line: UnsafeRawBufferPointer
  ) throws -> (number: Int, WallTime, RunEvent.Kind) {
    var scanner = RecordScanner(line)
    var (number, moment, type) = (0, WallTime.blank, "")
    try scanner.beginObject()
    try scanner.code("n", &number)
    try scanner.code("at", &moment)
    scanner.moment = moment
    try scanner.code("type", &type)
    var kind = try #require(RunEvent.Kind.blanks.first { $0.traits.type == type })
    try kind.code(&scanner)
    try scanner.endObject()
    return (number, moment, kind)
  }

  @Test func theRecordedEventsAreOfEveryKind() {
    let kinds = Set(EveryKind.events.map(\.kind.traits.type))
    #expect(
      kinds == [
        "run.started", "step.queued", "step.started", "step.begun", "step.asking", "step.waiting",
        "step.output", "step.progress", "step.ready", "step.retrying",
        "step.finished", "step.restored", "step.cached", "step.skipped", "group.started",
        "group.retrying",
        "group.finished",
        "run.warning", "run.cancelling", "run.finished", "run.waiting", "output.dropped",
        "run.snapshot",
      ])
  }

  @Test func everyLineIsOneJSONObjectWithNumberTimeAndTypeFirst() throws {
    for line in EventJSONTests.lines(of: EveryKind.events).split(separator: UInt8(ascii: "\n")) {
      let text = String(decoding: line, as: UTF8.self)
      #expect(text.hasPrefix("{\"n\":"))
      let keys = text.matches(of: /^{"n":\d+,"at":"[^"]+","type":"[a-z.]+"[,}]/)
      #expect(keys.count == 1, "\(text)")
    }
  }

  @Test func writingEventByEventOrTogetherIsTheSame() {
    var writer = EventJSON(version: "1.2.3")
    var bytes: [UInt8] = []
    for event in SampleRuns.hostile.events { writer.append([event], to: &bytes) }
    #expect(bytes == EventJSONTests.lines(of: SampleRuns.hostile.events))
  }

  @Test(
    "O06: bytes that are not UTF-8 are there as base64, beside text with U+FFFD",
    arguments: [
      ([0xFF, 0xFE, 0x00], "\u{FFFD}\u{FFFD}\\u0000", "//4A"),
      (Array("a".utf8) + [0xC3], "a\u{FFFD}", "YcM="),
      ([0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}", "7aCA"),
    ] as [([UInt8], String, String)])
  func invalidUTF8OutputIsWrittenTwice(bytes: [UInt8], text: String, raw: String) {
    let line = EventJSONTests.outputLine(bytes)
    #expect(line.contains("\"text\":\"\(text)\",\"raw\":\"\(raw)\""), "\(line)")
  }

  @Test(
    "O07, O09: text is not changed, and not told twice",
    arguments: ["", "é", "\u{FFFD}", "\u{202E}", "\u{1F469}\u{200D}\u{1F467}"])
  func textHasNoRawForm(text: String) {
    let line = EventJSONTests.outputLine(Array(text.utf8))
    #expect(line.contains("\"text\":\"\(text)\""), "\(line)")
    #expect(!line.contains("\"raw\""))
  }

  @Test("O05: a part of a line says so")
  func lineEndingsAreWritten() {
    #expect(EventJSONTests.outputLine([], .partial).contains("\"partial\":true"))
    #expect(EventJSONTests.outputLine([], .endOfStream).contains("\"unterminated\":true"))
    let whole = EventJSONTests.outputLine([])
    #expect(!whole.contains("partial") && !whole.contains("unterminated"))
  }

  @Test(
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
      ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
  func base64IsThatOfRFC4648(text: String, encoded: String) {
    #expect(Base64.text(of: text.utf8) == encoded)
  }

  @Test(
    arguments: [
      (0, .zero, "1970-01-01T00:00:00.000Z"),
      (-1, .zero, "1969-12-31T23:59:59.999Z"),
      (-1, .nanoseconds(1), "1970-01-01T00:00:00.000Z"),
      (951_782_399_999_999_999, .zero, "2000-02-28T23:59:59.999Z"),
      (951_782_399_999_999_999, .nanoseconds(1), "2000-02-29T00:00:00.000Z"),
      (1_795_217_405_007_000_000, .milliseconds(3), "2026-11-20T23:30:05.010Z"),
      (1_795_217_405_007_000_000, .seconds(30 * 86_400), "2026-12-20T23:30:05.007Z"),
    ] as [(Int64, Duration, String)])
  func timesAreTheStartPlusWhatHasPassed(start: Int64, elapsed: Duration, text: String) {
    var clock = WireClock()
    clock.start(at: WallTime(nanoseconds: start))
    #expect(clock.text(after: elapsed) == text)
    #expect(clock.text(after: elapsed) == text)
  }

  @Test("C08: the longest duration does not overflow")
  func durationsAreWholeMicroseconds() {
    #expect(Duration.nanoseconds(1999).wholeMicroseconds == 1)
    #expect(Duration.seconds(30 * 86_400).wholeMicroseconds == 2_592_000_000_000)
    let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)
    #expect(longest.wholeMicroseconds > 0)
  }

  private static func lines(of events: [RunEvent]) -> [UInt8] {
    var writer = EventJSON(version: "1.2.3")
    var bytes: [UInt8] = []
    writer.append(events, to: &bytes)
    return bytes
  }

  private static func outputLine(
    _ bytes: [UInt8], _ ending: StepOutput.Ending = .newline
  ) -> String {
    var run = ScriptedRun(steps: 1)
    run.write("a", bytes: bytes, ending: ending)
    return String(decoding: lines(of: run.events).split(separator: 0x0A)[1], as: UTF8.self)
  }
}

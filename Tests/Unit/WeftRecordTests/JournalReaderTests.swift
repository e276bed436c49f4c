import Testing
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

@Suite struct JournalReaderTests {
  private let scratch: ScratchFolder
  private let whole = Array(SampleRecords.lines.joined())
  /// A short journal, of which every byte is tested.
  private static let few = SampleRecords.lines(
    of: Array(SampleRecords.kinds.prefix(4)) + SampleRecords.kinds.suffix(5))

  init() throws { scratch = try ScratchFolder() }

  /// The end of each line.
  private var ends: [Int] { JournalReaderTests.ends(of: SampleRecords.lines) }

  private static func ends(of lines: [[UInt8]]) -> [Int] {
    lines.reduce(into: [0]) { $0.append($0.last! + $1.count) }
  }

  @Test func everyRecordOfAJournalIsRead() throws {
    let file = try scratch.file("whole", whole)
    var records: [RunRecord] = []
    let contents = JournalReader(file, named: "journal").contents { records.append($0) }
    #expect(records == SampleRecords.records)
    #expect(contents.damage == nil)
    #expect(contents.tornBytes == 0)
    #expect(contents.wholeBytes == whole.count)
    #expect(contents.run.number == UInt64(records.count))
  }

  @Test("a text is found wherever it is, also across two pieces of the file")
  func textsAreFoundWithoutDecoding() throws {
    let text = Array("\"failure\":".utf8)
    for start in [0, 1, 100, (1 << 20) - 12, (1 << 20) - 5, 1 << 20, (2 << 20) - 17] {
      let bytes = [UInt8](repeating: 0x22, count: start) + text
      let journal = JournalReader(try scratch.file("text-\(start)", bytes), named: "journal")
      #expect(journal.mayContain(anyOf: ["\"failure\":"]), "\(start)")
      #expect(journal.mayContain(anyOf: ["\"none\"", "ure\":"]), "\(start)")
      #expect(!journal.mayContain(anyOf: ["\"failure\": "]), "\(start)")
    }
    let none = JournalReader(try scratch.file("empty", []), named: "journal")
    #expect(!none.mayContain(anyOf: ["\"failure\":"]))
  }

  @Test("J02: cut at any byte, a journal is what was whole before it")
  func cutsAtEveryByte() throws {
    let ends = JournalReaderTests.ends(of: JournalReaderTests.few)
    let whole = Array(JournalReaderTests.few.joined())
    for length in 0...whole.count {
      let contents = try scratch.journal(Array(whole[..<length]))
      let count = ends.lastIndex { $0 <= length }!
      #expect(contents.damage == nil, "cut at \(length)")
      #expect(contents.lines == count, "cut at \(length)")
      #expect(contents.wholeBytes == ends[count], "cut at \(length)")
      #expect(contents.tornBytes == length - ends[count], "cut at \(length)")
    }
  }

  @Test(
    "J05: zeros behind the last record are torn, wherever they begin",
    arguments: [1, 511, 4096, 3 << 20])
  func zeroFilledTails(count: Int) throws {
    for length in [ends[4], ends[4] + 20] {
      let contents = try scratch.journal(
        whole[..<length] + [UInt8](repeating: 0, count: count))
      #expect(contents.damage == nil)
      #expect(contents.lines == 4)
      #expect(contents.tornBytes == length + count - ends[4])
    }
  }

  @Test("J04: a changed byte in the middle is refused with its place")
  func damageInTheMiddle() throws {
    let ends = JournalReaderTests.ends(of: JournalReaderTests.few)
    let whole = Array(JournalReaderTests.few.joined())
    // Without its newline, the last line but one would merge with the last.
    for place in 0..<ends[ends.count - 2] - 1 {
      var bytes = whole
      bytes[place] ^= 0x20
      let contents = try scratch.journal(bytes)
      let line = ends.lastIndex { $0 <= place }!
      let damage = try #require(contents.damage, "byte \(place)")
      #expect(damage.line == line + 1, "byte \(place)")
      #expect(damage.offset == ends[line], "byte \(place)")
      #expect(contents.lines == line, "byte \(place)")
      #expect(contents.wholeBytes == ends[line], "byte \(place)")
    }
  }

  @Test("J04: the message has the file, the line and the offset")
  func placeOfDamage() throws {
    var bytes = whole
    bytes[ends[2] + 5] = UInt8(ascii: "?")
    let damage = try #require(try scratch.journal(bytes).damage)
    #expect(
      damage.message == "journal:3:\(ends[2]): the record is damaged: its checksum is wrong")
  }

  @Test("J06: a record that is missing before others is damage")
  func missingRecords() throws {
    var lines = SampleRecords.lines
    lines.remove(at: 3)
    let damage = try #require(try scratch.journal(Array(lines.joined())).damage)
    #expect(damage.kind == .gap(expected: 4, found: 5))
    lines.swapAt(3, 4)
    #expect(try scratch.journal(Array(lines.joined())).damage != nil)
  }

  @Test("J22: a journal of a newer format is refused, and told as such")
  func newerFormat() throws {
    let line = String(decoding: SampleRecords.lines[0].dropLast(19), as: UTF8.self)
    let parts = line.split(separator: "\"format\":\(RecordOpening.currentFormat)", maxSplits: 1)
    try #require(parts.count == 2)
    let newer = Forgery.line(
      Array("\(parts[0])\"format\":\(RecordOpening.currentFormat + 1)\(parts[1])".utf8))
    let contents = try scratch.journal(newer + [UInt8(ascii: "\n")] + whole[ends[1]...])
    #expect(contents.damage?.hasOtherFormat == true)
    #expect(
      contents.damage?.message
        == "journal:1:0: written by weft 1.2.3, in format \(RecordOpening.currentFormat + 1); this weft"
        + " reads up to \(RecordOpening.currentFormat)")
    #expect(contents.run.opening == nil)
  }

  /// A journal as weft 1.2.3 wrote it, of a loop with these keys.
  private static func oldJournal(_ keys: [String]) -> [UInt8] {
    let elements = keys.map { RecordedElements.Element(key: $0, value: nil) }
    var lines = SampleRecords.lines(of: [
      .opened(SampleRecords.opening), .listed("g", RecordedElements(elements: elements)),
      .event(.stepQueued("g[0]")),
    ])
    let opening = String(decoding: lines[0].dropLast(19), as: UTF8.self)
      .replacing("\"format\":\(RecordOpening.currentFormat)", with: "\"format\":1")
    lines[0] = Forgery.line(Array(opening.utf8)) + [UInt8(ascii: "\n")]
    return Array(lines.joined())
  }

  @Test("X05: a journal of format 1 is read, unless a key of it may stand for two elements")
  func earlierFormat() throws {
    let plain = try scratch.journal(JournalReaderTests.oldJournal(["0", "src/a.txt", "3.12", "é"]))
    #expect(plain.damage == nil && plain.lines == 3)
    for key in ["a].b[c", "[", "a\\", " a", "a\u{3000}", "a\u{202E}b"] {
      let contents = try scratch.journal(JournalReaderTests.oldJournal(["0", key]))
      let damage = try #require(contents.damage, "\(key)")
      #expect(damage.kind == .problem(.ambiguousKey(key, version: "1.2.3")))
      #expect(damage.hasOtherFormat && contents.lines == 1)
    }
  }

  @Test(
    "X05: an address in a record is as the printer writes it",
    arguments: [
      "g[a]b]", "g[]", "g[a", "g.", "", "g[\u{202E}]", "g[ a]", "g[a\\b]", "g\u{7}", "g[a]b",
    ])
  func unfitAddress(text: String) throws {
    let lines = SampleRecords.lines(of: [
      .opened(SampleRecords.opening), .event(.stepQueued(StepAddress(text))),
    ])
    let damage = try scratch.journal(Array(lines.joined())).damage
    #expect(damage?.kind == .problem(.unfit("a step's name")))
  }

  @Test("S18: a journal of another run, and one without a beginning, are refused")
  func foreignJournals() throws {
    let other = RunID("20261121-151337-ffffff")
    let file = try scratch.file("other", whole)
    let contents = JournalReader(file, of: other, named: "journal").contents()
    #expect(contents.damage?.kind == .otherRun(SampleRecords.run))
    let headless = SampleRecords.lines(of: Array(SampleRecords.kinds.dropFirst()))
    #expect(try scratch.journal(Array(headless.joined())).damage?.kind == .noOpening)
  }

  @Test("S18: limits hold for lines and for names")
  func limits() throws {
    var limits = JournalLimits()
    limits.lineBytes = 200
    let file = try scratch.file("long", whole)
    let long = JournalReader(file, named: "journal", limits: limits).contents()
    #expect(long.damage?.kind == .lineTooLong(limit: 200))
    limits = JournalLimits()
    limits.steps = 3
    let many = JournalReader(file, named: "journal", limits: limits).contents()
    #expect(many.damage?.kind == .tooManySteps(limit: 3))
  }

  @Test func aLineOverTheEndOfAPieceIsReadWhole() throws {
    let text = String(repeating: "x", count: LinePieces.pieceBytes - 100)
    var kinds = [RunRecord.Kind.opened(SampleRecords.opening)]
    for _ in 0..<5 {
      kinds.append(
        .event(
          .stepFinished("a", SampleRecords.wholeEnd), keeping: RecordedValues(stdout: .text(text))))
    }
    let contents = try scratch.journal(
      Array(SampleRecords.lines(of: kinds).joined()))
    #expect(contents.damage == nil)
    #expect(contents.lines == 6)
    guard case .finished(_, let kept)? = contents.run.step("a")?.state else {
      Issue.record("the step has not ended")
      return
    }
    #expect(kept.stdout == .text(text))
  }
}

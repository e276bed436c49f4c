import TestSupport
import Testing
import WeftEncoding
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

/// Journals with random contents.
@Suite struct JournalFuzzTests {
  private static let words = [
    "\n", "\u{0}", "{", "}", "[", "]", "\"", ":", ",", "null", "true", "-1", "1e999",
    "18446744073709551616", "9223372036854775807", "-9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "2147483647", "2147483648", "-2147483648", "0",
    "1", "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "1970-01-01T00:00:00.000Z",
    "2261-12-31T23:59:59.999Z", "\"attempt\":", "\"untilNs\":", "\"durationUs\":",
    "\"succeeded\":", "\"elements\":", "\\u0000", "\\ud800", ",\"crc\":\"00000000\"}", "\"type\":",
    "\"n\":",
    "\"step\":", "\"at\":", "run.opened", "step.started", "step.finished", "group.finished",
    "a[k].b", "cleanup", "../../x",
  ]

  @Test(.hangLimit) func noJournalBringsTheReaderDown() {
    let seeds = [Array(SampleRecords.lines.joined())] + SampleRecords.lines
    var fuzzer = Fuzzer(corpus: "Corpus", seeds: seeds, words: JournalFuzzTests.words)
    let report = fuzzer.run(making: isLong ? 1_500 : 300, repair: JournalFuzzTests.withChecksums) {
      bytes in
      let contents = JournalContents(of: bytes, run: SampleRecords.run)
      #expect(contents.wholeBytes + contents.tornBytes <= bytes.count)
      #expect(contents.damage != nil || contents.wholeBytes + contents.tornBytes == bytes.count)
      // The intact part is valid by itself.
      let whole = JournalContents(of: Array(bytes[..<contents.wholeBytes]), run: SampleRecords.run)
      #expect(whole.damage == nil && whole.tornBytes == 0)
      #expect(whole.lines == contents.lines)
      JournalConsumers.consume(bytes, contents)
      return JournalFuzzTests.words(for: contents)
    }
    print("\(report.examined) journals, \(report.kept) kept, \(report.words.count) behaviours")
    #expect(report.words.count >= 8)
  }

  private static let extremes = [
    "-9223372036854775808", "-9223372036854775807", "-1", "0", "1", "2147483647", "2147483648",
    "9007199254740993", "9223372036854775807", "9223372036854775808",
  ]
  private static let moments = [
    "0001-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00.000Z",
    "2261-12-31T23:59:59.999Z", "2262-04-11T23:47:16.854Z", "9999-12-31T23:59:59.999Z",
  ]

  @Test(
    "X09, X20: no number and no time of a journal brings down who reads it, its checksum made to fit"
  )
  func extremeNumbers() {
    var accepted = 0
    for kind in SampleRecords.kinds {
      let lines = SampleRecords.lines(of: [.opened(SampleRecords.opening), kind])
      let line = Array(lines[1].dropLast(RecordLine.tailBytes + 1))
      for (range, values) in JournalFuzzTests.places(in: line) {
        for value in values {
          var forged = line
          forged.replaceSubrange(range, with: Array(value.utf8))
          forged += [UInt8](repeating: 0x20, count: RecordLine.tailBytes)
          let journal = lines[0] + JournalFuzzTests.withChecksums(forged)
          let contents = JournalContents(of: journal, run: SampleRecords.run)
          guard contents.damage == nil, contents.lines == 2 else { continue }
          JournalConsumers.consume(journal, contents)
          accepted += 1
        }
      }
    }
    #expect(accepted > 300)
  }

  /// The ranges of numbers (also in strings) and times in a line, with replacements for them.
  private static func places(in line: [UInt8]) -> [(Range<Int>, [String])] {
    let text = String(decoding: line, as: UTF8.self)
    let numbers = text.ranges(of: /:-?[0-9]+(?=[,}])/).map { range in
      (
        offset(of: range.lowerBound, in: text) + 1..<offset(of: range.upperBound, in: text),
        extremes
      )
    }
    let times = text.ranges(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/).map { range in
      (offset(of: range.lowerBound, in: text)..<offset(of: range.upperBound, in: text), moments)
    }
    return numbers + times
  }

  private static func offset(of index: String.Index, in text: String) -> Int {
    text.utf8.distance(from: text.startIndex, to: index)
  }

  /// The lines with correct numbers and checksums, so that their contents are examined.
  private static func withChecksums(_ bytes: [UInt8]) -> [UInt8] {
    var repaired: [UInt8] = []
    for line in bytes.split(separator: 0x0A) {
      let body = line.dropLast(min(line.count, RecordLine.tailBytes))
      repaired += body
      let checksum = Array(body).withUnsafeBytes { Checksum.crc32c($0) }
      repaired += Array(",\"crc\":\"\(RecordLine.digits(of: checksum))\"}\n".utf8)
    }
    return repaired
  }

  private static func words(for contents: JournalContents) -> Set<String> {
    var words: Set<String> = []
    if let damage = contents.damage {
      // The kind of damage without the text that it quotes.
      let kind = "\(damage.kind)".prefix { $0 != "\"" }.filter { $0.isLetter || $0 == " " }
      if case .otherRun = damage.kind {
        words.insert("other run")
      } else {
        words.insert("damage \(kind)")
      }
    }
    if contents.tornBytes > 0 { words.insert("torn") }
    for (_, step) in contents.run.steps {
      words.insert("step \("\(step.state)".prefix { $0 != "(" })")
    }
    for group in contents.run.groups.values {
      words.insert("group \("\(group.state)".prefix { $0 != "(" })")
    }
    if contents.run.end != nil { words.insert("ended") }
    return words
  }
}

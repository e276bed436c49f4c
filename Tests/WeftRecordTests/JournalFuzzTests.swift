import Testing
import WeftPlatform
import WeftTestKit

@testable import WeftExecution
@testable import WeftRecord

/// Journals as anybody could have written them.
@Suite struct JournalFuzzTests {
  private static let words = [
    "\n", "\u{0}", "{", "}", "[", "]", "\"", ":", ",", "null", "true", "-1", "1e999",
    "18446744073709551616", "\\u0000", "\\ud800", ",\"crc\":\"00000000\"}", "\"type\":", "\"n\":",
    "\"step\":", "\"at\":", "run.opened", "step.started", "step.finished", "group.finished",
    "a[k].b", "cleanup", "../../x",
  ]

  @Test(.timeLimit(.minutes(30))) func noJournalBringsTheReaderDown() {
    let seeds = [Array(SampleRecords.lines.joined())] + SampleRecords.lines
    var fuzzer = Fuzzer(corpus: "Corpus", seeds: seeds, words: JournalFuzzTests.words)
    let report = fuzzer.run(making: 1_500, repair: JournalFuzzTests.withChecksums) { bytes in
      let contents = JournalContents(of: bytes, run: SampleRecords.run)
      #expect(contents.wholeBytes + contents.tornBytes <= bytes.count)
      #expect(contents.damage != nil || contents.wholeBytes + contents.tornBytes == bytes.count)
      // What is whole stands by itself.
      let whole = JournalContents(of: Array(bytes[..<contents.wholeBytes]), run: SampleRecords.run)
      #expect(whole.damage == nil && whole.tornBytes == 0)
      #expect(whole.lines == contents.lines)
      return JournalFuzzTests.words(for: contents)
    }
    print("\(report.examined) journals, \(report.kept) kept, \(report.words.count) behaviours")
    #expect(report.words.count >= 8)
  }

  /// Numbers and checksums made right, line by line, so that what the lines say is looked at.
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
      // Without what it quotes.
      let kind = "\(damage.kind)".prefix { $0 != "\"" }.filter { $0.isLetter || $0 == " " }
      if case .otherRun = damage.kind {
        words.insert("other run")
      } else {
        words.insert("damage \(kind)")
      }
    }
    if contents.tornBytes > 0 { words.insert("torn") }
    for step in contents.run.steps.values {
      words.insert("step \("\(step.state)".prefix { $0 != "(" })")
    }
    for group in contents.run.groups.values {
      words.insert("group \("\(group.state)".prefix { $0 != "(" })")
    }
    if contents.run.end != nil { words.insert("ended") }
    return words
  }
}

import Testing
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct LineSplitterTests {
  /// The lines of a stream that arrives in these chunks.
  private func lines(_ chunks: [[UInt8]]) -> [(text: [UInt8], ending: StepOutput.Ending)] {
    var splitter = LineSplitter()
    var lines: [(text: [UInt8], ending: StepOutput.Ending)] = []
    func add(_ block: LineSplitter.Block?) {
      guard let block else { return }
      lines += block.lines.map { (Array(block.bytes[$0.range]), $0.ending) }
    }
    for chunk in chunks { chunk.withUnsafeBytes { add(splitter.take($0)) } }
    add(splitter.finish())
    return lines
  }

  @Test(
    arguments: [
      ([], []),
      (["a\n"], ["a"]),
      (["a", "b\nc", "\n"], ["ab", "c"]),
      (["\n\n"], ["", ""]),
      (["no newline"], ["no newline"]),
      (["a\r\n"], ["a\r"]),
      (["a\r", "\nb\r\n"], ["a\r", "b\r"]),
      (["10%\r20%\r30%\n"], ["30%"]),
      (["10%\r2", "0%\r", "\n"], ["20%\r"]),
      (["\r10%\r20%", "\nnext\n"], ["20%", "next"]),
      (["\r\r\n"], ["\r\r"]),
      (["10%\r20%"], ["20%"]),
      (["10%\r20%\r"], ["20%\r"]),
      (["long text\r\u{1B}[K\n"], ["\u{1B}[K"]),
    ] as [([String], [String])])
  func cutsAtNewlines(chunks: [String], expected: [String]) {
    #expect(
      lines(chunks.map { Array($0.utf8) }).map { String(decoding: $0.text, as: UTF8.self) }
        == expected)
  }

  @Test("O07: a character split across reads is one character")
  func aCharacterSplitAcrossReadsIsOne() {
    let bytes = Array("é\n".utf8)
    let result = lines(bytes.map { [$0] })
    #expect(result.map { String(decoding: $0.text, as: UTF8.self) } == ["é"])
  }

  @Test("O05: a line without end comes in parts of at most 64 KiB")
  func aLongLineComesInParts() {
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: 200_000)
    let result = lines([long, Array("\nend".utf8)])
    #expect(result.allSatisfy { $0.text.count <= LineSplitter.longestLineBytes })
    #expect(result.dropLast().flatMap(\.text) == long)
    #expect(result.map(\.ending) == [.partial, .partial, .partial, .newline, .endOfStream])
  }

  @Test func aPartNeverEndsInsideACharacter() {
    for shift in 0..<4 {
      let text = String(repeating: "x", count: shift) + String(repeating: "😀", count: 20_000)
      let result = lines([Array(text.utf8)])
      for line in result { #expect(String(validating: line.text, as: UTF8.self) != nil) }
      #expect(result.flatMap(\.text) == Array(text.utf8))
    }
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func bytesThatArePassedEarlyAreNotPassedAgain(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var splitter = LineSplitter()
    var (all, log): ([UInt8], [UInt8]) = ([], [])
    var lines: [[UInt8]] = []
    func add(_ block: LineSplitter.Block?) {
      guard let block else { return }
      log += block.bytes.dropFirst(block.passed)
      lines += block.lines.map { Array(block.bytes[$0.range]) }
    }
    for _ in 0..<Int.random(in: 0...20, using: &random) {
      let unit = ["x", "é", "1%\r", "line\n"].randomElement(using: &random)!
      let count = [1, 3, 20_000].randomElement(using: &random)!
      let chunk = Array(String(repeating: unit, count: count).utf8)
      all += chunk
      chunk.withUnsafeBytes { add(splitter.take($0)) }
      if Bool.random(using: &random) { log += splitter.passOpenLine() }
      #expect(all.starts(with: log))
    }
    add(splitter.finish())
    #expect(log == all)
    #expect(lines == self.lines([all]).map(\.text) || all.contains(13))
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func theChunksDoNotMatter(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let alphabet: [UInt8] = [10, 10, 13, 65, 66, 0xC3, 0xA9, 0xFF, 0]
    let bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in
      alphabet.randomElement(using: &random)!
    }
    var chunks: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Int.random(in: 1...min(40, rest.count), using: &random)
      chunks.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    let whole = lines([bytes])
    let cut = lines(chunks)
    #expect(whole.map(\.text) == cut.map(\.text))
    #expect(whole.map(\.ending) == cut.map(\.ending))
    let expected = bytes.split(separator: 10, omittingEmptySubsequences: false).map(visible)
    #expect(
      cut.map(\.text)
        == (expected.last?.isEmpty == true ? expected.dropLast() : expected[...]).map { $0 })
  }

  /// The visible rest of a line after everything that overwrites it.
  private func visible(_ line: ArraySlice<UInt8>) -> [UInt8] {
    var kept: [UInt8] = []
    for byte in line {
      if kept.last == 13, byte != 13 { kept = [] }
      kept.append(byte)
    }
    return kept
  }

  @Test("O08: whatever is written over, the blocks together are the stream byte for byte")
  func theBlocksAreTheStream() {
    var splitter = LineSplitter()
    var passedOn: [UInt8] = []
    var written: [UInt8] = []
    for number in 0..<40_000 {
      let piece = Array((number % 9000 == 8999 ? "\n" : "state \(number)\r").utf8)
      written += piece
      passedOn += piece.withUnsafeBytes { splitter.take($0) }?.bytes ?? []
      #expect(written.count - passedOn.count <= LineSplitter.longestLineBytes)
    }
    passedOn += splitter.finish()?.bytes ?? []
    #expect(passedOn == written)
  }

  @Test("O08: what is written over and over is no line, however long it gets")
  func overwrittenTextIsNotALine() {
    let state = String(repeating: "x", count: 999) + "\r"
    let chunk = Array(String(repeating: state, count: 1000).utf8)
    let result = lines([chunk, chunk, Array("done\n".utf8)])
    #expect(result.map(\.text) == [Array("done".utf8)])
  }

  @Test func aStateThatIsTooLongComesInParts() {
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: 70_000)
    let result = lines([Array("old\r".utf8) + long, Array("\n".utf8)])
    #expect(result.map(\.text.count) == [65_536, 4464])
    #expect(result.map(\.ending) == [.partial, .newline])
  }
}

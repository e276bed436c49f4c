import Testing
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// The filter, compared with a model that has the whole text and compares it with every pattern.
@Suite struct SecretFilterTests {
  // MARK: The model

  /// The text with each stretch that occurrences of patterns cover replaced by one mark; touching stretches count as
  /// one.
  private static func modelMasked(_ text: [UInt8], _ patterns: [[UInt8]]) -> [UInt8] {
    var covered = [Bool](repeating: false, count: text.count)
    for bytes in [text.indices.map { (text[$0], $0) }, colourless(text)] {
      for pattern in patterns where pattern.count <= bytes.count {
        for start in 0...(bytes.count - pattern.count) {
          let found = bytes[start..<start + pattern.count]
          guard found.lazy.map(\.0).elementsEqual(pattern) else { continue }
          for index in found.first!.1...found.last!.1 { covered[index] = true }
        }
      }
    }
    var result: [UInt8] = []
    for (index, byte) in text.enumerated() {
      if !covered[index] {
        result.append(byte)
      } else if index == 0 || !covered[index - 1] {
        result += Array("***".utf8)
      }
    }
    return result
  }

  /// The bytes of the text outside colours, and outside what may be the beginning of one at its end, with their places.
  private static func colourless(_ text: [UInt8]) -> [(UInt8, Int)] {
    var bytes: [(UInt8, Int)] = []
    var index = 0
    while index < text.count {
      let rest = text[index...]
      let isBegun = rest.count == 1 || rest.dropFirst().first == UInt8(ascii: "[")
      let end = rest.dropFirst(2).firstIndex {
        !(UInt8(ascii: "0")...UInt8(ascii: ";")).contains($0)
      }
      if text[index] != 0x1B || !isBegun
        || end.map({ $0 - index >= 64 }) ?? (text.count - index > 64)
      {
        bytes.append((text[index], index))
        index += 1
      } else if let end, "mK".utf8.contains(text[end]) {
        index = end + 1
      } else if end == nil {
        break
      } else {
        bytes.append((text[index], index))
        index += 1
      }
    }
    return bytes
  }

  /// The length of the longest suffix of the text that is a proper prefix of a pattern, with or without colours in it.
  private static func modelHeld(_ text: [UInt8], _ patterns: [[UInt8]]) -> Int {
    func longest(_ text: [UInt8]) -> Int {
      (0...text.count).reversed().first { count in
        patterns.contains { $0.count > count && $0.starts(with: text.suffix(count)) }
      } ?? 0
    }
    let colourless = colourless(text)
    let count = longest(colourless.map(\.0))
    return max(longest(text), count == 0 ? 0 : text.count - colourless.suffix(count).first!.1)
  }

  /// - Parameters:
  ///   - parts: The number of automata that share the patterns.
  ///   - indexBytes: The length of each pattern that the automata know; the rest is compared.
  private static func mask(
    _ patterns: [[UInt8]], parts: Int = 1, indexBytes: Int = PatternTrie.indexBytes
  ) -> SecretMask {
    SecretMask(
      automata: (0..<parts).map { part in
        var trie = PatternTrie(indexBytes: indexBytes)
        for (index, pattern) in patterns.enumerated() where index % parts == part {
          trie.insert(pattern)
        }
        return PatternAutomaton(trie)
      })
  }

  /// Feeds the text in chunks of random lengths; after each, checks how much is held.
  private static func filtered(
    _ text: [UInt8], _ patterns: [[UInt8]], chunks: ClosedRange<Int>,
    _ random: inout SeededGenerator
  ) -> [UInt8] {
    let mask = mask(
      patterns, parts: Int.random(in: 1...3, using: &random),
      indexBytes: Int.random(in: 4...13, using: &random))
    var filter = SecretFilter(mask)
    var output: [UInt8] = []
    var start = 0
    while start < text.count {
      let end = min(text.count, start + Int.random(in: chunks, using: &random))
      text[start..<end].withUnsafeBytes { filter.take($0) { output += $0 } }
      #expect(filter.heldBytes == modelHeld(Array(text[..<end]), patterns))
      start = end
    }
    filter.finish { output += $0 }
    #expect(filter.heldBytes == 0)
    return output
  }

  private static func word(
    _ length: ClosedRange<Int>, of letters: String, _ random: inout SeededGenerator
  ) -> [UInt8] {
    let letters = Array(letters.utf8)
    return (0..<Int.random(in: length, using: &random)).map { _ in
      letters.randomElement(using: &random)!
    }
  }

  // MARK: Properties

  @Test(
    "S05: however the output is cut, what comes out is the whole text masked",
    arguments: 0..<150 as Range<UInt64>)
  func cutsDoNotMatter(seed: UInt64) {
    checkCuts(seed: seed, colours: [])
  }

  @Test(
    "S05: a secret is masked with the colours in it, however the output is cut",
    arguments: 0..<300 as Range<UInt64>)
  func coloursDoNotMatter(seed: UInt64) {
    checkCuts(
      seed: seed,
      colours: [
        "\u{1B}[01;31m\u{1B}[K", "\u{1B}[m", "\u{1B}[0K", "\u{1B}[", "\u{1B}", "\u{1B}[2J",
        "\u{1B}[1;", "\u{1B}\u{1B}[m",
      ])
  }

  private func checkCuts(seed: UInt64, colours: [String]) {
    var random = SeededGenerator(seed: seed)
    let letters = ["ab", "abc", "abcdefgh", "ab\n"].randomElement(using: &random)!
    let patterns = (0..<Int.random(in: 1...8, using: &random)).map { _ in
      Self.word(4...12, of: letters, &random)
    }
    var text: [UInt8] = []
    while text.count < 200 {
      text += Self.word(0...15, of: letters + "x", &random)
      let pattern = patterns.randomElement(using: &random)!
      var part = Array(pattern.prefix(Int.random(in: 0...pattern.count * 2, using: &random)))
      if let colour = colours.randomElement(using: &random) {
        part.insert(
          contentsOf: colour.utf8, at: Int.random(in: 0...part.count, using: &random))
      }
      text += part
    }
    let longest = [1, 3, 20, 400].randomElement(using: &random)!
    let output = Self.filtered(text, patterns, chunks: 1...longest, &random)
    #expect(output == Self.modelMasked(text, patterns))
  }

  @Test("S05: a secret that comes byte by byte is masked, and nothing else is")
  func byteByByte() throws {
    let secret = try Secret(Array("s3cr3t-canary".utf8))
    var filter = SecretFilter(SecretMask([secret]))
    var output: [UInt8] = []
    for byte in "password: s3cr3t-canary!\n".utf8 {
      withUnsafeBytes(of: byte) { filter.take($0) { output += $0 } }
    }
    filter.finish { output += $0 }
    #expect(String(decoding: output, as: UTF8.self) == "password: ***!\n")
  }

  @Test func promptWithoutNewlineIsNotBuffered() throws {
    var filter = SecretFilter(SecretMask([try Secret(Array("s3cr3t".utf8))]))
    var output: [UInt8] = []
    Array("Continue? [yes/no] ".utf8).withUnsafeBytes { filter.take($0) { output += $0 } }
    #expect(output == Array("Continue? [yes/no] ".utf8))
    Array("s3cr".utf8).withUnsafeBytes { filter.take($0) { output += $0 } }
    #expect(filter.heldBytes == 4)
    filter.finish { output += $0 }
    #expect(output == Array("Continue? [yes/no] s3cr".utf8))
  }

  @Test func endlessColoursAreNotWithheld() throws {
    var filter = SecretFilter(SecretMask([try Secret(Array("s3cr3t".utf8))]))
    var output: [UInt8] = []
    for _ in 0..<3 {
      Array("\u{1B}[1m".utf8).withUnsafeBytes { filter.take($0) { output += $0 } }
      Array("s3".utf8).withUnsafeBytes { filter.take($0) { output += $0 } }
      for _ in 0..<300 {
        Array("\u{1B}[1m".utf8).withUnsafeBytes { filter.take($0) { output += $0 } }
        #expect(filter.heldBytes < 1100)
      }
    }
  }

  @Test func touchingSecretsAreOneMark() throws {
    let mask = SecretMask([try Secret(Array("abcdef".utf8)), try Secret(Array("defghi".utf8))])
    #expect(mask.masked("<abcdefghi> <abcdefabcdef> <abc>") == "<***> <***> <abc>")
  }

  @Test func theLongestFormWins() throws {
    let mask = SecretMask([try Secret(Array("pass".utf8)), try Secret(Array("password1".utf8))])
    #expect(mask.masked("password1 password pass pas") == "*** ***word *** pas")
  }

  @Test(
    "a secret that is found during the run is masked from then on, also where it had begun",
    arguments: 0..<100 as Range<UInt64>)
  func aSecretMayBeAdded(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let patterns = (0..<4).map { _ in Self.word(4...9, of: "ab", &random) }
    let (first, second) = (Self.mask(Array(patterns[..<2])), Self.mask(patterns))
    let before = Self.word(0...30, of: "abx", &random)
    let after = Self.word(0...30, of: "abx", &random)
    var filter = SecretFilter(first)
    var output: [UInt8] = []
    before.withUnsafeBytes { filter.take($0) { output += $0 } }
    let rest = Array(before.suffix(filter.heldBytes))
    let masked = Self.modelMasked(rest + after, patterns)
    filter.use(second)
    after.withUnsafeBytes { filter.take($0) { output += $0 } }
    filter.finish { output += $0 }
    // A mark for text that was already written also stands for what touches it.
    let hidden = String(decoding: output, as: UTF8.self)
    let wanted = String(decoding: masked, as: UTF8.self)
    let tail = wanted.hasPrefix("***") ? String(wanted.dropFirst(3)) : wanted
    #expect(hidden.hasSuffix(wanted) || hidden.hasSuffix(tail))
  }

  @Test func bytesPassUnchangedWithoutSecrets() {
    var filter = SecretFilter()
    let bytes = Array("anything".utf8)
    bytes.withUnsafeBytes { chunk in
      var passed: [UnsafeRawPointer?] = []
      filter.take(chunk) { passed.append($0.baseAddress) }
      #expect(passed == [chunk.baseAddress])
    }
  }
}

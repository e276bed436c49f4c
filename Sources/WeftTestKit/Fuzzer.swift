#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Feeds a reader with mutated texts, and keeps those that reach new behaviour.
///
/// The examined code describes its behaviour by words, such as the errors it reported and the values it read. A
/// text that leads to a new word is shortened as long as the word remains, and is mutated further from then on.
///
/// By default the texts are the same each time, and few enough for a test run. With `WEFT_FUZZ=600` they are
/// random, for 600 seconds; those that reach new behaviour are added to the corpus, a folder beside the test,
/// from which every run begins. The current text is then in the file `under-examination` of that folder, in
/// case it crashes the process.
package struct Fuzzer {
  /// The result of a run.
  package struct Report: Sendable {
    /// The number of examined texts, including those of the corpus.
    package var examined = 0
    /// The number of mutated texts that reached new behaviour.
    package var kept = 0
    /// All words so far.
    package var words: Set<String> = []
  }

  private let folder: Golden
  private let words: [[UInt8]]
  private let seconds: Int?
  private var random: SeededGenerator
  private var texts: [[UInt8]]
  private var report = Report()

  /// - Parameters:
  ///   - corpus: A folder, relative to that of the test's source file.
  ///   - seeds: The initial texts besides the corpus.
  ///   - words: Tokens that have a meaning for the reader.
  package init(
    corpus: String, seeds: [[UInt8]], words: [String], besides file: StaticString = #filePath
  ) {
    folder = Golden(corpus, besides: file)
    self.words = words.map { Array($0.utf8) }
    seconds = getenv("WEFT_FUZZ").flatMap { Int(String(cString: $0)) }
    random = SeededGenerator(seed: seconds == nil ? 7 : .random(in: 0 ... .max))
    texts = seeds
    texts += Golden.names(in: folder.path).filter { $0.hasSuffix(".seed") }.sorted().compactMap {
      Golden(at: folder.path + "/" + $0).read()
    }
  }

  /// Examines the initial texts, and then mutated ones.
  ///
  /// - Parameters:
  ///   - count: The number of mutated texts if there is no time limit.
  ///   - repair: Corrects a text that the reader would otherwise reject at once, such as its checksum.
  ///   - examine: Returns words for the reader's behaviour; also checks whether that was correct.
  package mutating func run(
    making count: Int, repair: ([UInt8]) -> [UInt8] = { $0 },
    _ examine: ([UInt8]) throws -> Set<String>
  ) rethrows -> Report {
    report = Report()
    for text in texts { report.words.formUnion(try inspect(at: text, examine)) }
    let end = seconds.map { time(nil) + $0 }
    var made = 0
    while end.map({ time(nil) < $0 }) ?? (made < count) {
      made += 1
      var text = mutant()
      if Bool.random(using: &random) { text = repair(text) }
      guard let word = try inspect(at: text, examine).subtracting(report.words).sorted().first
      else {
        continue
      }
      text = try Fuzzer.shortened(text) { try inspect(at: $0, examine).contains(word) }
      report.words.formUnion(try inspect(at: text, examine))
      report.kept += 1
      texts.append(text)
      if seconds != nil { keep(text) }
    }
    return report
  }

  private mutating func inspect(
    at text: [UInt8], _ examine: ([UInt8]) throws -> Set<String>
  ) rethrows -> Set<String> {
    report.examined += 1
    if seconds != nil { _ = Golden(at: folder.path + "/under-examination").record(text) }
    return try examine(text)
  }

  private func keep(_ text: [UInt8]) {
    let name = text.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    _ = Golden(at: "\(folder.path)/\(String(name, radix: 16)).seed").record(text)
  }

  // MARK: Mutation

  private mutating func mutant() -> [UInt8] {
    var text = texts.randomElement(using: &random) ?? []
    for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&text) }
    return text
  }

  private mutating func mutate(_ text: inout [UInt8]) {
    let place = Int.random(in: 0...text.count, using: &random)
    let piece = place..<min(text.count, place + Int.random(in: 1...24, using: &random))
    switch Int.random(in: 0..<8, using: &random) {
    case 0 where !piece.isEmpty: text[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1 where !piece.isEmpty: text[place] = .random(in: 0...255, using: &random)
    case 2: text.removeSubrange(piece)
    case 3: text.insert(contentsOf: Array(text[piece]), at: place)
    case 4: text.replaceSubrange(piece, with: words.randomElement(using: &random) ?? [])
    case 5, 6: text.insert(contentsOf: words.randomElement(using: &random) ?? [], at: place)
    default:
      // The beginning of one text, and the end of another.
      let other = texts.randomElement(using: &random) ?? []
      text = Array(text[..<place] + other[Int.random(in: 0...other.count, using: &random)...])
    }
  }

  /// Removes the pieces that make no difference, large ones first.
  private static func shortened(
    _ text: [UInt8], _ isAsGood: ([UInt8]) throws -> Bool
  ) rethrows -> [UInt8] {
    var text = text
    var size = text.count / 2
    while size > 0 {
      var place = 0
      while place < text.count {
        var shorter = text
        shorter.removeSubrange(place..<min(text.count, place + size))
        if try isAsGood(shorter) { text = shorter } else { place += size }
      }
      size /= size > 64 ? 2 : 4
    }
    return text
  }
}

import TestSupport
import Testing
import WeftTestKit

@testable import WeftPatterns

@Suite struct PatternTests {
  struct Match: CustomTestStringConvertible {
    let pattern: String
    let text: String
    let isFound: Bool

    init(_ pattern: String, _ text: String, _ isFound: Bool = true) {
      self.pattern = pattern
      self.text = text
      self.isFound = isFound
    }

    var testDescription: String { "/\(pattern)/ in \"\(text)\"" }
  }

  /// Cases from ECMA-262 §22.2 with the flag `u`.
  @Test(arguments: [
    // Anywhere in the text, unless anchored.
    Match("b", "abc"), Match("^b", "abc", false), Match("b$", "abc", false), Match("", "abc"),
    Match("^$", ""), Match("^$", "a", false), Match("^abc$", "abc"), Match("^a$", "a\n", false),
    Match("a^b", "ab", false), Match("$^", ""), Match("(^a|b)c", "bc"), Match("(^a|b)c", "ac"),
    // Alternatives bind weakest.
    Match("^ab|cd$", "abxx"), Match("^ab|cd$", "xxcd"), Match("^(?:ab|cd)$", "abxx", false),
    Match("^(|a)$", ""), Match("^(a|)$", "a"), Match("a||b", "zzz"),
    // Repetitions.
    Match("^a*$", ""), Match("^a*$", "aaa"), Match("^a+$", "", false), Match("^ab?c$", "ac"),
    Match("^a{3}$", "aaa"), Match("^a{3}$", "aa", false), Match("^a{3}$", "aaaa", false),
    Match("^a{2,}$", "aaaaa"), Match("^a{2,}$", "a", false), Match("^a{1,3}$", "aaaa", false),
    Match("^a{0}$", ""), Match("^a{0,1}b$", "b"), Match("^(ab)+?$", "abab"),
    Match("^(a*)*$", "aaa"),
    Match("^(a?){3}$", "aa"), Match("^((a|b)*c){2}$", "abcc"), Match("^(?:){5}$", ""),
    // Scalars, neither UTF-16 units nor grapheme clusters.
    Match("^.$", "😀"), Match("^.$", "e\u{301}", false), Match("^..$", "e\u{301}"),
    Match("^.$", "\n", false), Match("^.$", "\u{2028}", false), Match("^é$", "e\u{301}", false),
    Match(#"^\u{1F600}$"#, "😀"), Match(#"^\uD83D\uDE00$"#, "😀"), Match(#"^\u0041\x42$"#, "AB"),
    Match(#"^\cJ\t\n\v\f\r\0$"#, "\n\t\n\u{B}\u{C}\r\0"),
    // Classes.
    Match("^[a-c]+$", "abc"), Match("^[a-c]+$", "abd", false), Match("^[^a-c]+$", "xyz"),
    Match("[]", "a", false), Match("^[^]$", "\n"), Match("^[-a]$", "-"), Match("^[a-]$", "-"),
    Match(#"^[\]\\]+$"#, #"]\"#), Match("^[.*+?(){}|^$]+$", ".*+?(){}|^$"), Match("^[[]$", "["),
    Match(#"^[\d\-x]+$"#, "4-2x"), Match(#"^[^\D]$"#, "5"), Match(#"^[\b]$"#, "\u{8}"),
    Match("^[😀-😂]$", "😁"), Match(#"^[\u{41}-\x43]$"#, "B"), Match(#"^[\w.]+$"#, "a_9.Z"),
    // Digits, words and spaces as ECMA-262 defines them.
    Match(#"^\d$"#, "٣", false), Match(#"^\D$"#, "٣"), Match(#"^\w$"#, "ä", false),
    Match(#"^\W$"#, "ä"), Match(#"^\s+$"#, " \t\u{A0}\u{FEFF}\u{2028}\u{3000}"),
    Match(#"^\S$"#, "\u{180E}"),
    Match(#"\bfoo\b"#, "a foo b"), Match(#"\bfoo\b"#, "afoo", false), Match(#"o\B"#, "foo"),
    Match(#"^\B$"#, ""), Match(#"^\b$"#, "", false),
    // General categories.
    Match(#"^\p{L}+$"#, "Größe"), Match(#"^\p{Lu}\p{Ll}+$"#, "Ärger"), Match(#"^\p{Nd}$"#, "٣"),
    Match(#"^\P{L}$"#, "ä", false), Match(#"^[\p{L}\d_]+$"#, "ä5_"),
    Match(#"^[^\p{L}]$"#, "ä", false),
    Match(#"^[\P{Lu}]$"#, "A", false),
    // Punctuation may be escaped, and groups named.
    Match(#"^\-\@\/\.\_$"#, "-@/._"), Match("^(?<year>[0-9]{4})-(?<month>[0-9]{2})$", "2026-11"),
    Match(#"^[0-9]+\.[0-9]+\.[0-9]+$"#, "1.20.3"),
    Match(#"^[0-9]+\.[0-9]+\.[0-9]+$"#, "1.20", false),
  ])
  func matches(_ match: Match) throws {
    #expect(try Pattern(match.pattern).matches(in: match.text) == match.isFound)
  }

  struct Refusal: CustomTestStringConvertible {
    let pattern: String
    let kind: PatternError.Kind
    let place: Range<Int>

    init(_ pattern: String, _ kind: PatternError.Kind, _ place: Range<Int>) {
      self.pattern = pattern
      self.kind = kind
      self.place = place
    }

    var testDescription: String { pattern }
  }

  @Test(arguments: [
    Refusal("a(b", .unclosedGroup, 1..<3), Refusal("a)b", .unopened(")"), 1..<2),
    Refusal("a]", .unopened("]"), 1..<2), Refusal("a}", .unopened("}"), 1..<2),
    Refusal("é[ab", .unclosedClass, 2..<5), Refusal("[[:alpha:]]", .unopened("]"), 10..<11),
    Refusal("*a", .nothingToRepeat("*"), 0..<1), Refusal("a|+", .nothingToRepeat("+"), 2..<3),
    Refusal("^*", .nothingToRepeat("*"), 1..<2), Refusal(#"\b+"#, .nothingToRepeat("+"), 2..<3),
    Refusal("a**", .repeatedTwice("*"), 2..<3), Refusal("a++", .repeatedTwice("+"), 2..<3),
    Refusal("a{", .malformedCount, 1..<2), Refusal("a{,3}", .malformedCount, 1..<2),
    Refusal("a{2,1}", .countsOutOfOrder(2, 1), 1..<6), Refusal("{2}", .malformedCount, 0..<1),
    Refusal("a{9999}", .countTooLarge("9999"), 2..<6),
    Refusal("a{99999999999999999999}", .countTooLarge("99999999999999999999"), 2..<22),
    Refusal("a\\", .trailingBackslash, 1..<2), Refusal(#"\Aab\z"#, .unknownEscape(#"\A"#), 0..<2),
    Refusal(#"\é"#, .unknownEscape(#"\é"#), 0..<3), Refusal(#"\07"#, .unknownEscape(#"\0"#), 0..<2),
    Refusal(#"\x4"#, .malformedCode(#"\x4"#), 0..<3),
    Refusal(#"\u12"#, .malformedCode(#"\u12"#), 0..<4),
    Refusal(#"\uD83D"#, .malformedCode(#"\uD83D"#), 0..<6),
    Refusal(#"\u{110000}"#, .malformedCode(#"\u{110000}"#), 0..<10),
    Refusal(#"\c1"#, .malformedCode(#"\c1"#), 0..<3),
    Refusal(#"\p{Foo}"#, .unknownCategory("Foo"), 0..<6),
    Refusal(#"\p{}"#, .unknownCategory(""), 0..<3),
    Refusal("[z-a]", .rangeOutOfOrder("z-a"), 1..<4),
    Refusal(#"[a-\d]"#, .classInRange(#"a-\d"#), 1..<5),
    Refusal("a(?=b)", .lookaround("(?="), 1..<4), Refusal("(?<!b)", .lookaround("(?<!"), 0..<4),
    Refusal(#"(a)\1"#, .backreference(#"\1"#), 3..<5), Refusal("(?i)a", .unknownGroup("(?"), 0..<2),
    Refusal("(?<n", .unknownGroup("(?<n"), 0..<4),
    Refusal("(a{900}){900}", .tooLarge, 0..<13),
    Refusal("((){900}){900}", .tooLarge, 0..<14),
  ])
  func aTextThatIsNoPatternSaysWhyAndWhere(_ refusal: Refusal) {
    let fault = #expect(throws: PatternError.self) { try Pattern(refusal.pattern) }
    #expect(fault == PatternError(refusal.kind, refusal.place))
    #expect(fault?.message.isEmpty == false)
  }

  @Test func patternTooLongOrTooDeepIsRefused() {
    let long = String(repeating: "a", count: PatternLimits.bytes + 1)
    #expect(throws: PatternError.self) { try Pattern(long) }
    let depth = PatternLimits.depth
    let deep = String(repeating: "(", count: depth) + String(repeating: ")", count: depth)
    #expect(throws: Never.self) { try Pattern(deep) }
    #expect(throws: PatternError.self) { try Pattern("(" + deep + ")") }
    #expect(throws: PatternError.self) { try Pattern(String(repeating: "(", count: 4000)) }
  }

  /// A backtracking matcher would take 2^10000 steps for the first.
  @Test(arguments: [
    "^(a+)+$", "^(a|a)*$", "^(a*)*$", "^(a|aa)+$", "(x+x+)+y", "^(.*.*.*)*$", "^((a{0,20}){0,20})$",
  ])
  func noTextMakesAPatternSlow(pattern: String) throws {
    let text = String(repeating: "a", count: largeCount) + "!"
    let steps = try Pattern(pattern).matches(in: text)
    #expect(steps == (pattern == "^(.*.*.*)*$"))
  }

  /// The most expensive kind: the whole of a large program for each scalar.
  @Test func aLargePatternIsDoneWithALongText() {
    let text = String(repeating: "a", count: largeCount / 5)
    #expect(!Pattern("([^x]{0,20}){0,20}xy").matches(in: text))
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func everyTextParsesOrReportsALocation(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let parts = [
      "a", "é", "😀", "(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "^", "$", ".", "\\", "-",
      ",",
      "1", "20", ":", "<", ">", "=", "!", "p{L}", "u{", "u00", "uD83D", "x4", "cA", "k", "d", "b",
      "(?:", "(?<n>", "[^",
    ]
    for _ in 0..<300 {
      let count = Int.random(in: 1...14, using: &random)
      let text = (0..<count).map { _ in parts.randomElement(using: &random)! }.joined()
      do throws(PatternError) {
        _ = try Pattern(text).matches(in: "aé😀1,-x\n")
      } catch {
        #expect(error.range.upperBound <= text.utf8.count && !error.message.isEmpty, "\(text)")
      }
    }
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func agreesWithTheDefinition(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let node = PatternNode.random(depth: 4, using: &random)
      guard let program = try? PatternProgram(node, of: "") else { continue }
      for _ in 0..<20 {
        let text = String(
          (0..<Int.random(in: 0...7, using: &random)).map { _ in
            "ab ".randomElement(using: &random)!
          })
        let scalars = Array(text.unicodeScalars)
        let isFound = scalars.indices.appended(scalars.count).contains {
          !node.ends(from: $0, in: scalars).isEmpty
        }
        #expect(PatternMatcher(program).finds(in: text) == isFound, "\(node) in \"\(text)\"")
      }
    }
  }
}

extension Range<Int> {
  fileprivate func appended(_ last: Int) -> [Int] { Array(self) + [last] }
}

/// The definition of matching, without regard to cost.
extension PatternNode {
  fileprivate func ends(from start: Int, in text: [Unicode.Scalar]) -> Set<Int> {
    switch self {
    case .scalars(let set):
      return start < text.count && set.contains(text[start]) ? [start + 1] : []
    case .assertion(.start): return start == 0 ? [start] : []
    case .assertion(.end): return start == text.count ? [start] : []
    case .assertion(let boundary):
      let sides = [start - 1, start].map { text.indices.contains($0) && text[$0] != " " }
      return (sides[0] != sides[1]) == (boundary == .wordBoundary) ? [start] : []
    case .sequence(let parts):
      return parts.reduce([start]) { ends, part in
        ends.reduce(into: []) { $0.formUnion(part.ends(from: $1, in: text)) }
      }
    case .alternatives(let choices):
      return choices.reduce(into: []) { $0.formUnion($1.ends(from: start, in: text)) }
    case .repetition(let part, let least, let most):
      var reached: Set<Int> = [start]
      var found: Set<Int> = least == 0 ? [start] : []
      // More rounds than the text is long only repeat empty matches.
      for round in 1...max(1, most ?? least + text.count + 1) where most != 0 {
        reached = reached.reduce(into: []) { $0.formUnion(part.ends(from: $1, in: text)) }
        if round >= least { found.formUnion(reached) }
      }
      return found
    }
  }

  fileprivate static func random(depth: Int, using random: inout SeededGenerator) -> PatternNode {
    switch Int.random(in: 0..<(depth == 0 ? 4 : 9), using: &random) {
    case 0, 1: return .scalars(.scalar(["a", "b", " "].randomElement(using: &random)!))
    case 2: return .scalars(ScalarSet.scalar("a").inverted())
    case 3:
      let all: [PatternAssertion] = [.start, .end, .wordBoundary, .noWordBoundary]
      return .assertion(all.randomElement(using: &random)!)
    case 4, 5:
      return .sequence(some(of: 0...3, depth, &random))
    case 6: return .alternatives(some(of: 1...3, depth, &random))
    default:
      let least = Int.random(in: 0...2, using: &random)
      let more = Int.random(in: 0...3, using: &random)
      return .repetition(
        self.random(depth: depth - 1, using: &random), least: least,
        most: more == 3 ? nil : least + more)
    }
  }

  private static func some(
    of count: ClosedRange<Int>, _ depth: Int, _ random: inout SeededGenerator
  ) -> [PatternNode] {
    (0..<Int.random(in: count, using: &random)).map { _ in
      self.random(depth: depth - 1, using: &random)
    }
  }
}

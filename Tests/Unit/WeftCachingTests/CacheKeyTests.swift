import Testing

@testable import WeftCaching

/// Differences between cache keys, and how they are reported.
struct CacheKeyTests {
  /// Pairs that differ only in the boundary between two items, or in the kind of an item.
  static let pairs: [([CacheValue], [CacheValue])] = [
    ([CacheValue("a", .text("bc"))], [CacheValue("ab", .text("c"))]),
    ([CacheValue("a", .text("")), CacheValue("b", .text(""))], [CacheValue("a", .text("b"))]),
    ([CacheValue("", .text("h"))], [CacheValue("", .long(hash: "h"))]),
    ([CacheValue("", .text("h"))], [CacheValue("", .secret(code: "h"))]),
    (
      [CacheValue("f", .file(hash: "h", isExecutable: true))],
      [CacheValue("f", .file(hash: "h", isExecutable: false))]
    ),
    ([CacheValue("l", .link("ab", hash: "c"))], [CacheValue("l", .link("a", hash: "bc"))]),
    ([CacheValue("l", .link("a", hash: nil))], [CacheValue("l", .text("a"))]),
    ([CacheValue("v", .unset)], []),
    ([CacheValue("v", .unset)], [CacheValue("v", .text(""))]),
    ([CacheValue("\u{E9}", .text(""))], [CacheValue("e\u{301}", .text(""))]),
    ([CacheValue("", .text("\u{E9}"))], [CacheValue("", .text("e\u{301}"))]),
  ]

  @Test(arguments: pairs)
  func differentInputsHaveDifferentHashes(_ pair: ([CacheValue], [CacheValue])) {
    var (one, other) = (CacheKey(), CacheKey())
    one.set(.env, pair.0)
    other.set(.env, pair.1)
    #expect(one.hash != other.hash)
    #expect(!other.differences(from: one).isEmpty)
  }

  @Test func theSameThingInAnotherPartHasAnotherHash() {
    var (one, other) = (CacheKey(), CacheKey())
    one.set(.key, .text("x"))
    other.set(.cwd, .text("x"))
    #expect(one.hash != other.hash)
    #expect(other.changedParts(from: one) == [.cwd, .key])
  }

  @Test func theOrderOfNamesMeansNothing() {
    var (one, other) = (CacheKey(), CacheKey())
    one.set(.env, [CacheValue("A", .unset), CacheValue("B", .text("1"))])
    other.set(.env, [CacheValue("B", .text("1")), CacheValue("A", .unset)])
    #expect(one == other && one.hash == other.hash)
  }

  @Test func aPartKnownByItsHashAloneIsTheSamePart() {
    var (one, other) = (CacheKey(), CacheKey())
    one.set(.inputs, [CacheValue("a", .file(hash: "1", isExecutable: false))])
    other.set(.inputs, hash: one.hash(of: .inputs)!)
    #expect(one.hash == other.hash && other.differences(from: one).isEmpty)
    other.set(.inputs, hash: "another")
    #expect(one.differences(from: other).map(\.part) == [.inputs])
  }

  @Test func differencesNameWhatCameWentAndChanged() {
    var (before, after) = (CacheKey(), CacheKey())
    before.set(
      .env, [CacheValue("A", .text("1")), CacheValue("B", .unset), CacheValue("C", .unset)])
    after.set(
      .env, [CacheValue("A", .text("2")), CacheValue("C", .unset), CacheValue("D", .unset)])
    #expect(
      after.differences(from: before) == [
        CacheDifference(part: .env, name: "A", before: .text("1"), after: .text("2")),
        CacheDifference(part: .env, name: "B", before: .unset, after: nil),
        CacheDifference(part: .env, name: "D", before: nil, after: .unset),
      ])
  }

  @Test func aLongTextIsKnownByItsHash() {
    let text = String(repeating: "x", count: CacheContent.textBytes + 1)
    #expect(CacheContent.of(text) != .text(text))
    #expect(CacheContent.of(String(text.dropLast())) == .text(String(text.dropLast())))
  }

  /// Renaming one of these breaks other programs' scripts.
  @Test func theWordsAreWhatTheyAre() {
    #expect(
      CachePart.allCases.map(\.rawValue) == [
        "platform", "command", "cwd", "element", "stdin", "env", "inputs", "outputs", "key",
        "version",
      ])
  }
}

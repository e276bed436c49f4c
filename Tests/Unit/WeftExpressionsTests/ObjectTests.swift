import Testing

@testable import WeftExpressions

struct ObjectTests {
  /// The rules are the same whether members are scanned or looked up.
  @Test(arguments: [0, 30])
  func aMemberIsFoundByItsSpellingElseByItsLetters(others: Int) {
    let filling = (0..<others).map { ("other-\($0)", ExpressionValue.null) }
    let value = ExpressionValue.object(
      filling + [
        ("name", .number(1)), ("Name", .number(2)), ("NAME", .number(3)), ("Name", .number(4)),
        ("\u{E9}", .number(5)), ("e\u{301}", .number(6)), ("", .number(7)), ("Straße", .number(8)),
      ])
    let expected: [(String, Double?)] = [
      ("name", 1), ("Name", 2), ("NAME", 3), ("nAmE", 1), ("\u{E9}", 5), ("\u{C9}", 5),
      ("e\u{301}", 6), ("E\u{301}", 6), ("", 7), ("STRAßE", 8), ("STRASSE", nil), ("names", nil),
    ]
    for (key, number) in expected {
      guard case .object(let object) = value else { return }
      let found = object[key]?.asNumber.value
      #expect(found == number, "\(key)")
    }
  }

  @Test func anObjectKeepsTheOrderOfItsMembers() throws {
    let keys = (0..<40).map { "k\(($0 * 7) % 40)" }
    let json = "{" + keys.map { "\"\($0)\":1" }.joined(separator: ",") + "}"
    #expect(try evaluate("join(keys(fromJSON('\(json)')))") == "\"\(keys.joined(separator: ","))\"")
    #expect(try evaluate("length(fromJSON('\(json)').*)") == "40")
    #expect(try evaluate("fromJSON('\(json)').K39") == "1")
  }
}

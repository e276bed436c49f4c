import Testing

@testable import WeftJSON

struct JSONNumberTests {
  @Test(
    "W09: whole numbers are exact however they are written",
    arguments: [
      ("0", 0), ("-0", 0), ("1.0", 1), ("1e2", 100), ("12.50e1", 125), ("1000e-3", 1),
      ("9223372036854775807", .max), ("-9223372036854775808", .min),
      ("9007199254740993", 9_007_199_254_740_993),
      ("0.0e999999999999999999999", 0),
    ] as [(String, Int)])
  func integersAreExact(text: String, value: Int) throws {
    #expect(try #require(JSONNumber(text)).asInt == value)
  }

  @Test(
    "W09: what is not a whole number, or too great, is refused and never rounded",
    arguments: [
      ("1.5", .notInteger), ("1e-1", .notInteger), ("9223372036854775808", .outOfRange),
      ("-9223372036854775809", .outOfRange), ("1e19", .outOfRange), ("1e400", .outOfRange),
      ("1e999999999999999999999", .outOfRange), ("1e-999999999999999999999", .notInteger),
    ] as [(String, JSONNumber.Misfit)])
  func numberOutOfRangeIsRefused(text: String, misfit: JSONNumber.Misfit) throws {
    let number = try #require(JSONNumber(text))
    #expect(throws: misfit) { try number.integer() }
    #expect(number.asInt == nil)
  }

  @Test("W09: 2^64 and its neighbours") func unsignedNumbersAreExact() throws {
    #expect(try JSONNumber("18446744073709551615")?.integer(as: UInt64.self) == .max)
    #expect(throws: JSONNumber.Misfit.outOfRange) {
      try JSONNumber("18446744073709551616")?.integer(as: UInt64.self)
    }
    #expect(throws: JSONNumber.Misfit.outOfRange) { try JSONNumber("-1")?.integer(as: UInt8.self) }
  }

  @Test(
    "W09: a Double is the nearest, or refused",
    arguments: [
      ("0.1", 0.1), ("-0", -0.0), ("1e308", 1e308), ("5e-324", .leastNonzeroMagnitude),
      ("0e400", 0),
      ("9007199254740993", 9_007_199_254_740_992),
    ] as [(String, Double)])
  func doublesAreTheNearest(text: String, value: Double) throws {
    let double = try #require(JSONNumber(text)?.asDouble)
    #expect(double == value && double.sign == value.sign)
  }

  @Test("W09: out of the range of Double", arguments: ["1e400", "-1e400", "1e-400"])
  func numbersBeyondDoubleAreRefused(text: String) throws {
    let number = try #require(JSONNumber(text))
    #expect(throws: JSONNumber.Misfit.outOfRange) { try number.double() }
    #expect(number.asDouble == nil)
    #expect(number.text == text)
  }

  @Test(arguments: [
    ("1", "1.0", true), ("1", "10e-1", true), ("0", "-0", true), ("100", "1e2", true),
    ("9007199254740993", "9007199254740992", false), ("1", "-1", false), ("1e400", "1e401", false),
    ("0.1", "0.10", true), ("0.1", "0.1000000000000000055", false),
  ])
  func numbersAreEqualIfTheirValuesAre(left: String, right: String, areEqual: Bool) throws {
    let left = try #require(JSONNumber(left))
    let right = try #require(JSONNumber(right))
    #expect((left == right) == areEqual)
    if areEqual { #expect(left.hashValue == right.hashValue) }
  }

  @Test(arguments: ["", "-", "01", "1.", ".5", "+1", "1e", "1e+", "NaN", " 1", "1 ", "0x1", "1_0"])
  func malformedNumberIsRejected(text: String) { #expect(JSONNumber(text) == nil) }

  @Test(arguments: [
    (0.0, "0"), (-0.0, "-0"), (1, "1"), (0.1, "0.1"), (1e15, "1000000000000000"), (1e16, "1e+16"),
    (-2.5, "-2.5"),
    (.leastNonzeroMagnitude, "5e-324"), (1.7976931348623157e308, "1.7976931348623157e+308"),
  ])
  func doublesAreWrittenInTheShortestForm(value: Double, text: String) throws {
    let number = try #require(JSONNumber(value))
    #expect(number.text == text)
    #expect(number.asDouble == value)
    #expect(JSONNumber(text) != nil)
  }

  @Test func infinitiesAndNaNAreNoNumbers() {
    #expect(JSONNumber(Double.infinity) == nil && JSONNumber(Double.nan) == nil)
  }
}

import Testing
import WeftJSON

@testable import WeftExpressions

/// Numbers whose digits 64-bit floating point does not hold.
struct LongNumberTests {
  private static let numbers = [
    "9007199254740993", "1234567890123456789", "-9223372036854775808", "18446744073709551616",
    "123456789012345678901234567890", "1732944146.1234567", "0.30000000000000004",
    "0.1234567890123456789012", "1e400", "-1E+999", "1e-400", "5.0000000000000000001",
  ]

  @Test(arguments: numbers)
  func aNumberKeepsItsDigits(text: String) throws {
    let number = try #require(JSONNumber(text))
    let value = ExpressionValue(.number(number))
    #expect(value.primitiveText == text)
    #expect(value.json == .number(number))
    #expect(value.jsonText(.compact) == text)
    #expect(value.isTruthy)
    // A text that is too large for a `Double` is infinite.
    #expect(value.isEqual(to: .string(text)) == ExpressionNumber(reading: text).isFinite)
    #expect(try evaluate("join(fromJSON('[\(text)]'))") == "\"\(text)\"")
    #expect(try evaluate("min(fromJSON('[\(text)]'))") == text)
  }

  @Test(arguments: ["0", "-0", "1", "1.0", "1e2", "100000000000000000000", "0.1", "1E-3", "12.50"])
  func aNumberThatADoubleHoldsHasOneSpelling(text: String) throws {
    let number = try #require(JSONNumber(text))
    let value = ExpressionNumber(number)
    #expect(value.longCount == 0)
    #expect(value.text == NumberText.coerced(value.value))
  }

  @Test func numbersAreComparedByAllDigits() {
    let sorted = [
      "-1E+999", "-9223372036854775808", "0", "1e-400", "0.1", "0.1000000000000000000001", "5",
      "5.0000000000000000001", "9007199254740992", "9007199254740993", "9007199254740994",
      "123456789012345678901234567890", "1e400", "2e400",
    ]
    let numbers = sorted.compactMap { JSONNumber($0).map { ExpressionNumber($0) } }
    #expect(numbers.count == sorted.count)
    for (one, left) in numbers.enumerated() {
      for (other, right) in numbers.enumerated() {
        #expect((left == right) == (one == other), "\(sorted[one]) \(sorted[other])")
        #expect((left < right) == (one < other), "\(sorted[one]) \(sorted[other])")
      }
    }
    let (nan, most) = (ExpressionNumber(.nan), ExpressionNumber(.infinity))
    for number in numbers { #expect(number != nan && !(number < nan) && number < most) }
  }

  @Test(arguments: [
    ("add(9007199254740992, 1)", "9007199254740993"),
    ("sub(1234567890123456789, 1234567890123456700)", "89"),
    ("mul(3037000500, 3037000499)", "9223372033963249500"),
    ("mul(3037000500, 3037000500)", "9223372037000250000"),
    ("add(9223372036854775807, 1)", "9223372036854776000"),
    ("div(9007199254740993, 3)", "3002399751580331"), ("div(1, 4)", "0.25"),
    ("div(-9223372036854775808, -1)", "9223372036854776000"),
    ("mod(1234567890123456789, 10)", "9"), ("mod(-7, 3)", "-1"),
    ("sum(fromJSON('[9007199254740993, 9007199254740993]'))", "18014398509481986"),
    ("sum(fromJSON('[]'))", "0"), ("sum(fromJSON('[0.1, 0.2]'))", "0.30000000000000004"),
    ("add(5.0000000000000000001, 1)", "6"),
    ("max(9007199254740993, 9007199254740992)", "9007199254740993"),
    ("first(sort(fromJSON('[9007199254740993, 9007199254740992]')))", "9007199254740992"),
    ("length(unique(fromJSON('[9007199254740993, 9007199254740992, 9007199254740993]')))", "2"),
    ("toJSON(1234567890123456789)", #""1234567890123456789""#),
  ])
  func wholeNumbersAreComputedExactly(text: String, result: String) throws {
    #expect(try evaluate(text) == result)
  }

  @Test(arguments: [
    "add(fromJSON('1e400'), 1)", "sum(fromJSON('[1, -1e999]'))", "div(1, 0)", "mod(5, 0)",
  ])
  func aResultThatIsNotFiniteIsAnError(text: String) {
    #expect(throws: ExpressionError.self) { try evaluate(text) }
  }

  @Test func itTakesNoMoreRoomThanText() {
    #expect(MemoryLayout<ExpressionNumber>.size <= MemoryLayout<String>.size)
  }
}

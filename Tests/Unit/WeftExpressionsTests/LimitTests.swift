import Testing

@testable import WeftExpressions

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

struct LimitTests {
  static func repeated(_ text: String, _ count: Int) -> String {
    String(repeating: text, count: count)
  }

  /// Shapes with their greatest allowed depth; each is tested at that depth and one beyond.
  static let shapes: [(@Sendable (Int) -> String, deepest: Int)] = [
    ({ repeated("(", $0) + "1" + repeated(")", $0) }, 49),
    ({ repeated("!", $0) + "1" }, 49),
    ({ "a" + repeated("[0]", $0) }, 49),
    ({ "a" + repeated(".b", $0) }, 49),
    ({ repeated("a[", $0) + "1" + repeated("]", $0) }, 49),
    ({ repeated("trim(", $0) + "1" + repeated(")", $0) }, 49),
    ({ "1" + repeated(" == 1", $0) }, 50),
    ({ "1" + repeated(" < 1", $0) }, 50),
    ({ repeated("(1 || ", $0) + "1" + repeated(")", $0) }, 24),
  ]

  @Test(arguments: shapes.indices)
  func nestingHasALimit(shape: Int) throws {
    let (text, deepest) = LimitTests.shapes[shape]
    _ = try evaluate(text(deepest))
    #expect(try fault(text(deepest + 1)).problem == .tooDeep(limit: 50))
    #expect(
      try fault(text(5_000), limits: ExpressionLimits(bytes: 1_000_000)).problem
        == .tooDeep(limit: 50))
  }

  @Test(arguments: [
    repeated("1 && ", 4000) + "1", repeated("1 || ", 4000) + "1",
    "contains(1, " + repeated("1 && ", 4000) + "1)",
  ])
  func chainsOfAndAndOrAreNotNesting(text: String) throws {
    #expect(throws: Never.self) { try Expression.parse(text) }
  }

  @Test func textsThatAreLongerThanTheLimitAreNotRead() throws {
    let text = "'" + LimitTests.repeated("x", 20_998) + "'"
    _ = try Expression.parse("  \(text)  ")
    #expect(try fault(text + "x").problem == .tooLong(21_001, limit: 21_000))
  }

  @Test func templatePartsAreLimited() throws {
    let text = LimitTests.repeated("1||", 40) + "1"
    _ = try Expression.parse(text, limits: ExpressionLimits(nodes: 42))
    #expect(
      try fault(text, limits: ExpressionLimits(nodes: 41)).problem == .tooManyParts(limit: 41))
  }

  @Test(arguments: [
    "format('{0}{0}{0}{0}', format('{0}{0}{0}{0}', format('{0}{0}{0}{0}', format('{0}{0}', text))))",
    "toJSON(toJSON(toJSON(toJSON(toJSON(toJSON(toJSON(toJSON(toJSON('\"')))))))))",
    "replace('aaaaaaaaaaaaaaaaaaaa', 'a', 'a lot more than what was there, and then some')",
    "join(list, 'a separator that is so long that four of it are more than what may be made: one, two, three, four, "
      + "five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen, sixteen')",
    "split('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '')",
    "fromJSON('[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]')",
  ])
  func evaluationAllocationIsLimited(text: String) throws {
    _ = try evaluate(text)
    #expect(
      try fault(text, limits: ExpressionLimits(madeBytes: 512)).problem == .tooLarge(limit: 512))
  }

  @Test func templateAllocationIsLimited() throws {
    let template = Template.parse("${{ text }}" + LimitTests.repeated("${{ text }}", 99))
    let scope = ValueScope(try contexts())
    #expect(throws: Never.self) {
      try template.evaluate(in: scope, limits: ExpressionLimits(madeBytes: 500))
    }
    let fault = #expect(throws: ExpressionError.self) {
      try template.evaluate(in: scope, limits: ExpressionLimits(madeBytes: 499))
    }
    #expect(fault?.problem == .tooLarge(limit: 499))
  }

  /// The stack is as large as that of Weft's own threads; debug builds need most.
  @Test func theDeepestExpressionFitsAThreadOf512KiB() throws {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    #expect(pthread_attr_setstacksize(&attributes, 512 << 10) == 0)
    var thread = pthread_t()
    let started = pthread_create(
      &thread, &attributes,
      { _ in
        for (text, deepest) in LimitTests.shapes {
          _ = try? evaluate(text(deepest))
          _ = try? evaluate(text(deepest + 1))
        }
        let json = LimitTests.repeated("[", 250) + LimitTests.repeated("]", 250)
        let nested =
          LimitTests.repeated("(", 45) + "toJSON(fromJSON('\(json)'))"
          + LimitTests.repeated(")", 45)
        let value = try? evaluate(nested)
        return value?.hasPrefix("\"[\\n") == true ? UnsafeMutableRawPointer(bitPattern: 1) : nil
      }, nil)
    #expect(started == 0)
    var result: UnsafeMutableRawPointer?
    pthread_join(thread, &result)
    #expect(result != nil)
  }
}

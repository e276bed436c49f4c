import Testing
import WeftExpressions
import WeftJSON

@testable import WeftPlanning

@Suite struct LoopElementsTests {
  private static func list(_ elements: LoopElements) -> [String] {
    (0..<elements.count).map { "\(elements.key(at: $0)) = \(elements.value(at: $0))" }
  }

  private static func problem(_ value: JSONValue, limit: Int = 10) -> LoopProblem? {
    do {
      _ = try LoopElements(of: value, limit: limit)
      return nil
    } catch {
      return error
    }
  }

  /// The problem of the last of some keys.
  private static func keyProblem(_ keys: ExpressionValue...) -> LoopProblem? {
    var made = ElementKeys()
    do {
      for key in keys { try made.add(key) }
      return nil
    } catch {
      return error
    }
  }

  @Test func anArrayHasItsIndices() throws {
    let elements = try LoopElements(of: ["a", [1, 2], nil])
    #expect(Self.list(elements) == [#"0 = "a""#, "1 = [1,2]", "2 = null"])
  }

  @Test func anObjectHasItsKeysInTheirOrder() throws {
    let elements = try LoopElements(of: ["b": 1, "a": ["x": 2]])
    #expect(Self.list(elements) == ["b = 1", #"a = {"x":2}"#])
  }

  @Test func aMatrixHasItsCombinations() throws {
    let matrix = try MatrixExpansion(axes: [(name: "os", values: ["a", "b"])])
    #expect(Self.list(LoopElements(matrix)) == [#"a = {"os":"a"}"#, #"b = {"os":"b"}"#])
  }

  @Test(arguments: [[], [:]] as [JSONValue])
  func listMayBeEmpty(value: JSONValue) throws {
    #expect(try LoopElements(of: value).count == 0)
  }

  @Test func anExpressionGivesOtherKeys() throws {
    var elements = try LoopElements(of: ["a", "b", "c"])
    var keys = ElementKeys()
    for value in [.string("x, y"), .number(3), .number(0.5)] as [ExpressionValue] {
      try keys.add(value)
    }
    elements.rename(keys)
    #expect(Self.list(elements) == [#"x, y = "a""#, #"3 = "b""#, #"0.5 = "c""#])
  }

  @Test(
    arguments: [
      ("text", "\"in\" is a string, expected an array or an object"),
      (nil, "\"in\" is null, expected an array or an object"),
      (.array(Array(repeating: 1, count: 11)), "\"in\" has 11 elements, expected at most 10"),
      (["a": 1, "": 2], "the key of element 1 is empty"),
      (["a\u{7}": 1], "the key of element 0 contains a control character, U+0007"),
    ] as [(JSONValue, String)])
  func invalidListIsReported(value: JSONValue, message: String) {
    #expect(Self.problem(value)?.message == message)
  }

  @Test func anExpressionCanReplaceKeysThatDoNotFit() {
    #expect(
      Self.problem(["": 1])?.help == "add \"key\", an expression that names an element")
    #expect(Self.problem("text")?.help == nil)
  }

  @Test(
    "X31: a key that would hide or forge something is refused, and so is any that does not fit",
    arguments: [
      (.boolean(true), "the key of element 1 is a boolean, expected a string or a number"),
      (.null, "the key of element 1 is null, expected a string or a number"),
      (.array([]), "the key of element 1 is an array, expected a string or a number"),
      (.number(.nan), "the key of element 1 is not a finite number, expected a string or a number"),
      (.string(""), "the key of element 1 is empty"),
      (
        .string(String(repeating: "é", count: 101)),
        "the key of element 1 has 202 bytes, expected at most 200"
      ),
      (.string("a\u{85}"), "the key of element 1 contains a control character, U+0085"),
      (.string("a\u{2028}"), "the key of element 1 contains a control character, U+2028"),
      (
        .string("a\u{202E}txt.exe"),
        "the key of element 1 contains an invisible character, U+202E"
      ),
      (.string("a\u{200D}b"), "the key of element 1 contains an invisible character, U+200D"),
      (.number(5), "elements 0 and 1 have the same key, \"5\""),
    ] as [(ExpressionValue, String)])
  func invalidElementKeyIsReported(key: ExpressionValue, message: String) {
    #expect(Self.keyProblem(.string("5"), key)?.message == message)
  }

  @Test func keysDifferByTheirScalars() {
    #expect(Self.keyProblem(.string("\u{E9}"), .string("e\u{301}")) == nil)
    let longest = String(repeating: "é", count: 100)
    #expect(Self.keyProblem(.string(longest)) == nil)
  }

  @Test func anElementHasAnAddress() {
    #expect(StepAddress("upload").element("ubuntu, 3.12").text == "upload[ubuntu, 3.12]")
  }
}

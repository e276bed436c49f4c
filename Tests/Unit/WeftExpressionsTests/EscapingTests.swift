import Testing

@testable import WeftExpressions

struct EscapingTests {
  private static let values = """
    { "plain": "a-Z_0.9~", "odd": "a b/c?d=é&%+#\\"'\\\\", "lines": "a\\r\\nX: 1", "nul": "a\\u0000", "dots": "..",
      "dot": ".", "tab": "\\t", "number": 1.5, "yes": true, "none": null, "list": [1, "x"],
      "object": { "a\\"": null }, "nan": "x", "high": "\\u2028é😀", "escape": "\\u001b\\u007f" }
    """

  private static func written(_ text: String, _ escaping: Escaping) throws -> ScopedValue {
    try Template.parse(text).evaluate(in: ValueScope(contexts(values)), escaping: escaping)
  }

  static let texts: [(String, Escaping, String)] = [
    (
      "/x/${{ plain }}/${{ odd }}", .urlPath,
      "/x/a-Z_0.9~/a%20b%2Fc%3Fd%3D%C3%A9%26%25%2B%23%22%27%5C"
    ),
    (
      "?a=${{ odd }}&b=${{ number }}", .urlQuery,
      "?a=a%20b%2Fc%3Fd%3D%C3%A9%26%25%2B%23%22%27%5C&b=1.5"
    ),
    ("${{ plain }}", .urlPath, "a-Z_0.9~"), ("${{ lines }}", .urlPath, "a%0D%0AX%3A%201"),
    ("/v${{ dots }}/x", .urlPath, "/v../x"), ("/${{ dots }}${{ dot }}", .urlPath, "/..."),
    ("/a..${{ dot }}/b", .urlPath, "/a.../b"), ("/${{ dot }}x", .urlPath, "/.x"),
    ("?q=${{ dots }}", .urlQuery, "?q=.."), ("${{ nul }}", .urlQuery, "a%00"),
    ("Bearer ${{ odd }}", .header, "Bearer a b/c?d=é&%+#\"'\\"), ("${{ tab }}", .header, "\t"),
    ("${{ yes }}", .header, "true"), ("literal \r\n", .header, "literal \r\n"),
    (
      #"{"a": ${{ odd }}, "b": "x${{ odd }}y"}"#, .jsonBody,
      #"{"a": "a b/c?d=é&%+#\"'\\", "b": "xa b/c?d=é&%+#\"'\\y"}"#
    ),
    (
      #"[${{ none }}, ${{ yes }}, ${{ number }}, ${{ list }}, ${{ object }}]"#, .jsonBody,
      #"[null, true, 1.5, [1,"x"], {"a\"":null}]"#
    ),
    (#""\"${{ number }}\\" ${{ number }}"#, .jsonBody, #""\"1.5\\" 1.5"#),
    (
      #""${{ lines }}${{ escape }}${{ high }}""#, .jsonBody,
      "\"a\\r\\nX: 1\\u001b\u{7F}\u{2028}é😀\""
    ),
    ("${{ list }}", .jsonBody, #"[1,"x"]"#),
  ]

  @Test(arguments: texts)
  func aValueIsWrittenAsItsPlaceWants(text: String, escaping: Escaping, written: String) throws {
    guard case .string(let found) = try EscapingTests.written(text, escaping).value else {
      Issue.record("no text")
      return
    }
    #expect(found == written)
  }

  static let refused: [(String, Escaping, String)] = [
    (
      "${{ lines }}", .header,
      "\"lines\" contains a carriage return, which is "
        + "not allowed in a header"
    ),
    ("x ${{ nul }}", .header, "\"nul\" contains a NUL, which is not allowed in a header"),
    (
      "/a/${{ dots }}/b", .urlPath,
      "\"dots\" produces the path segment \"..\", which would change the path"
    ),
    (
      "/a/${{ dot }}", .urlPath,
      "\"dot\" produces the path segment \".\", which would change the path"
    ),
    (
      "/a/${{ dot }}${{ dot }}?x", .urlPath,
      "\"dot\" produces the path segment \"..\", which would change the path"
    ),
    (
      "/a/.${{ dot }}", .urlPath,
      "\"dot\" produces the path segment \"..\", which would change the path"
    ),
    (
      "${{ dots }}", .urlPath,
      "\"dots\" produces the path segment \"..\", which would change the path"
    ),
    (
      "/a/${{ dot }}${{ '' }}#x", .urlPath,
      "\"dot\" produces the path segment \".\", which would change the path"
    ),
    ("${{ none }}", .header, "\"none\" is null, which cannot be inserted into text"),
    ("${{ list }}", .urlQuery, "\"list\" is an array, which cannot be inserted into text"),
    (#""${{ none }}""#, .jsonBody, "\"none\" is null, which cannot be inserted into text"),
    (#""${{ object }}""#, .jsonBody, "\"object\" is an object, which cannot be inserted into text"),
    ("[${{ NaN }}]", .jsonBody, "\"NaN\" is not a finite number, which JSON requires"),
  ]

  @Test(arguments: refused)
  func aValueThatIsUnfitForItsPlaceIsRefused(
    text: String, escaping: Escaping, message: String
  ) throws {
    let fault = #expect(throws: ExpressionError.self) { try EscapingTests.written(text, escaping) }
    #expect(fault?.message == message)
    #expect(fault?.code == "W0308")
  }
}

import Testing
import WeftDiagnostics
import WeftJSON

@testable import WeftExpressions

struct TemplateTests {
  @Test(arguments: [
    ("", []), ("plain", ["plain"]), ("a $ { {{ $ {{ b", ["a $ { {{ $ {{ b"]), ("$${ {", ["$${ {"]),
    ("${{ a }}", ["‹a›"]), ("x${{a}}y${{ b }}", ["x", "‹a›", "y", "‹b›"]),
    ("${{ a }}${{ b }}", ["‹a›", "‹b›"]), ("$${{ a }}}", ["$", "‹a›", "}"]),
    ("${{ '}}' }}z", ["‹'}}'›", "z"]), ("${{ 'it''s }}' }}", ["‹'it''s }}'›"]),
    ("é${{ 'ü' }}ß", ["é", "‹'ü'›", "ß"]), ("${{ '${{' }}", ["‹'${{'›"]), ("a}}b", ["a}}b"]),
    ("line\n${{\n a\n}}\n", ["line\n", "‹a›", "\n"]),
  ])
  func aStringIsTextsAndExpressions(text: String, segments: [String]) throws {
    let template = Template.parse(text)
    #expect(template.faults == [])
    let drawn = template.segments.map { segment in
      switch segment.content {
      case .text(let text): text
      case .expression(let expression): "‹\(expression.text)›"
      }
    }
    #expect(drawn == segments)
    #expect(template.segments.map { pointedAt(text, $0.range) }.joined() == text)
    #expect(template.isLiteral == !text.contains("${{"))
  }

  @Test func rangesAreOffsetsInTheWholeString() throws {
    let text = "é ${{ steps.a }} ${{ b.c }}"
    let template = Template.parse(text)
    #expect(template.expressions.map { pointedAt(text, $0.range) } == ["steps.a", "b.c"])
    let names = template.expressions.flatMap(\.references).flatMap(\.names)
    #expect(names.map { pointedAt(text, $0.range) } == ["steps", "a", "b", "c"])
  }

  @Test(arguments: [
    ("${{ a", "${{"), ("x ${{ 'a }}", "${{"), ("${{ }}", "${{ }}"), ("a ${{}} b", "${{}}"),
    ("${{ a b }}", "b"), ("${{ a }} ${{ nope( }}", "("), ("é ${{ é }}", "é"), ("${{ a }", "${{"),
  ])
  func errorsHaveTheirLocations(text: String, place: String) throws {
    let faults = Template.parse(text).faults
    #expect(faults.map { pointedAt(text, $0.range) } == [place])
    #expect(throws: faults[0]) { try Template.parse(text).evaluate(in: ValueScope(contexts())) }
    #expect(!Template.parse(text).isLiteral)
    #expect(Template.parse(text).onlyExpression == nil)
  }

  @Test func allTemplateErrorsAreReported() {
    #expect(Template.parse("${{ }} ${{ 1 2 }} ${{ a }} ${{").faults.count == 3)
  }

  @Test(arguments: [
    ("${{ list }}", #"["a","B",3,null,true]"#), ("${{ number }}", "7"), ("${{ none }}", "null"),
    (" ${{ number }}", #"" 7""#), ("v${{ 1.50 }}", #""v1.5""#),
    ("${{ yes }}/${{ no }}", #""true/false""#),
    ("${{ none || '' }}.", #"".""#), ("a${{ empty }}", #""a""#), ("plain", #""plain""#),
    ("", #""""#),
    ("a ${{ '${{' }}", #""a ${{""#), ("${{ toJSON(list[4]) }}!", #""true!""#),
  ])
  func aTemplateHasItsValue(text: String, value: String) throws {
    let scope = ValueScope(try contexts())
    #expect(try Template.parse(text).evaluate(in: scope).value.jsonText(.compact) == value)
  }

  @Test(arguments: [
    (
      "a${{ none }}", "none", "\"none\" is null, which cannot be inserted into text",
      "write ${{ none || '' }} to allow it"
    ),
    (
      "${{ 1 }}${{  object.nope }}", "object.nope",
      "\"object.nope\" is null, which cannot be inserted into text",
      "write ${{ object.nope || '' }} to allow it"
    ),
    (
      "a${{ list }}", "list", "\"list\" is an array, which cannot be inserted into text",
      "write ${{ toJSON(list) }} for its JSON text"
    ),
    (
      "a${{ object }}", "object", "\"object\" is an object, which cannot be inserted into text",
      "write ${{ toJSON(object) }} for its JSON text"
    ),
  ])
  func valueWithoutATextIsRefusedInATemplate(
    text: String, place: String, message: String, help: String
  ) throws {
    let scope = ValueScope(try contexts())
    let fault = #expect(throws: ExpressionError.self) {
      try Template.parse(text).evaluate(in: scope)
    }
    #expect(fault?.message == message)
    #expect(fault?.help == help)
    #expect(fault.map { pointedAt(text, $0.range) } == place)
  }

  @Test func templatesAreEqualByTheirText() {
    #expect(Template.parse("a${{ b }}") == Template.parse("a${{ b }}"))
    #expect(Template.parse("\u{E9}") != Template.parse("e\u{301}"))
  }

  // MARK: Conditions

  @Test(arguments: [
    ("a == 'b'", "a == 'b'"), ("${{ a == 'b' }}", "a == 'b'"), (" ${{ a }}\n", "a"), ("", ""),
    ("'${{' == a", "'${{' == a"),
  ])
  func aConditionIsBareOrWrapped(text: String, expression: String) throws {
    #expect(try Template.condition(text).text == expression)
  }

  @Test(arguments: [
    ("${{ a }} == 'b'", " == 'b'"), ("x ${{ a }}", "x "), ("!${{ a }}", "${{"),
    ("a == ${{ b }}", "${{"),
    ("${{ a }}${{ b }}", "${{ b }}"), ("${{ a }} ${{ b }}", "${{ b }}"),
  ])
  func aConditionHasNoTextAroundIt(text: String, place: String) throws {
    let fault = #expect(throws: ExpressionError.self) { try Template.condition(text) }
    if text.hasPrefix("x") {
      #expect(fault.map { pointedAt(text, $0.range) } == "${{")
    } else {
      #expect(fault?.problem == .textAroundExpression)
      #expect(fault.map { pointedAt(text, $0.range) } == place)
    }
  }

  @Test(arguments: ["${{ a", "${{ }}", "a b", "${{ a b }}"])
  func aConditionWithAFaultHasItsOwn(text: String) {
    let fault = #expect(throws: ExpressionError.self) { try Template.condition(text) }
    #expect(fault?.problem != .textAroundExpression)
  }
}

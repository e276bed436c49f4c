import Testing
import WeftDiagnostics
import WeftJSON

@testable import WeftExpressions

/// A tree in one line: each node, and the text at its range.
private func drawn(_ node: ExpressionNode, _ text: String) -> String {
  func all(_ nodes: [ExpressionNode]) -> String {
    nodes.map { drawn($0, text) }.joined(separator: " ")
  }
  let drawing =
    switch node.form {
    case .literal(let value): value.jsonText(.compact)
    case .reference(let reference), .element(let reference):
      reference.names.map { "\($0.text)@\($0.range.start)" }.joined(separator: ".")
    case .index: "index(\(all(node.children)))"
    case .filter: "filter(\(all(node.children)))"
    case .not: "not(\(all(node.children)))"
    case .comparison(let comparison, _, _): "\(comparison.rawValue)(\(all(node.children)))"
    case .all: "and(\(all(node.children)))"
    case .any: "or(\(all(node.children)))"
    case .call(let function, _): "\(function.rawValue)(\(all(node.children)))"
    }
  return drawing + "‹\(pointedAt(text, node.range))›"
}

struct ParserTests {
  @Test(arguments: [
    ("steps.a.outputs.x", "steps@0.a@6.outputs@8.x@16‹steps.a.outputs.x›"),
    (" steps['a'] . outputs['x y'] ", "steps@1.a@7.outputs@14.x y@22‹steps['a'] . outputs['x y']›"),
    ("(a.b).c", "a@1.b@3.c@6‹a.b).c›"), ("a[('b')]", "a@0.b@3‹a[('b')]›"),
    ("true", "true‹true›"), ("a.true.null", "a@0.true@2.null@7‹a.true.null›"),
    ("true.x", ""), ("a[0]", "index(a@0‹a› 0‹0›)‹a[0]›"),
    ("a.b[0].c", "index(index(a@0.b@2‹a.b› 0‹0›)‹a.b[0]› \"c\"‹c›)‹a.b[0].c›"),
    ("a[b.c].d", "index(index(a@0‹a› b@2.c@4‹b.c›)‹a[b.c]› \"d\"‹d›)‹a[b.c].d›"),
    ("a.*.b", "index(filter(a@0‹a›)‹a.*› \"b\"‹b›)‹a.*.b›"), ("a[ * ]", "filter(a@0‹a›)‹a[ * ]›"),
    ("!a.b", "not(a@1.b@3‹a.b›)‹!a.b›"), ("!(a)", "not(a@2‹a›)‹!(a›"),
    ("a == 1 && b", "and(==(a@0‹a› 1‹1›)‹a == 1› b@10‹b›)‹a == 1 && b›"),
    ("a || b || c && d", "or(a@0‹a› b@5‹b› and(c@10‹c› d@15‹d›)‹c && d›)‹a || b || c && d›"),
    ("a < b == c", "==(<(a@0‹a› b@4‹b›)‹a < b› c@9‹c›)‹a < b == c›"),
    ("Format ( 'x' , a )", "format(\"x\"‹'x'› a@15‹a›)‹Format ( 'x' , a )›"),
    ("fromJSON(a).b", "index(fromJSON(a@9‹a›)‹fromJSON(a)› \"b\"‹b›)‹fromJSON(a).b›"),
    ("a-b.c_1", "a-b@0.c_1@4‹a-b.c_1›"), ("_a", "_a@0‹_a›"),
  ])
  func expressionsAreParsed(text: String, tree: String) throws {
    guard !tree.isEmpty else {
      #expect(throws: ExpressionError.self) { try Expression.parse(text) }
      return
    }
    #expect(drawn(try Expression.parse(text).root, text) == tree)
  }

  @Test func anExpressionKnowsItsTextAndItsReferences() throws {
    let expression = try Expression.parse("  a.b == c['d'] && format('{0}', e[f].g) ")
    #expect(expression.text == "a.b == c['d'] && format('{0}', e[f].g)")
    #expect(expression.references.map(\.text) == ["a.b", "c.d", "e", "f"])
    #expect(expression.references.map(\.context) == ["a", "c", "e", "f"])
    #expect(!expression.isEmpty)
    #expect(try Expression.parse(" \t\n").isEmpty)
  }

  @Test func expressionsAreEqualByTheirText() throws {
    #expect(try Expression.parse(" a.b") == Expression.parse("a.b "))
    #expect(try Expression.parse("a.b") != Expression.parse("a .b"))
    #expect(try Expression.parse("'\u{E9}'") != Expression.parse("'e\u{301}'"))
    #expect(try Set([Expression.parse("a"), Expression.parse(" a")]).count == 1)
  }

  @Test(arguments: [
    ("a b", "b", "unexpected \"b\" in an expression"),
    ("a +b", "+b", "unexpected \"+b\" in an expression"),
    ("a + b", "+", "unexpected \"+\" in an expression"),
    ("a ==", "==", "unexpected end of the expression after \"==\""),
    ("(a", "a", "\")\" is missing"), ("join(a", "a", "\")\" is missing"),
    ("(", "(", "unexpected end of the expression after \"(\""),
    ("not a", "not", "unexpected \"not\" in an expression"),
    ("a[", "[", "unexpected end of the expression after \"[\""),
    ("a.", ".", "unexpected end of the expression after \".\""),
    ("a..b", ".b", "unexpected \".b\" in an expression"),
    ("a.1", "1", "unexpected \"1\" in an expression"),
    ("a[1 2]", "2", "unexpected \"2\" in an expression"),
    ("a[]", "]", "unexpected \"]\" in an expression"),
    ("contains(a,)", ")", "unexpected \")\" in an expression"),
    ("()", ")", "unexpected \")\" in an expression"),
    ("contains(,a)", ",", "unexpected \",\" in an expression"),
    ("a = b", "=", "unexpected \"=\" in an expression"),
    ("a =b", "=b", "unexpected \"=b\" in an expression"),
    ("a & b", "&", "unexpected \"&\" in an expression"),
    ("a === b", "=", "unexpected \"=\" in an expression"),
    ("'a", "'a", "the string that begins here has no closing \"'\""),
    ("a == 'it's'", "s'", "unexpected \"s'\" in an expression"),
    ("1x", "1x", "unexpected \"1x\" in an expression"),
    ("0x", "0x", "unexpected \"0x\" in an expression"),
    ("1_000", "1_000", "unexpected \"1_000\" in an expression"),
    ("1.2.3", "1.2.3", "unexpected \"1.2.3\" in an expression"),
    ("é", "é", "unexpected \"é\" in an expression"),
    ("a\u{A0}", "a\u{A0}", "unexpected \"a\u{A0}\" in an expression"),
    ("aé.b", "aé", "unexpected \"aé\" in an expression"),
    ("${{ a }}", "${{", "unexpected \"${{\" in an expression"),
    ("\"a\"", "\"a\"", "unexpected '\"a\"' in an expression"),
    ("a ? b", "?", "unexpected \"?\" in an expression"),
    ("f(a)", "f", "unknown function \"f\""),
    ("tojsn(a)", "tojsn", "unknown function \"tojsn\""),
    ("join()", "join", "join() is given no argument, expected one or two"),
    ("join(1,2,3)", "join", "join() is given 3 arguments, expected one or two"),
    ("success(1)", "success", "success() is given one argument, expected none"),
    ("contains(1)", "contains", "contains() is given one argument, expected 2"),
    ("length()", "length", "length() is given no argument, expected one"),
    ("format()", "format", "format() is given no argument, expected 1 to 255"),
    ("case(1,2)", "case", "case() is given 2 arguments, expected an odd number of at least 3"),
    ("case(1,2,3,4)", "case", "case() is given 4 arguments, expected an odd number of at least 3"),
  ])
  func errorsHaveTheirLocations(text: String, place: String, message: String) throws {
    let fault = try fault(text)
    #expect(fault.message == message)
    #expect(pointedAt(text, fault.range) == place)
  }

  @Test(arguments: [
    ("a = b", "use == for equality"), ("a & b", "use && for \"and\""),
    ("a | b", "use || for \"or\"; a function is called: upper(a)"),
    (
      "1 + 1",
      "there is no operator +: write add(a, b); to join texts: ${{ a }}${{ b }} or format('{0}{1}', a, b)"
    ),
    ("1 * 1", "there is no operator *: write mul(a, b)"),
    ("a ? 1 : 2", "there is no ?:; write case(a, b, c)"), ("a ?? b", "use || for a default"),
    ("a and b", "use && for \"and\""), ("a or b", "use || for \"or\""),
    ("not a", "use ! for \"not\""),
    ("\"a\"", "strings use single quotes: 'text'"),
    ("${{ a }}", "${{ }} cannot be nested: write the name without it"),
    ("tojsn(a)", "did you mean \"toJSON\"?"),
    ("substring(a, 1)", "a part of a text or list is slice(text, start, end)"),
    ("List(1)", "for an array, write split('a,b', ',') or fromJSON('[1, 2]')"),
    ("case(1)", "write case(condition, value, …, default)"),
    ("a == 'it's'", "write a \"'\" inside a string twice: 'it''s'"),
    ("'a", "write a \"'\" inside a string twice: 'it''s'"),
  ])
  func parseErrorsSuggestARemedy(text: String, help: String) throws {
    #expect(try fault(text).help == help)
  }

  @Test func unknownFunctionListsAllFunctions() throws {
    #expect(try fault("quux(1)").help?.hasPrefix("the functions are contains, startsWith") == true)
  }
}

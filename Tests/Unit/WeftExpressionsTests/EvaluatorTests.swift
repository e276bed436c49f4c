import Testing

@testable import WeftExpressions

struct EvaluatorTests {
  static let values: [(String, String)] = [
    // Literals.
    ("", "null"), ("  ", "null"), ("null", "null"), ("true", "true"), ("'it''s'", #""it's""#),
    ("''''''", #""''""#), ("'a\"b'", #""a\"b""#), ("0x1F", "31"), ("0b101", "5"), ("0O17", "15"),
    ("1e3", "1000"), ("-1.50", "-1.5"), ("+2", "2"), ("5.", "5"), (".5", "0.5"), ("-0", "0"),
    ("1e400", "null"), ("NaN", "null"), ("-Infinity", "null"),
    // Operators.
    ("!text", "false"), ("!!text", "true"), ("!empty", "true"), ("!list", "false"),
    ("!NaN", "true"),
    ("text && number", "7"), ("empty && number", #""""#), ("empty || no || 0", "0"),
    ("no || text || number", #""Hello""#), ("1 == 1 == 1", "true"), ("3 > 2 > 1", "false"),
    ("no || yes && 'x'", #""x""#), ("(no || yes) && 'x'", #""x""#), ("!no == true", "true"),
    ("1 < 2 == true", "true"), ("1 == 1 && 2 == 2 || no", "true"),
    // Equality and order.
    ("text == 'hELLO'", "true"), ("text != 'hello'", "false"), ("'a' < 'B'", "true"),
    ("'a' >= 'A'", "true"), ("'b' > 'A'", "true"), ("'' < 'a'", "true"), ("'ß' == 'SS'", "false"),
    ("'Ä' == 'ä'", "true"), ("'\u{1F600}' > '\u{FFFD}'", "true"),
    ("'e\u{301}' == '\u{E9}'", "false"),
    ("'_' > 'z'", "true"), ("'[' > 'a'", "true"), ("none == 0", "true"), ("none == ''", "true"),
    ("none == false", "true"), ("none < 1", "true"), ("none >= null", "true"),
    ("none > null", "false"),
    ("yes == '1'", "true"), ("yes == 'true'", "false"), ("yes == 1", "true"), ("no == ''", "true"),
    ("number == ' 7 '", "true"), ("number == '7x'", "false"), ("number == '0x7'", "true"),
    ("number < '8'", "true"), ("number < 'x'", "false"), ("number >= 'x'", "false"),
    ("NaN == NaN", "false"), ("NaN != NaN", "true"), ("'NaN' == NaN", "false"), ("-0 == 0", "true"),
    ("list == list", "true"), ("list == other", "false"), ("other == fromJSON('[\"a\"]')", "false"),
    ("object == object", "true"), ("object == 'Object'", "false"), ("list == 0", "false"),
    ("object.deep == object['DEEP']", "true"), ("list < list", "false"), ("list >= list", "true"),
    ("list.* == list.*", "false"),
    // Access.
    ("object.one", "1"), ("object['ONE']", "1"), ("object[3]", #""three""#),
    ("object[null]", #""nothing""#),
    ("object.deep.x.y", #""z""#), ("(object.deep).x['y']", #""z""#), ("object.nope.x", "null"),
    ("text.length", "null"), ("text[0]", "null"), ("none.x", "null"), ("unknown.x", "null"),
    ("list[0]", #""a""#), ("list['1']", #""B""#), ("list[1.9]", #""B""#), ("list[-1]", "null"),
    ("list[5]", "null"), ("list[yes]", #""B""#), ("list['x']", "null"), ("list[list]", "null"),
    ("list['']", #""a""#), ("list[1e300]", "null"), ("list.x", "null"), ("object[list]", "null"),
    ("case.name", #""lower""#), ("case.Name", #""Title""#), ("case.NAME", #""UPPER""#),
    ("case.nAME", #""lower""#), ("fromJSON('{\"a\":{\"b\":[5]}}').a.b[0]", "5"),
    // Filters.
    ("list.*", #"["a","B",3,null,true]"#), ("object.deep.*", #"[{"y":"z"}]"#), ("text.*", "[]"),
    ("people.*.name", #"["Ann","Bob"]"#), ("people.*.AGE", "[3,5]"),
    ("people[*]['name']", #"["Ann","Bob"]"#),
    ("nested.*.*", "[1,2,3,[4]]"), ("nested.*[0]", "[1,3]"), ("nested.*.a[0]", "[4]"),
    ("nested.*.*.*", "[4]"), ("people.*.name[0]", "[]"),
    ("join(people.*.name, '+')", #""Ann+Bob""#),
    ("length(people.*)", "4"), ("none.*.x", "[]"), ("toJSON(none.*)", #""[]""#),
  ]

  @Test(arguments: values)
  func anExpressionHasItsValue(text: String, value: String) throws {
    #expect(try evaluate(text) == value)
  }

  @Test(arguments: [
    ("length('')", "0"), ("length('ab')", "2"), ("length('e\u{301}\u{1F600}')", "3"),
    ("length(list)", "5"),
    ("length(object)", "5"), ("length(null)", "0"),
    ("split('a,b,,c', ',')", #"["a","b","","c"]"#), ("split('', ',')", "[]"),
    ("split('a--b--c', '--')", #"["a","b","c"]"#), ("split('aaa', 'aa')", #"["","a"]"#),
    ("split('h\u{E9}\u{1F600}', '')", #"["h","é","😀"]"#), ("split(12345, 3)", #"["12","45"]"#),
    ("split('a,b', 'A')", #"["a,b"]"#), ("split(null, ',')", "[]"),
    ("trim('  a b \t\n')", #""a b""#), ("trim('\u{FEFF}\u{A0}x')", #""x""#), ("trim(5)", #""5""#),
    ("trim('')", #""""#), ("lower('ÀB')", #""àb""#), ("upper('àß')", #""ÀSS""#),
    ("upper(true)", #""TRUE""#),
    ("replace('a-b-c', '-', '+')", #""a+b+c""#), ("replace('aaa', 'a', 'aa')", #""aaaaaa""#),
    ("replace('abc', '', 'x')", #""abc""#), ("replace('Aa', 'a', '')", #""A""#),
    ("replace('e\u{301}', 'e', 'x')", #""x́""#), ("replace(1.5, '.', ',')", #""1,5""#),
    ("keys(object)", #"["One","two","3","","deep"]"#), ("keys(null)", "[]"),
    ("keys(fromJSON('{}'))", "[]"),
    ("KEYS(case)", #"["name","Name","NAME"]"#),
    ("contains('Hello', 'ELL')", "true"), ("contains('Hello', '')", "true"),
    ("contains('', 'a')", "false"),
    ("contains(list, 'b')", "true"), ("contains(list, '3')", "true"),
    ("contains(list, 4)", "false"),
    ("contains(fromJSON('[1]'), yes)", "true"), ("contains(object, 'one')", "false"),
    ("contains(12345, 34)", "true"), ("contains('a', list)", "false"),
    ("contains(nested, nested[1])", "true"),
    ("contains('ΑΣ', 'ς')", "true"), ("contains(people.*.name, 'ann')", "true"),
    ("startsWith('Hello', 'he')", "true"), ("startsWith('Hello', 'lo')", "false"),
    ("startsWith('', '')", "true"),
    ("startsWith(true, 'TR')", "true"), ("startsWith(list, 'a')", "false"),
    ("endsWith('Hello', 'LLO')", "true"),
    ("endsWith('é', '\u{301}')", "false"), ("endsWith('lo', 'hello')", "false"),
    ("endsWith(1.5, 5)", "true"),
    ("format('{0}-{1}-{0}', 'a', 2)", #""a-2-a""#), ("format('{{{0}}}', 'a')", #""{a}""#),
    ("format('{00}', 'a')", #""a""#), ("format('{0}', list)", #""Array""#),
    ("format('{0}', null)", #""""#),
    ("format('{0}', '{1}')", #""{1}""#), ("format(5)", #""5""#),
    ("format('é{0}é', 'ü')", #""éüé""#),
    ("format('{10}', 0,1,2,3,4,5,6,7,8,9,'ten')", #""ten""#), ("format(list)", #""Array""#),
    ("join(list)", #""a,B,3,,true""#), ("join(list, '')", #""aB3true""#),
    ("join('x', ',')", #""x""#),
    ("join(nested, ' ')", #""Array Array x Object""#), ("join(list, other)", #""a,B,3,,true""#),
    ("join(object)", #""""#), ("join(5)", #""5""#),
    ("case(no, 1, yes, 2, 3)", "2"), ("case(no, 1, 3)", "3"),
    ("case(1 == 1, list, 3)", #"["a","B",3,null,true]"#),
    ("fromJSON('  [1, {\"a\": null}] ')", #"[1,{"a":null}]"#), ("fromJSON('1e3')", "1000"),
    ("fromJSON(5)", "5"),
    ("fromJSON('{\"a\":1,\"b\":2,\"a\":3}')", #"{"a":3,"b":2}"#),
    ("fromJSON('\"\\u00e9\"')", #""é""#),
    ("fromJSON(true)", "true"), ("fromJSON('1e400') > 0", "true"),
    ("fromJSON('[1e400, -1e999, 1e-400]')", "[1e400,-1e999,1e-400]"),
    ("fromJSON(toJSON(object)).deep.x.y", #""z""#),
    ("toJSON('a\"b')", #""\"a\\\"b\"""#), ("toJSON(1.0)", #""1""#), ("toJSON(NaN)", #""null""#),
    ("toJSON(-0)", #""0""#), ("toJSON(1e21)", #""1e+21""#), ("toJSON(fromJSON('{}'))", #""{}""#),
    ("toJSON(other)", #""[\n  \"a\"\n]""#),
    ("toJSON(object.deep)", #""{\n  \"x\": {\n    \"y\": \"z\"\n  }\n}""#),
    ("toJSON('\u{1}\u{7F}/\u{2028}')", "\"\\\"\\\\u0001\u{7F}/\u{2028}\\\"\""),
    ("success()", "true"), ("failure()", "false"), ("always()", "true"), ("cancelled()", "false"),
    ("ALWAYS ()", "true"), ("hashFiles('x')", #""""#),
  ])
  func aFunctionGivesItsValue(text: String, value: String) throws {
    #expect(try evaluate(text) == value)
  }

  @Test(arguments: [
    ("case('x', 1, 2)", "'x'"), ("case(no, 1, list, 2, 3)", "list"),
    ("format('{0')", "format('{0')"),
    ("1 == trim(list)", "trim(list)"), ("split(text, object)", "split(text, object)"),
    ("length(number)", "length(number)"), ("length(yes)", "length(yes)"),
    ("keys(list)", "keys(list)"),
    ("keys('a')", "keys('a')"), ("fromJSON('')", "fromJSON('')"),
    ("fromJSON(' \n')", "fromJSON(' \n')"),
    ("fromJSON('{')", "fromJSON('{')"), ("fromJSON('1 2')", "fromJSON('1 2')"),
    ("fromJSON('[1,]')", "fromJSON('[1,]')"),
    ("fromJSON(list)", "fromJSON(list)"), ("fromJSON('\"\\ud800\"')", "fromJSON('\"\\ud800\"')"),
    ("fromJSON('NaN')", "fromJSON('NaN')"), ("hashFiles(list)", "hashFiles(list)"),
    ("format('{1}', 1)", "format('{1}', 1)"),
    ("format('{99999999999999999999}', 1)", "format('{99999999999999999999}', 1)"),
    ("format('{-1}', 1)", "format('{-1}', 1)"), ("format('{0 }', 1)", "format('{0 }', 1)"),
    ("format('{}', 1)", "format('{}', 1)"), ("replace('a', list, 'b')", "replace('a', list, 'b')"),
  ])
  func aValueThatDoesNotFitIsAFaultAtItsPlace(text: String, place: String) throws {
    let fault = try fault(text)
    #expect(pointedAt(text, fault.range) == place)
    #expect(fault.code == "W0307")
  }
}

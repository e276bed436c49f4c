import Testing
import WeftDiagnostics

@testable import WeftExpressions

struct FunctionTests {
  @Test(arguments: [
    ("lines('a\nb\r\n\nc\n')", #"["a","b","","c"]"#), ("lines('')", "[]"), ("lines(null)", "[]"),
    ("lines('a\r\r\nb\rc')", #"["a\r","b\rc"]"#), ("lines('\n')", #"[""]"#),
    ("filter(people, 'item.age > 3').*.age", "[5]"), ("filter(list, 'index == 1')", #"["B"]"#),
    ("filter(list, 'ITEM')", #"["a","B",3,true]"#), ("filter(list, 'false')", "[]"),
    ("filter(other, 'item == ''a''')", #"["a"]"#), ("filter(split('', ','), 'nothing')", "[]"),
    ("map(list, 'index')", "[0,1,2,3,4]"), ("map(other, '(item).x')", "[null]"),
    ("map(other, 'number')", "[7]"), ("map(other, 'item[''x'']')", "[null]"),
    ("map(people, 'item[''name''] || ''it''''s''')", #"["Ann","Bob","it's","it's"]"#),
    ("map(nested, 'map(fromJSON(''[5,6]''), ''add(item, index)'')')", "[[5,7],[5,7],[5,7],[5,7]]"),
    ("map(fromJSON('[[1],[2]]'), 'map(item, ''mul(item, 2)'')[0]')", "[2,4]"),
    (
      "map(fromJSON('[\"x\"]'), 'map(split(''a'', '',''), ''format(''''{0}}}'''', item)'')[0]')",
      #"["a}"]"#
    ),
    ("sort(split('b,C,a,c', ','))", #"["a","b","C","c"]"#), ("sort(range(3, 0, -1))", "[1,2,3]"),
    ("sort(fromJSON('[true,false]'))", "[false,true]"), ("sort(fromJSON('[]'))", "[]"),
    ("sort(split('bb,a,cc', ','), 'length(item)')", #"["a","bb","cc"]"#),
    ("sort(split('_,a,Z', ','))", #"["a","Z","_"]"#),
    (
      "unique(fromJSON('[\"a\",\"A\",\"a\",1,\"1\",[1],[1],null,null]'))",
      #"["a","A",1,"1",[1],null]"#
    ),
    ("first(list)", #""a""#), ("last(list)", "true"), ("first(fromJSON('[]'))", "null"),
    ("slice(list, 1, 3)", #"["B",3]"#), ("slice(list, -2)", "[null,true]"),
    ("slice(list, 3, 1)", "[]"), ("slice(list, -99, 99)", #"["a","B",3,null,true]"#),
    ("slice('aé😀', 1)", #""é😀""#), ("slice('abc', '0', -1)", #""ab""#),
    ("flatten(nested)", #"[1,2,3,"x",{"a":[4]}]"#),
    ("range(0)", "[]"), ("range(-3)", "[]"), ("range(2, 8, 3)", "[2,5]"), ("range('2')", "[0,1]"),
    ("range(5, 0, -2)", "[5,3,1]"), ("range(0, 9e14, 8e14)", "[0,800000000000000]"),
    ("entries(object.deep)", #"[{"key":"x","value":{"y":"z"}}]"#),
    (
      "fromEntries(entries(object))",
      #"{"One":1,"two":"2","3":"three","":"nothing","deep":{"x":{"y":"z"}}}"#
    ),
    (
      "fromEntries(fromJSON('[{\"key\":1,\"value\":2},{\"key\":\"a\"},{\"key\":\"1\",\"value\":3}]'))",
      #"{"1":3,"a":null}"#
    ),
    (
      "merge(fromJSON('{\"a\":1,\"b\":{\"x\":1}}'), fromJSON('{\"b\":{},\"c\":3}'))",
      #"{"a":1,"b":{},"c":3}"#
    ),
    ("merge(fromJSON('{\"a\":1}'), fromJSON('{\"A\":2}'))", #"{"a":1,"A":2}"#),
    ("sum(fromJSON('[1,\"2\",0.5]'))", "3.5"), ("sum(fromJSON('[]'))", "0"),
    ("min(fromJSON('[3,1,2]'))", "1"), ("max(fromJSON('[]'))", "null"), ("max(1, '5', 2)", "5"),
    ("add(1, '2')", "3"), ("sub(1, 2)", "-1"), ("mul(1.5, 2)", "3"), ("div(7, 2)", "3.5"),
    ("mod(-7, 3)", "-1"), ("mod(7, -3)", "1"), ("mod(5.5, 2)", "1.5"),
    ("add(0.1, 0.2) > 0.3", "true"),
    ("basename('/a/b/')", #""b""#), ("basename('/')", #""/""#), ("basename('')", #""""#),
    ("basename('///')", #""/""#), ("dirname('/a')", #""/""#), ("dirname('a/b/c')", #""a/b""#),
    ("dirname('a//b')", #""a""#), ("dirname('/')", #""/""#), ("dirname('')", #"".""#),
    ("stem('a/.bashrc')", #"".bashrc""#), ("stem('x.tar.gz')", #""x.tar""#),
    ("stem('..')", #""..""#),
    ("extension('a.b/c')", #""""#), ("extension('c.')", #""""#), ("extension('é.ü')", #""ü""#),
    ("base64('')", #""""#), ("base64('ab')", #""YWI=""#), ("fromBase64('YWI')", #""ab""#),
    ("fromBase64(' YW\nI= ')", #""ab""#), ("fromBase64('Pz8_')", #""???""#),
    ("sha256('')", #""e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855""#),
    ("formatTime(0)", #""1970-01-01T00:00:00Z""#), ("formatTime(-1)", #""1969-12-31T23:59:59Z""#),
    ("formatTime(-62167219200)", #""0000-01-01T00:00:00Z""#),
    ("formatTime('253402300799.9')", #""9999-12-31T23:59:59Z""#),
    (
      "formatTime(1709164800, '%F %T %j %u %a %b %s %% é')",
      #""2024-02-29 00:00:00 060 4 Thu Feb 1709164800 % é""#
    ),
    ("parseTime('1969-12-31T23:59:59.25Z')", "-0.75"),
    ("parseTime('2026-11-24T01:00:00+01:00')", "1795478400"),
  ])
  func aFunctionGivesItsValue(text: String, value: String) throws {
    #expect(try evaluate(text) == value)
  }

  @Test(arguments: [
    ("sort(none)", "sort(none)", "sort() is given null, expected an array"),
    ("filter(none, 'item')", "filter(none, 'item')", "filter() is given null, expected an array"),
    ("map(object, 'item')", "map(object, 'item')", "map() is given an object, expected an array"),
    ("map(list, 'keys(item)')", "keys(item)", "keys() is given a string, expected an object"),
    ("map(list, 'item.a = 1')", "=", #"unexpected "=" in an expression"#),
    ("map(list, 'f(item)')", "f", #"unknown function "f""#),
    ("map(list, 'item == ''a')", "''a", #"the string that begins here has no closing "'""#),
    ("map(list, '''a'' == itm.')", ".", #"unexpected end of the expression after ".""#),
    ("map(list, text)", "text", "the second argument of map() must be an expression in quotes"),
    (
      "sort(list, trim('a'))", "trim('a')",
      "the second argument of sort() must be an expression in quotes"
    ),
    ("filter(list, '')", "''", "the second argument of filter() is empty"),
    (
      "sort(list)", "sort(list)",
      "sort() is given a string and a number, expected only strings, only numbers or only booleans"
    ),
    (
      "sort(nested)", "sort(nested)",
      "sort() is given an array, expected only strings, only numbers or only booleans"
    ),
    ("unique('a')", "unique('a')", "unique() is given a string, expected an array"),
    (
      "slice(number, 1)", "slice(number, 1)",
      "slice() is given a number, expected an array or a string"
    ),
    (
      "slice(list, 0.5)", "slice(list, 0.5)",
      "slice() is given a number that is not whole, or too large"
    ),
    ("range(1e17)", "range(1e17)", "range() is given a number that is not whole, or too large"),
    (
      "range(100001)", "range(100001)", "range() gives more than 100000 numbers, which is the limit"
    ),
    (
      "range(-9e15, 9e15)", "range(-9e15, 9e15)",
      "range() is given a number that is not whole, or too large"
    ),
    ("range(1, 2, 0)", "range(1, 2, 0)", "range() has a step of 0"),
    ("sum(list)", "sum(list)", #"sum() is given "a", which is not a number"#),
    ("add(none, 1)", "add(none, 1)", "add() is given null, expected a number"),
    ("add('', 1)", "add('', 1)", #"add() is given "", which is not a number"#),
    ("add(NaN, 1)", "add(NaN, 1)", "add() is given NaN, expected a number"),
    ("mul(1e308, 10)", "mul(1e308, 10)", "mul() gives a number that is too large or not a number"),
    ("div(1, 0)", "div(1, 0)", "div() divides by zero"),
    ("mod(1, '0')", "mod(1, '0')", "mod() divides by zero"),
    ("entries(none)", "entries(none)", "entries() is given null, expected an object"),
    (
      "fromEntries(list)", "fromEntries(list)",
      #"fromEntries() is given an element that is not like { "key": "a", "value": 1 }"#
    ),
    ("merge(object, list)", "merge(object, list)", "merge() is given an array, expected an object"),
    ("basename(list)", "basename(list)", "basename() is given an array, expected a string"),
    ("fromBase64('a')", "fromBase64('a')", "fromBase64() is given a string that is not base64"),
    (
      "fromBase64('/w==')", "fromBase64('/w==')",
      "fromBase64() decodes to bytes that are not UTF-8 text"
    ),
    (
      "formatTime(1e12)", "formatTime(1e12)",
      "formatTime() is given a time that is not in the years 0 to 9999"
    ),
    (
      "formatTime(0, '%Q')", "formatTime(0, '%Q')",
      #"formatTime() is given "%Q", which has an unknown directive"#
    ),
    (
      "parseTime('2026-02-29T00:00:00Z')", "parseTime('2026-02-29T00:00:00Z')",
      #"parseTime() is given "2026-02-29T00:00:00Z", but that month has 28 days, not 29"#
    ),
    ("filter(list)", "filter", "filter() is given one argument, expected 2"),
  ])
  func aCallThatCannotWorkSaysWhy(text: String, place: String, message: String) throws {
    let fault = try fault(text)
    #expect(fault.message == message)
    #expect(pointedAt(text, fault.range) == place)
  }

  @Test(arguments: [
    ("filter(list, item.size > 3)", "write 'item.size > 3'"),
    ("map(list, item['a'])", "write 'item[''a'']'"),
    ("sort(none)", "write … || fromJSON('[]') for an empty array"),
    ("merge(none)", "write … || fromJSON('{}') for an empty object"),
    ("add(none, 1)", "write … || 0 for a default"),
    ("sum('1')", "write lines(…) for its lines, or fromJSON(…) for JSON"),
  ])
  func aRemedyIsNamed(text: String, help: String) throws {
    #expect(try fault(text).help == help)
  }

  /// Lists in lists multiply work without creating anything, and lists may hold one long text many times.
  @Test(arguments: [
    "length(filter(range(1000), 'filter(range(900), ''false'')'))",
    "filter(range(90000), 'contains(range(90000), -1)')",
    "map(range(90000), 'replace(''aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'', ''a'', "
      + "''bbbbbbbbbbbbbbbbbbbbbbbbbbbb'')')",
    "map(range(300), 'glob(''**'')')",
  ])
  func workOnElementsIsLimited(text: String) throws {
    let fault = try fault(
      text, limits: ExpressionLimits(madeBytes: 16 << 20, elementWork: 20_000_000))
    #expect(
      [EvaluationError.tooLarge(limit: 16 << 20), .tooMuchWork(limit: 20_000_000)]
        .contains(fault.problem))
  }

  static let types: [(String, ExpressionType)] = [
    ("lines(inputs.version)", .array(of: .string)),
    ("filter(steps.a.outputs.files, 'item.name')", .array(of: .object([("name", .string)]))),
    ("map(steps.a.outputs.files, 'item.name')", .array(of: .string)),
    ("map(inputs.list, 'index')", .array(of: .number)), ("sort(inputs.list)", .array(of: .string)),
    ("sort(inputs.any)", .array(of: .any)), ("first(inputs.list)", .either([.string, .null])),
    ("slice(inputs.list, 1)", .array(of: .string)), ("slice(inputs.version, 1)", .string),
    ("flatten(fromJSON('[[1],2]'))", .array(of: .number)), ("range(3)", .array(of: .number)),
    ("entries(env)", .array(of: .object([("key", .string), ("value", .string)]))),
    ("fromEntries(entries(env))", .object([], rest: .string)),
    ("merge(fromJSON('{\"a\":1}'), fromJSON('{\"a\":true}')).a", .boolean),
    ("merge(fromJSON('{\"a\":1}'), inputs.any).b", .any),
    ("min(range(3))", .either([.number, .null])), ("min(1, 2)", .number),
    ("add(inputs.count, '1')", .number), ("formatTime(inputs.count)", .string),
    ("parseTime(inputs.version)", .number),
  ]

  @Test(arguments: types)
  func theTypeOfAResultFollowsFromTheArguments(text: String, type: ExpressionType) throws {
    let checked = TypeChecker.check(try Expression.parse(text), in: SampleTypes())
    #expect(checked.faults == [])
    #expect(checked.type == type)
  }

  @Test(arguments: [
    ("filter(steps.a.outputs.files, 'item.size > 3')", "size", #""item" has no member "size""#),
    ("map(inputs.list, 'item.x')", "x", #""item" is a string, which has no members"#),
    (
      "map(inputs.list, 'inputs.versoin')", "versoin",
      #""this file.inputs" has no member "versoin""#
    ),
    ("map(inputs.list, 'index.x')", "x", #""index" is a number, which has no members"#),
    ("sort(inputs.version)", "inputs.version", "sort() is given a string, expected an array"),
    ("add(inputs.draft, 1)", "inputs.draft", "add() is given a boolean, expected a number"),
    ("add(1, 'many')", "'many'", "add() is given a string, expected a number"),
    ("min(inputs.count)", "inputs.count", "min() is given a number, expected an array"),
    ("merge(inputs.list)", "inputs.list", "merge() is given an array, expected an object"),
    ("formatTime(1, '%q')", "'%q'", #"formatTime() is given "%q", which has an unknown directive"#),
  ])
  func theCheckerFindsWhatCannotWork(text: String, place: String, message: String) throws {
    let faults = TypeChecker.check(try Expression.parse(text), in: SampleTypes()).faults
    #expect(faults.map(\.message) == [message])
    #expect(faults.first.map { pointedAt(text, $0.range) } == place)
  }

  @Test func referencesInsideQuotesAreThoseOfTheExpression() throws {
    let text = "map(steps.a.outputs.files, 'format(''{0}'', secrets.TOKEN, item.name, index)')"
    let expression = try Expression.parse(text)
    #expect(expression.references.map(\.text) == ["steps.a.outputs.files", "secrets.TOKEN"])
    let checked = TypeChecker.check(expression, in: SampleTypes())
    #expect(checked.isSecret)
    #expect(
      checked.references.map { pointedAt(text, $0.reference.range) }
        == ["steps.a.outputs.files", "secrets.TOKEN"])
    #expect(try Expression.parse("filter(a, 'failure()')").statusFunctions == [.failure])
  }

  @Test func aSecretIsNotPartOfAMessage() throws {
    struct Secrets: ExpressionScope {
      var files: any FileLookup { NoFiles() }
      func value(of reference: ContextReference, in expression: ExpressionNode) -> ScopedValue {
        ScopedValue(.string("hunter2"), isSecret: true)
      }
      func status(_ function: StatusFunction) -> Bool { true }
    }
    for text in [
      "add(s.x, 1)", "parseTime(s.x)", "formatTime(1, format('%{0}', s.x))",
      "map(split(s.x, 'u'), 'add(item, 1)')",
    ] {
      let fault = #expect(throws: ExpressionError.self) {
        try Expression.parse(text).evaluate(in: Secrets())
      }
      #expect(fault?.message.contains("h") == true && fault?.message.contains("hunter") == false)
      #expect(fault?.message.contains("\"") == false)
    }
  }
}

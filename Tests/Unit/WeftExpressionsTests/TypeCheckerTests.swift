import Testing
import WeftDiagnostics

@testable import WeftExpressions

/// The types that the checker knows in these tests.
struct SampleTypes: TypeScope {
  private static let words = ["success", "failure", "cancelled", "skipped"]

  private static let step = ExpressionType.object([
    ("outcome", .string(values: words)), ("conclusion", .string(values: words)),
    ("exitCode", .number), ("stdout", .string), ("json", .any),
    ("outputs", .object([("x", .string), ("files", .array(of: .object([("name", .string)])))])),
  ])

  static let contexts = ExpressionType.object([
    ("steps", .object([("a", step), ("b", step)])),
    (
      "inputs",
      .object([
        ("draft", .boolean), ("version", .string), ("count", .number),
        ("level", .string(values: ["low", "high"])), ("any", .any),
        ("maybe", ExpressionType.string(values: ["on", "off"]).orNull),
        ("list", .array(of: .string)),
      ])
    ),
    ("secrets", .object([("TOKEN", .string)])),
    ("env", .object([], rest: .string)),
  ])

  func type(of reference: ContextReference) -> ReferenceType {
    do {
      let type = try SampleTypes.contexts.type(at: reference.names[...], in: "this file")
      return .known(type, isSecret: reference.context == "secrets")
    } catch {
      return .fault(error)
    }
  }
}

private func check(_ text: String) throws -> CheckedExpression {
  TypeChecker.check(try Expression.parse(text), in: SampleTypes())
}

struct TypeCheckerTests {
  static let types: [(String, ExpressionType)] = [
    ("1", .number), ("null", .null), ("'a'", .string(values: ["a"])), ("!1", .boolean),
    ("1 < 2", .boolean), ("inputs.draft", .boolean), ("INPUTS.Draft", .boolean),
    ("steps['a'].outputs['x']", .string), ("env.ANY", .string),
    ("inputs.draft && inputs.count", .either([.boolean, .number])),
    ("inputs.version || 'none'", .string), ("null || 1", .number),
    ("inputs.list && 'yes'", .string(values: ["yes"])),
    ("inputs.level || 'x'", .string(values: ["low", "high", "x"])),
    ("inputs.list[0]", .either([.string, .null])),
    ("inputs.list.*", .array(of: .string)), ("inputs.any.b[3].*", .array(of: .any)),
    ("steps.a.outputs.files.*.name", .array(of: .string)),
    ("steps.*.exitCode", .array(of: .number)),
    ("steps[inputs.version].exitCode", .either([.number, .null])),
    ("fromJSON('[1, 2]')", .array(of: .number)), ("fromJSON(inputs.version)", .any),
    ("case(inputs.draft, 1, 'a')", .either([.number, .string(values: ["a"])])),
    ("split('a,b', ',')", .array(of: .string)), ("length('abc')", .number),
    // Not all elements have the member.
    ("fromJSON('[{}, {\"a\": 1}]')[0].a", .either([.number, .null])),
    ("fromJSON('[{\"b\": 1}, {\"a\": null}]')[0].a", .null),
    ("fromJSON('[{\"b\": 1}, {\"a\": {\"c\": 1}}]')[0].a.c", .either([.number, .null])),
    ("success() && always()", .boolean), ("format('{0}', 1)", .string),
  ]

  @Test(arguments: types)
  func tellsWhatAnExpressionComesTo(text: String, type: ExpressionType) throws {
    let checked = try check(text)
    #expect(checked.faults == [])
    #expect(checked.remarks == [])
    #expect(checked.type == type)
  }

  static let faults: [(String, String, String?)] = [
    ("steps.a.outputs.z", #""this file.steps.a.outputs" has no member "z""#, nil),
    ("inputs.versoin", #""this file.inputs" has no member "versoin""#, "version"),
    (
      "inputs.version.major", #""this file.inputs.version" is a string, which has no members"#,
      nil
    ),
    ("inputs.list['x']", #""this file.inputs.list" has no member "x""#, nil),
    ("steps.*.exit_code", #"this has no member "exit_code""#, "exitCode"),
    ("inputs.count.*", "this is a number, which has no members", nil),
    ("(inputs.list || inputs.list).x", #"this has no member "x""#, nil),
    (
      "case(inputs.version, 1, 2)", "a condition of case() is a string, expected true or false",
      nil
    ),
    ("trim(inputs.list)", "trim() is given an array, expected a string", nil),
    (
      "length(inputs.draft)",
      "length() is given a boolean, expected a string, an array or an object", nil
    ),
    ("keys(inputs.list)", "keys() is given an array, expected an object", nil),
    ("format('{1}', 'a')", "format() refers to value {1}, but is given one value", nil),
    ("format('{', 'a')", #"format() is given "{" with unbalanced braces"#, nil),
    ("div(1, 0)", "div() divides by zero", nil),
    ("inputs.count > range(0, 1, 0)[0]", "range() has a step of 0", nil),
    ("parseTime('2026-02-30T00:00:00Z')", "parseTime() is given", nil),
    ("fromJSON('{')", "fromJSON() is given a string that is not JSON: ", nil),
  ]

  @Test(arguments: faults)
  func findsWhatCannotWork(text: String, message: String, nearest: String?) throws {
    let faults = try check(text).faults
    #expect(faults.count == 1)
    let fault = try #require(faults.first)
    #expect(fault.message.hasPrefix(message))
    if let nearest { #expect(fault.help == "did you mean \"\(nearest)\"?") }
  }

  static let remarks: [(String, String?)] = [
    ("inputs.draft == 'true'", "write true without quotes"),
    ("'FALSE' != inputs.draft", "write FALSE without quotes"),
    ("inputs.draft == 'yes'", nil), ("inputs.count == 'many'", nil),
    ("inputs.level == 'hihg'", "did you mean 'high'?"), ("inputs.list == 'a'", nil),
    ("steps.a.outcome == 'sucess'", "did you mean 'success'?"), ("inputs.maybe == 'of'", nil),
    ("steps.a.outcome != 'failed'", nil),
    ("(inputs.version && inputs.version != 'x') == 'true'", "write true without quotes"),
  ]

  @Test(arguments: remarks)
  func remarksOnComparisonsThatCanNeverBeTrue(text: String, help: String?) throws {
    let checked = try check(text)
    #expect(checked.faults == [])
    #expect(checked.remarks.count == 1)
    if let help { #expect(checked.remarks.first?.help == help) }
  }

  @Test(arguments: [
    "fromJSON('[{}, {\"a\": 1}]')[0].a == null", "fromJSON('[{}, {\"a\": \"b\"}]')[0].a != ''",
    "inputs.draft == '1'", "inputs.draft == ' 0 '", "inputs.count == '0x10'", "inputs.any == 'a'",
    "inputs.level == 'HIGH'", "inputs.maybe == ''", "inputs.maybe == 'ON'", "inputs.version == 3",
    "inputs.list == inputs.list", "inputs.draft == 2", "inputs.count == null",
    "inputs.draft == null",
    "inputs.draft < 'a'", "steps.a.outcome == steps.b.outcome",
  ])
  func saysNothingOfComparisonsThatCanBeTrue(text: String) throws {
    let checked = try check(text)
    #expect(checked.remarks == [])
    #expect(checked.faults == [])
  }

  static let guards: [(String, [Bool])] = [
    ("steps.a.outputs.x", [false]), ("steps.a.outputs.x || 'none'", [true]),
    ("'none' || steps.a.outputs.x", [false]), ("steps.a.outcome", [true]),
    ("steps.a.outcome == 'success' && steps.a.outputs.x", [true, true]),
    ("steps.a.outcome == 'success' && steps.b.outputs.x", [true, false]),
    ("steps.A.Conclusion == 'success' && steps['a'].outputs.x", [true, true]),
    ("(steps.a.outcome == 'success' && 1) && steps.a.outputs.x", [true, true]),
    ("!(steps.a.outcome == 'success' && 1) == steps.a.outputs.x", [true, false]),
    ("case(steps.a.outcome == 'success', steps.a.outputs.x, 'none')", [true, true]),
    ("case(steps.a.outcome == 'skipped', 'none', steps.a.outputs.x)", [true, true]),
    ("steps.a.outcome == 'skipped' || steps.a.outputs.x", [true, true]),
    ("format('{0}', steps.a.outputs.x) || 'none'", [true]),
    ("steps.a.outputs.x && steps.a.outcome == 'success'", [false, true]),
  ]

  @Test(arguments: guards)
  func tellsWhichReferencesAreGuarded(text: String, guarded: [Bool]) throws {
    #expect(try check(text).references.map(\.isGuarded) == guarded)
  }

  @Test func secrecyIsThatOfAnyReference() throws {
    #expect(try check("inputs.version || secrets.TOKEN").isSecret)
    #expect(try check("length(secrets['TOKEN']) > 3").isSecret)
    #expect(try !check("inputs.version").isSecret)
  }

  @Test func tellsWhichFunctionsAskHowTheRunGoes() throws {
    let checked = try check("Success() || hashFiles('a') == 'b' && failure()")
    #expect(checked.statusFunctions == [.success, .failure])
    #expect(checked.readsFiles)
    #expect(try Expression.parse("!cancelled()").statusFunctions == [.cancelled])
  }

  @Test(arguments: [
    (
      "glob('../x')", [5..<11],
      "glob() fails: the pattern \"../x\" leads out of the directory that is searched"
    ),
    (
      "glob('a', '!/x')", [10..<15],
      "glob() fails: the pattern \"/x\" is absolute, expected a relative one"
    ),
    ("glob('')", [5..<7], "glob() fails: a pattern is empty"),
    (
      "hashFiles(inputs.version, 'a/../b')", [26..<34],
      "hashFiles() fails: the pattern \"a/../b\" leads out of the directory that is searched"
    ),
    (
      "hashFiles('/x', '../y')", [10..<14, 16..<22],
      "hashFiles() fails: the pattern \"/x\" is absolute, expected a relative one"
    ),
  ])
  func patternsThatFailInEveryRunAreReported(
    text: String, ranges: [Range<Int>], message: String
  ) throws {
    let faults = try check(text).faults
    #expect(faults.map { Int($0.range.start)..<Int($0.range.end) } == ranges)
    #expect(faults.first?.message == message)
  }

  @Test(arguments: ["glob('./a', '!b', inputs.version)", "hashFiles('', '#/x', 'a')", "glob('.')"])
  func otherPatternsAreNotReported(text: String) throws {
    #expect(try check(text).faults.isEmpty)
  }

  @Test func wrongReferenceIsReportedOnceWithoutConsequences() throws {
    let checked = try check("trim(inputs.nothing) == 'a' && keys(inputs.nothing)")
    #expect(checked.faults.count == 2)
    #expect(checked.references.count == 2)
    #expect(checked.faults.map(\.range.start) == [12, 43])
  }

  @Test func unionsKeepWordsAndForgetThemWhereAnyTextCanBe() {
    #expect(
      ExpressionType.union([.string(values: ["a"]), .null, .string(values: ["b", "a"])])
        == .either([.string(values: ["a", "b"]), .null]))
    #expect(ExpressionType.union([.string(values: ["a"]), .string]) == .string)
    #expect(ExpressionType.union([.any, .number]) == .any)
    #expect(ExpressionType.union([]) == .any)
  }
}

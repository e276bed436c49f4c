import Synchronization
import Testing
import WeftDiagnostics

@testable import WeftExpressions

/// A scope that records its lookups.
private final class AskedScope: ExpressionScope, FileLookup {
  private let log = Mutex<[String]>([])

  var asked: [String] { log.withLock { $0 } }

  func value(
    of reference: ContextReference, in expression: ExpressionNode
  ) throws(ExpressionError) -> ScopedValue {
    log.withLock { $0.append(reference.text) }
    switch reference.context {
    case "secrets": return ScopedValue(.string("{hush"), isSecret: true)
    case "broken":
      throw ExpressionError(
        .scope(code: "W0399", message: "no", help: "try"), reference.names[1].range)
    default: return ScopedValue(.string(reference.context))
    }
  }

  func status(_ function: StatusFunction) -> Bool {
    log.withLock { $0.append("\(function)()") }
    return function == .cancelled
  }

  var files: any FileLookup { self }

  func hash(of patterns: [String]) throws(EvaluationError) -> String {
    log.withLock { $0.append("hash \(patterns)") }
    if patterns == ["bad"] { throw .filesNotRead(.hashFiles, "why") }
    return "abc"
  }

  func paths(matching patterns: [String]) throws(EvaluationError) -> [String] {
    log.withLock { $0.append("glob \(patterns)") }
    return patterns
  }
}

struct ScopeTests {
  @Test(arguments: [
    ("no && other", ["no", "other"]), ("'' && other", []), ("'x' || other", []),
    ("'' || a || b", ["a"]), ("case(1 == 1, a, b)", ["a"]), ("case(1 == 2, a, b)", ["b"]),
    ("case(1 == 1, a, c, d, b)", ["a"]), ("a[b]", ["b", "a"]), ("a.b['c d'].e", ["a.b['c d'].e"]),
    ("a['it''s'].b[c].d", ["c", "a['it''s'].b"]), ("always()", []),
    ("success() || cancelled()", ["success()", "cancelled()"]),
    ("HashFiles('x', 3)", [#"hash ["x", "3"]"#]), ("glob('x', 'y')[1]", [#"glob ["x", "y"]"#]),
  ])
  func scopeIsReadOnlyAsNeeded(text: String, asked: [String]) throws {
    let scope = AskedScope()
    _ = try Expression.parse(text).evaluate(in: scope)
    #expect(scope.asked == asked)
  }

  @Test(arguments: [
    ("secrets.a", true), ("length(secrets.a) > 1", true), ("a || secrets.a", false),
    ("'' || secrets.a", true), ("secrets.a && 'x'", true), ("case(1 == 2, secrets.a, 'x')", false),
    ("a[secrets.b]", true), ("!secrets.a", true), ("a == 'b'", false),
  ])
  func aValueIsSecretIfASecretWasLookedAt(text: String, isSecret: Bool) throws {
    #expect(try Expression.parse(text).evaluate(in: AskedScope()).isSecret == isSecret)
    let template = Template.parse("x${{ \(text) }}")
    if case .string = try Expression.parse(text).evaluate(in: AskedScope()).value {
      #expect(try template.evaluate(in: AskedScope()).isSecret == isSecret)
    }
  }

  @Test func aFaultOfTheScopeKeepsItsPlace() throws {
    let fault = #expect(throws: ExpressionError.self) {
      try Expression.parse("'x' == broken.name.more").evaluate(in: AskedScope())
    }
    #expect(fault?.range == SourceRange(start: 14, end: 18))
    #expect(fault?.code == "W0399")
    #expect(fault?.help == "try")
  }

  @Test func hashingErrorIsLocatedAtItsCall() throws {
    let fault = #expect(throws: ExpressionError.self) {
      try Expression.parse("'x' == hashFiles('bad')").evaluate(in: AskedScope())
    }
    #expect(fault?.range == SourceRange(start: 7, end: 23))
    #expect(fault?.message == "hashFiles() fails: why")
  }

  @Test(arguments: [
    "format(secrets.a)", "fromJSON(secrets.a)",
  ])
  func errorAboutASecretDoesNotRevealIt(text: String) throws {
    let fault = #expect(throws: ExpressionError.self) {
      try Expression.parse(text).evaluate(in: AskedScope())
    }
    let said = (fault?.message ?? "") + (fault?.help ?? "")
    #expect(!said.contains("hush"))
  }
}

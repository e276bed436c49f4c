import Testing
import WeftDiagnostics
import WeftJSON

@testable import WeftExpressions

/// The test cases of GitHub's own implementations.
@Suite(.enabled(if: SuiteCase.folder != nil, "WEFT_SUITES names no folder with github-expressions"))
struct SuiteTests {
  @Test(arguments: try SuiteCase.all())
  func answersAsGitHubDoes(_ test: SuiteCase) throws {
    do throws(ExpressionError) {
      let expression = try Expression.parse(test.text)
      #expect(!test.isFaultWhenRead)
      let scope = ValueScope(ExpressionObject(test.contexts))
      let value = try expression.evaluate(in: scope, limits: .github).value
      #expect(test.fault == nil)
      #expect(value.suiteKind == test.kind)
      #expect(value.json == test.value)
    } catch {
      try #require(test.fault != nil, "\(error.message)")
      #expect(test.isFaultWhenRead == ((try? Expression.parse(test.text)) == nil))
      if let position = test.position {
        #expect(Int(error.range.start) + 1 == position, "\(error.message)")
      }
    }
  }

  @Test func findsTheCases() throws {
    #expect(try SuiteCase.all().count > 400)
  }
}

extension ExpressionLimits {
  /// 1 MiB of UTF-16; for ASCII, half as much in UTF-8.
  fileprivate static let github = ExpressionLimits(madeBytes: 512 << 10)
}

extension ExpressionValue {
  fileprivate var suiteKind: String {
    switch self {
    case .null: "Null"
    case .boolean: "Boolean"
    case .number: "Number"
    case .string: "String"
    case .array: "Array"
    case .object: "Object"
    }
  }
}

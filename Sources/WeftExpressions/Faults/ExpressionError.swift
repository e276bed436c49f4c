package import WeftDiagnostics

/// A problem with an expression or a template, and its location.
package struct ExpressionError: Error, Sendable, Hashable {
  package var problem: ExpressionProblem
  /// UTF-8 offsets in the text that was parsed; for a template, in the whole string.
  package var range: SourceRange

  package init(_ problem: ExpressionProblem, _ range: SourceRange) {
    self.problem = problem
    self.range = range
  }

  package var code: String { problem.code }
  package var message: String { problem.message }
  package var help: String? { problem.help }

  /// The diagnostic for a file that contains the parsed text, unescaped, from `offset` on.
  package func diagnostic(
    in file: SourceFile, at offset: Int = 0, severity: Diagnostic.Severity = .error
  ) -> Diagnostic {
    let place = SourceRange(start: Int(range.start) + offset, end: Int(range.end) + offset)
    return Diagnostic(
      severity, code: code, message: message, place: Diagnostic.Place(file: file, range: place),
      help: help)
  }
}

/// A problem with an expression: one case, one message.
package enum ExpressionProblem: Error, Sendable, Hashable {
  // Found by the parser.
  case unexpectedSymbol(String)
  case unexpectedEnd(after: String)
  case unclosedText
  case unknownFunction(String)
  case argumentCount(ExpressionFunction, found: Int)
  case tooLong(Int, limit: Int)
  case tooDeep(limit: Int)
  case tooManyParts(limit: Int)
  // Found when parsing a template.
  case unclosedExpression
  case emptyExpression
  case textAroundExpression
  // Found by the type checker.
  case unknownContext(String, nearest: String?)
  /// `owner` is the name that messages use for the value being accessed.
  case access(AccessError, in: String?)
  // Found during evaluation or static evaluation. A detail is `nil` if it would reveal a secret.
  case notText(ExpressionFunction, found: String)
  case notCountable(found: String)
  case notObject(found: String)
  case notBoolean(found: String)
  case malformedFormat(String?)
  case missingFormatValue(index: String?, given: Int)
  case emptyJSON
  case malformedJSON(String?)
  case tooLarge(limit: Int)
  case filesNotHashed(String?)
  // Found when writing a value into text.
  case nothingToWrite(String)
  case notWritable(String, found: String)
  case unfitForHeader(String, UInt8)
  case unfitForPath(String, String)
  case notJSONNumber(String)
  /// Raised by the scope that provides the values.
  case scope(code: String, message: String, help: String?)
}

extension ExpressionProblem {
  /// The problem without details about values.
  var concealed: ExpressionProblem {
    switch self {
    case .malformedFormat: .malformedFormat(nil)
    case .malformedJSON: .malformedJSON(nil)
    case .missingFormatValue(_, let given): .missingFormatValue(index: nil, given: given)
    case .filesNotHashed: .filesNotHashed(nil)
    default: self
    }
  }
}

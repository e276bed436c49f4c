package import WeftDiagnostics

/// What is wrong with an expression or a template, and where.
package struct ExpressionFault: Error, Sendable, Hashable {
  package var problem: ExpressionProblem
  /// Offsets of UTF-8 in the text that was parsed: the whole string for a template.
  package var range: SourceRange

  package init(_ problem: ExpressionProblem, _ range: SourceRange) {
    self.problem = problem
    self.range = range
  }

  package var code: String { problem.code }
  package var message: String { problem.message }
  package var help: String? { problem.help }

  /// The fault in a file whose text from `offset` on is the parsed text, unescaped.
  package func diagnostic(
    in file: SourceFile, at offset: Int = 0, severity: Diagnostic.Severity = .error
  ) -> Diagnostic {
    let place = SourceRange(start: Int(range.start) + offset, end: Int(range.end) + offset)
    return Diagnostic(
      severity, code: code, message: message, place: Diagnostic.Place(file: file, range: place),
      help: help)
  }
}

/// Each thing that can be wrong with an expression: one case, one sentence.
package enum ExpressionProblem: Error, Sendable, Hashable {
  // Found when it is read.
  case unexpectedSymbol(String)
  case unexpectedEnd(after: String)
  case unclosedText
  case unknownFunction(String)
  case argumentCount(ExpressionFunction, found: Int)
  case tooLong(Int, limit: Int)
  case tooDeep(limit: Int)
  case tooManyParts(limit: Int)
  // Found when a template is read.
  case unclosedExpression
  case emptyExpression
  case textAroundExpression
  // Found when it is checked.
  case unknownContext(String, nearest: String?)
  /// `owner` is how messages call the value in which something is looked for.
  case access(AccessFault, in: String?)
  // Found when it is evaluated, or before. What is `nil` would tell a secret.
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
  // Found when a value is written into a text.
  case nothingToWrite(String)
  case notWritable(String, found: String)
  case unfitForHeader(String, UInt8)
  case unfitForPath(String, String)
  case notJSONNumber(String)
  /// Said by the scope that gives the values.
  case scope(code: String, message: String, help: String?)
}

extension ExpressionProblem {
  /// The problem without what it says of values.
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

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

extension ExpressionProblem {
  /// The diagnostic code, stable across releases.
  package var code: String {
    switch self {
    case .unexpectedSymbol, .unexpectedEnd, .unclosedText: "W0302"
    case .unknownFunction: "W0303"
    case .argumentCount: "W0304"
    case .tooLong, .tooDeep, .tooManyParts: "W0305"
    case .unclosedExpression, .emptyExpression, .textAroundExpression: "W0306"
    case .access: "W0309"
    case .unknownContext: "W0310"
    case .notText, .notCountable, .notObject, .notBoolean, .malformedFormat, .missingFormatValue,
      .emptyJSON, .malformedJSON, .tooLarge, .filesNotHashed:
      "W0307"
    case .nothingToWrite, .notWritable, .unfitForHeader, .unfitForPath, .notJSONNumber: "W0308"
    case .scope(let code, _, _): code
    }
  }

  /// States what was found, then what was expected.
  package var message: String {
    switch self {
    case .unexpectedSymbol(let text): "unexpected \(quoted(text)) in an expression"
    case .unexpectedEnd(let text):
      "the expression ends after \(quoted(text)), where more must follow"
    case .unclosedText: "the text that begins here has no closing \"'\""
    case .unknownFunction(let name): "there is no function \(quoted(name))"
    case .argumentCount(let function, let found):
      "\(function.rawValue)() is given \(arguments(found)), but takes \(function.argumentPhrase)"
    case .tooLong(let count, let limit):
      "an expression of \(count) bytes is longer than the limit of \(limit)"
    case .tooDeep(let limit): "the expression is nested deeper than the limit of \(limit)"
    case .tooManyParts(let limit): "the expression has more parts than the limit of \(limit)"
    case .unclosedExpression: "\"${{\" has no closing \"}}\""
    case .emptyExpression: "there is nothing between \"${{\" and \"}}\""
    case .textAroundExpression: "a condition is one expression, without text around ${{ }}"
    case .unknownContext(let name, _): "there is no context \(quoted(name))"
    case .access(let fault, let owner): message(of: fault, in: owner)
    case .notText(let function, let found):
      "\(function.rawValue)() is given \(found), but takes a text"
    case .notCountable(let found):
      "length() is given \(found), but takes a text, an array or an object"
    case .notObject(let found): "keys() is given \(found), but takes an object"
    case .notBoolean(let found): "a condition of case() is \(found), but must be true or false"
    case .malformedFormat(let text):
      "format() is given \(text.map { quoted($0) } ?? "a text"), in which braces are unpaired"
    case .missingFormatValue(let index, let given):
      "format() is to write value \(index.map { "{\($0)}" } ?? "of a number"), but is given "
        + (given == 1 ? "one value" : "\(given) values")
    case .emptyJSON: "fromJSON() is given an empty text"
    case .malformedJSON(let why): "fromJSON() is given a text that is not JSON" + detail(why)
    case .tooLarge(let limit):
      "the expression makes more than \(limit) bytes of text, the limit of one evaluation"
    case .filesNotHashed(let why): "hashFiles() fails" + detail(why)
    case .nothingToWrite(let text): "\(quoted(text)) is null, and cannot be written into a text"
    case .notWritable(let text, let found):
      "\(quoted(text)) is \(found), and cannot be written into a text"
    case .unfitForHeader(let text, let byte):
      "\(quoted(text)) has \(controlName(byte)), which a header must not have"
    case .unfitForPath(let text, let segment):
      "\(quoted(text)) makes the path segment \"\(segment)\", which would name another path"
    case .notJSONNumber(let text): "\(quoted(text)) is a number that JSON does not have"
    case .scope(_, let message, _): message
    }
  }

  package var help: String? {
    switch self {
    case .unexpectedSymbol(let text): symbolHelp(text)
    case .unexpectedEnd, .tooLong, .tooDeep, .tooManyParts, .emptyJSON, .malformedJSON, .tooLarge,
      .filesNotHashed,
      .unfitForHeader, .notJSONNumber, .unfitForPath:
      nil
    case .unclosedText: "a \"'\" inside a text is written twice: 'it''s'"
    case .unknownFunction(let name):
      NearestName(ExpressionFunction.allCases.map(\.rawValue)).nearest(to: name)
        .map { "did you mean \"\($0)\"?" }
        ?? "the functions are "
        + ExpressionFunction.allCases.map(\.rawValue).joined(separator: ", ")
    case .argumentCount(let function, _): "write \(function.signature)"
    case .unclosedExpression: "add the closing \"}}\"; a literal \"${{\" is written ${{ '${{' }}"
    case .emptyExpression: "a literal \"${{\" is written ${{ '${{' }}"
    case .textAroundExpression: "write all of it as one expression: a == 'b'"
    case .unknownContext(let name, let nearest):
      ExpressionFunction(named: name).map { "write \($0.signature) for the function" }
        ?? nearest.map { "did you mean \"\($0)\"?" } ?? "text goes in single quotes: '\(name)'"
    case .access(.nothingInside, _): nil
    case .access(.unknownName(_, let nearest), _): nearest.map { "did you mean \"\($0)\"?" }
    case .notText(let function, _): "write \(function.rawValue)(toJSON(…)) for its JSON text"
    case .notCountable, .notObject: nil
    case .notBoolean: "compare it, or write !!(…) for whether it counts as true"
    case .malformedFormat: "a brace that stands for itself is written twice: {{ or }}"
    case .missingFormatValue: "values count from {0}"
    case .nothingToWrite(let text): "write ${{ \(text) || '' }} to allow it"
    case .notWritable(let text, _): "write ${{ toJSON(\(text)) }} for its JSON text"
    case .scope(_, _, let help): help
    }
  }

  private func detail(_ why: String?) -> String { why.map { ": \($0)" } ?? "" }

  private func message(of fault: AccessError, in owner: String?) -> String {
    let owner = owner.map { "\"\($0)\"" }
    return switch fault {
    case .nothingInside(let type): "\(owner ?? "this") is \(type.name), which has nothing inside"
    case .unknownName(let name, _): "\(owner ?? "this") has nothing that is called \"\(name)\""
    }
  }

  private func symbolHelp(_ text: String) -> String? {
    if text.utf8.contains(UInt8(ascii: "'")) { return ExpressionProblem.unclosedText.help }
    return switch text.utf8.first {
    case UInt8(ascii: "\""): "texts stand in single quotes: 'text'"
    case UInt8(ascii: "="): "equality is written =="
    case UInt8(ascii: "&"): "and is written &&"
    case UInt8(ascii: "|"): "or is written ||"
    case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "/"),
      UInt8(ascii: "%"):
      "there is no arithmetic in expressions"
    case UInt8(ascii: "$"): "an expression does not contain ${{ }} again"
    default: nil
    }
  }

  private func quoted(_ text: String) -> String {
    let limit = 80
    let start = String(text.unicodeScalars.prefix(limit))
    let mark = start.contains("\"") && !start.contains("'") ? "'" : "\""
    return mark + start + (start.utf8.count < text.utf8.count ? "…" : "") + mark
  }

  private func arguments(_ count: Int) -> String {
    switch count {
    case 0: "no argument"
    case 1: "one argument"
    default: "\(count) arguments"
    }
  }

  private func controlName(_ byte: UInt8) -> String {
    switch byte {
    case 0: "a NUL"
    case 0x0A: "a line feed"
    case 0x0D: "a carriage return"
    default: "the control character 0x\(byte < 16 ? "0" : "")\(String(byte, radix: 16))"
    }
  }
}

extension ExpressionFunction {
  fileprivate var argumentPhrase: String {
    let counts = argumentCounts
    switch (counts.lowerBound, counts.upperBound) {
    case (3, _) where self == .case: return "an odd number, 3 at least"
    case (0, 0): return "none"
    case (1, 1): return "one"
    case (let least, let most) where least == most: return "\(least)"
    case (1, 2): return "one or two"
    case (let least, let most): return "\(least) to \(most)"
    }
  }
}

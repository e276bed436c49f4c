package import WeftDiagnostics
import WeftEncoding

/// A problem with an expression or a template, and its location.
package struct ExpressionError: Error, Sendable, Hashable {
  package var problem: EvaluationError
  /// UTF-8 offsets in the text that was parsed; for a template, in the whole string.
  package var range: SourceRange

  package init(_ problem: EvaluationError, _ range: SourceRange) {
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

/// The wording of a problem with an expression.
package struct EvaluationError: Error, Sendable, Hashable {
  /// The diagnostic code, stable across releases.
  package let code: String
  /// States what was found, then what was expected.
  package let message: String
  package let help: String?
  /// The message without details about values, which would reveal a secret.
  private let concealedMessage: String

  private init(
    _ code: String, _ message: String, concealed: String? = nil, help: String? = nil
  ) {
    self.code = code
    self.message = message
    self.help = help
    concealedMessage = concealed ?? message
  }

  var concealed: EvaluationError { EvaluationError(code, concealedMessage, help: help) }

  /// A problem found by the scope that provides the values.
  package static func scope(code: String, message: String, help: String?) -> EvaluationError {
    EvaluationError(code, message, help: help)
  }
}

// MARK: Found by the parser

extension EvaluationError {
  private static let quoteHelp = "write a \"'\" inside a string twice: 'it''s'"

  static func unexpectedSymbol(_ text: String) -> EvaluationError {
    let help: String? =
      switch text.utf8.first {
      case _ where text == "and": "use && for \"and\""
      case _ where text == "or": "use || for \"or\""
      case _ where text == "not": "use ! for \"not\""
      case _ where text.hasPrefix("??"): "use || for a default"
      case UInt8(ascii: "+"):
        "there is no operator +: write add(a, b); "
          + "to join texts: ${{ a }}${{ b }} or format('{0}{1}', a, b)"
      case _ where text.utf8.contains(UInt8(ascii: "'")): quoteHelp
      case UInt8(ascii: "?"): "there is no ?:; write case(a, b, c)"
      case UInt8(ascii: "\""): "strings use single quotes: 'text'"
      case UInt8(ascii: "="): "use == for equality"
      case UInt8(ascii: "&"): "use && for \"and\""
      case UInt8(ascii: "|"): "use || for \"or\"; a function is called: upper(a)"
      case UInt8(ascii: "-"): "there is no operator -: write sub(a, b)"
      case UInt8(ascii: "*"): "there is no operator *: write mul(a, b)"
      case UInt8(ascii: "/"): "there is no operator /: write div(a, b)"
      case UInt8(ascii: "%"): "there is no operator %: write mod(a, b)"
      case UInt8(ascii: "$"): "${{ }} cannot be nested: write the name without it"
      default: nil
      }
    return EvaluationError("W0302", "unexpected \(quoted(text)) in an expression", help: help)
  }

  static func unexpectedEnd(after text: String) -> EvaluationError {
    EvaluationError(
      "W0302", "unexpected end of the expression after \(quoted(text))")
  }

  static let missingParenthesis = EvaluationError("W0302", "\")\" is missing")

  static let unclosedText = EvaluationError(
    "W0302", "the string that begins here has no closing \"'\"", help: quoteHelp)

  static func unknownFunction(_ name: String) -> EvaluationError {
    let names = ExpressionFunction.allCases.map(\.rawValue)
    return EvaluationError(
      "W0303", "unknown function \(quoted(name))",
      help: namedElsewhere[name.lowercased()]
        ?? NearestName(names).nearest(to: name).map { "did you mean \"\($0)\"?" }
        ?? "the functions are " + names.joined(separator: ", "))
  }

  /// Functions of other languages whose names are near to that of a function with a different meaning, and the remedy.
  private static let namedElsewhere: [String: String] = {
    let slice = "a part of a text or list is slice(text, start, end)"
    let array = "for an array, write split('a,b', ',') or fromJSON('[1, 2]')"
    return [
      "substring": slice, "substr": slice, "sublist": slice, "mid": slice, "list": array,
      "array": array,
    ]
  }()

  static func argumentCount(_ function: ExpressionFunction, found: Int) -> EvaluationError {
    let given =
      switch found {
      case 0: "no argument"
      case 1: "one argument"
      default: "\(found) arguments"
      }
    return EvaluationError(
      "W0304", "\(function.rawValue)() is given \(given), expected \(function.argumentPhrase)",
      help: "write \(function.signature)")
  }

  static func tooLong(_ count: Int, limit: Int) -> EvaluationError {
    EvaluationError(
      "W0305", "the expression has \(count) bytes, more than the limit of \(limit)")
  }

  static func tooDeep(limit: Int) -> EvaluationError {
    EvaluationError("W0305", "the expression is nested deeper than the limit of \(limit)")
  }

  static func tooManyParts(limit: Int) -> EvaluationError {
    EvaluationError("W0305", "the expression has more parts than the limit of \(limit)")
  }

  static let unclosedExpression = EvaluationError(
    "W0306", "\"${{\" has no closing \"}}\"",
    help: "add the closing \"}}\"; a literal \"${{\" is written ${{ '${{' }}")

  static let emptyExpression = EvaluationError(
    "W0306", "there is nothing between \"${{\" and \"}}\"",
    help: "a literal \"${{\" is written ${{ '${{' }}")

  static let textAroundExpression = EvaluationError(
    "W0306", "a condition must be a single expression, without text around ${{ }}",
    help: "write all of it as one expression: a == 'b'")
}

// MARK: Found by the type checker

extension EvaluationError {
  package static func unknownContext(_ name: String, nearest: String?) -> EvaluationError {
    let function = ExpressionFunction(named: name)
    return EvaluationError(
      "W0310", "unknown name \(quoted(name))",
      help: function.map { "did you mean \($0.signature)?" }
        ?? nearest.map { "did you mean \"\($0)\"?" } ?? "text goes in single quotes: '\(name)'")
  }

  /// - Parameter owner: The name that messages use for the value being accessed.
  static func access(_ error: AccessError, in owner: String?) -> EvaluationError {
    let owner = owner.map { "\"\($0)\"" } ?? "this"
    return switch error {
    case .nothingInside(let type):
      EvaluationError("W0309", "\(owner) is \(type.name), which has no members")
    case .unknownName(let name, let nearest):
      EvaluationError(
        "W0309", "\(owner) has no member \"\(name)\"",
        help: nearest.map { "did you mean \"\($0)\"?" })
    }
  }
}

// MARK: Found during evaluation or static evaluation

extension EvaluationError {
  static func unfit(
    _ function: ExpressionFunction, _ kind: FunctionParameter.Kind, found: String
  ) -> EvaluationError {
    EvaluationError(
      "W0307", "\(function.rawValue)() is given \(found), expected \(kind.expectation)",
      help: kind.help(for: function, found: found))
  }

  static func notNumber(_ function: ExpressionFunction, found: String) -> EvaluationError {
    EvaluationError("W0307", "\(function.rawValue)() is given \(found), expected a number")
  }

  static func notNumber(_ function: ExpressionFunction, text: String) -> EvaluationError {
    func message(_ text: String) -> String {
      "\(function.rawValue)() is given \(text), which is not a number"
    }
    return EvaluationError("W0307", message(quoted(text)), concealed: message("a string"))
  }

  static func notWhole(_ function: ExpressionFunction) -> EvaluationError {
    EvaluationError(
      "W0307", "\(function.rawValue)() is given a number that is not whole, or too large",
      help: "write sub(x, mod(x, 1)) for the whole part")
  }

  static func divisionByZero(_ function: ExpressionFunction) -> EvaluationError {
    EvaluationError(
      "W0307", "\(function.rawValue)() divides by zero",
      help: "test the number first: case(n != 0, \(function.rawValue)(x, n), 0)")
  }

  static func notFinite(_ function: ExpressionFunction) -> EvaluationError {
    EvaluationError(
      "W0307", "\(function.rawValue)() gives a number that is too large or not a number")
  }

  static let zeroStep = EvaluationError(
    "W0307", "range() has a step of 0", help: "write 1 or another step")

  static func longRange(_ limit: Int) -> EvaluationError {
    EvaluationError("W0307", "range() gives more than \(limit) numbers, which is the limit")
  }

  static func notSortable(_ found: String) -> EvaluationError {
    EvaluationError(
      "W0307", "sort() is given \(found), expected only strings, only numbers or only booleans",
      help: "write what to sort by: sort(list, 'item.name'), or 'format(''{0}'', item)' for texts")
  }

  static let notEntry = EvaluationError(
    "W0307", "fromEntries() is given an element that is not like { \"key\": \"a\", \"value\": 1 }",
    help: "the key is a string or a number; write map(list, …) to make entries")

  static let malformedBase64 = EvaluationError(
    "W0307", "fromBase64() is given a string that is not base64")

  static let binaryBase64 = EvaluationError(
    "W0307", "fromBase64() decodes to bytes that are not UTF-8 text",
    help: "decode it in a step, into a file")

  static func malformedTime(_ text: String, _ fault: TimeText.ParseError) -> EvaluationError {
    EvaluationError(
      "W0307", "parseTime() is given \(quoted(text)), \(fault.expectation)",
      concealed: "parseTime() is given a string that is not a time", help: fault.help)
  }

  static let timeOutOfRange = EvaluationError(
    "W0307", "formatTime() is given a time that is not in the years 0 to 9999",
    help: "give seconds since 1970, not milliseconds")

  static func malformedTimeFormat(_ format: String) -> EvaluationError {
    func message(_ format: String) -> String {
      "formatTime() is given \(format), which has an unknown directive"
    }
    return EvaluationError(
      "W0307", message(quoted(format)), concealed: message("a format"),
      help: "the directives are \(UTCTime.directives)")
  }

  static func unquotedBody(_ function: ExpressionFunction, _ text: String) -> EvaluationError {
    EvaluationError(
      "W0307", "the second argument of \(function.rawValue)() must be an expression in quotes",
      help: text.unicodeScalars.count <= 80
        ? "write \(ExpressionText.literal(text))" : "write 'item.name' for a part of each element")
  }

  static func emptyBody(_ function: ExpressionFunction) -> EvaluationError {
    EvaluationError(
      "W0307", "the second argument of \(function.rawValue)() is empty",
      help: "write an expression with \"item\", such as 'item.name'")
  }

  static func tooMuchWork(limit: Int) -> EvaluationError {
    EvaluationError(
      "W0307", "the expressions for each element take more than \(limit) steps, the limit",
      help: "do this in a command, such as jq")
  }

  static func notBoolean(found: String) -> EvaluationError {
    EvaluationError(
      "W0307", "a condition of case() is \(found), expected true or false",
      help: "compare it, or write !!(…) for whether it counts as true")
  }

  static func malformedFormat(_ text: String) -> EvaluationError {
    func message(_ text: String) -> String {
      "format() is given \(text) with unbalanced braces"
    }
    return EvaluationError(
      "W0307", message(quoted(text)), concealed: message("a text"),
      help: "write a literal brace twice: {{ or }}")
  }

  static func missingFormatValue(index: String, given: Int) -> EvaluationError {
    func message(_ value: String) -> String {
      "format() refers to value \(value), but is given "
        + (given == 1 ? "one value" : "\(given) values")
    }
    return EvaluationError(
      "W0307", message("{\(index)}"), concealed: message("of a number"),
      help: "values are numbered from {0}")
  }

  static let emptyJSON = EvaluationError("W0307", "fromJSON() is given an empty string")

  static func malformedJSON(_ why: String) -> EvaluationError {
    let message = "fromJSON() is given a string that is not JSON"
    return EvaluationError("W0307", "\(message): \(why)", concealed: message)
  }

  static func tooLarge(limit: Int) -> EvaluationError {
    EvaluationError(
      "W0307", "the expression produces more than \(limit) bytes of text, which is the limit")
  }

  package static func filesNotRead(
    _ function: ExpressionFunction, _ why: String
  ) -> EvaluationError {
    let message = "\(function.rawValue)() fails"
    return EvaluationError("W0307", "\(message): \(why)", concealed: message)
  }
}

// MARK: Found when writing a value into text

extension EvaluationError {
  package static func nothingToWrite(_ text: String) -> EvaluationError {
    EvaluationError(
      "W0308", "\(quoted(text)) is null, which cannot be inserted into text",
      help: "write ${{ \(text) || '' }} to allow it")
  }

  package static func notWritable(_ text: String, found: String) -> EvaluationError {
    EvaluationError(
      "W0308", "\(quoted(text)) is \(found), which cannot be inserted into text",
      help: "write ${{ toJSON(\(text)) }} for its JSON text")
  }

  static func unfitForHeader(_ text: String, _ byte: UInt8) -> EvaluationError {
    let control =
      switch byte {
      case 0: "a NUL"
      case 0x0A: "a line feed"
      case 0x0D: "a carriage return"
      default: "the control character 0x\(byte < 16 ? "0" : "")\(String(byte, radix: 16))"
      }
    return EvaluationError(
      "W0308", "\(quoted(text)) contains \(control), which is not allowed in a header")
  }

  static func unfitForPath(_ text: String, _ segment: String) -> EvaluationError {
    EvaluationError(
      "W0308",
      "\(quoted(text)) produces the path segment \"\(segment)\", which would change the path")
  }

  static func notJSONNumber(_ text: String) -> EvaluationError {
    EvaluationError("W0308", "\(quoted(text)) is not a finite number, which JSON requires")
  }

  /// At most 80 scalars of an expression, in quotes that it does not contain.
  private static func quoted(_ text: String) -> String {
    let start = String(text.unicodeScalars.prefix(80))
    let mark = start.contains("\"") && !start.contains("'") ? "'" : "\""
    return mark + start + (start.utf8.count < text.utf8.count ? "…" : "") + mark
  }
}

extension ExpressionFunction {
  fileprivate var argumentPhrase: String {
    let counts = argumentCounts
    switch (counts.lowerBound, counts.upperBound) {
    case (3, _) where self == .case: return "an odd number of at least 3"
    case (0, 0): return "none"
    case (1, 1): return "one"
    case (let least, let most) where least == most: return "\(least)"
    case (1, 2): return "one or two"
    case (let least, let most): return "\(least) to \(most)"
    }
  }
}

import WeftEncoding
import WeftJSON

/// Reads the arguments of one call, whose number was checked.
struct FunctionCall {
  let function: ExpressionFunction
  let arguments: [ExpressionValue]

  var count: Int { arguments.count }

  subscript(index: Int) -> ExpressionValue { arguments[index] }

  func text(_ index: Int) throws(EvaluationError) -> String {
    guard let text = arguments[index].primitiveText else { throw unfit(arguments[index], .text) }
    return text
  }

  func number(_ index: Int) throws(EvaluationError) -> ExpressionNumber {
    try number(arguments[index])
  }

  /// - Parameter value: An argument, or an element of one.
  func number(_ value: ExpressionValue) throws(EvaluationError) -> ExpressionNumber {
    switch value {
    case .number(let number) where !number.isNaN: return number
    case .number: throw .notNumber(function, found: "NaN")
    case .string(let text):
      guard let number = NumberReading.strictNumber(from: text) else {
        throw .notNumber(function, text: text)
      }
      return number
    case .null, .boolean, .array, .object: throw unfit(value, .number)
    }
  }

  func wholeNumber(_ index: Int) throws(EvaluationError) -> Int {
    let number = try number(index)
    guard let whole = number.asInt, whole.magnitude < 9_000_000_000_000_000 else {
      throw .notWhole(function)
    }
    return whole
  }

  func list(_ index: Int) throws(EvaluationError) -> [ExpressionValue] {
    guard case .array(let array) = arguments[index] else { throw unfit(arguments[index], .list) }
    return array.elements
  }

  func object(_ index: Int) throws(EvaluationError) -> ExpressionObject {
    guard case .object(let object) = arguments[index] else {
      throw unfit(arguments[index], .object)
    }
    return object
  }

  func unfit(_ value: ExpressionValue, _ kind: FunctionParameter.Kind) -> EvaluationError {
    .unfit(function, kind, found: value.kindName)
  }
}

extension ExpressionFunction {
  /// Calls the function with arguments whose number was checked.
  ///
  /// Not for functions that need the scope, nor for `case`, which does not evaluate all its arguments.
  func value(
    of arguments: [ExpressionValue], within budget: inout AllocationBudget
  ) throws(EvaluationError) -> ExpressionValue {
    let call = FunctionCall(function: self, arguments: arguments)
    switch self {
    case .contains: return .boolean(Searching.contains(call[0], call[1]))
    case .startsWith: return .boolean(Searching.compares(call[0], call[1], FoldedText.hasPrefix))
    case .endsWith: return .boolean(Searching.compares(call[0], call[1], FoldedText.hasSuffix))
    case .format:
      return .string(try FormatText.text(call[0].text, arguments.dropFirst(), within: &budget))
    case .toJSON: return .string(try budget.made(call[0].jsonText(.pretty)))
    case .fromJSON: return try JSONText.value(of: call[0].text, within: &budget)
    case .length: return .number(Double(try call.length()))
    case .keys: return try call.keys(within: &budget)
    case .join: return .string(try call.joined(within: &budget))
    case .replace: return .string(try call.replaced(within: &budget))
    case .trim: return .string(try budget.made(WhiteSpace.trimmed(try call.text(0))))
    case .lower: return .string(try budget.made(try call.text(0).lowercased()))
    case .upper: return .string(try budget.made(try call.text(0).uppercased()))
    case .split, .lines: return try call.pieces(within: &budget)
    case .basename: return .string(try budget.made(PathText(try call.text(0)).base))
    case .dirname: return .string(try budget.made(PathText(try call.text(0)).directory))
    case .stem: return .string(try budget.made(PathText(try call.text(0)).stem))
    case .extension: return .string(try budget.made(PathText(try call.text(0)).suffix))
    case .base64: return .string(try budget.made(Base64.text(of: try call.text(0).utf8)))
    case .fromBase64: return .string(try budget.made(try call.decodedBase64()))
    case .sha256:
      return .string(try budget.made(SHA256.text(of: SHA256.digest(of: try call.text(0).utf8))))
    case .sort: return try call.sorted(by: try call.list(0), within: &budget)
    case .unique: return try call.unique(within: &budget)
    case .first: return try call.list(0).first ?? .null
    case .last: return try call.list(0).last ?? .null
    case .slice: return try call.slice(within: &budget)
    case .flatten: return try call.flattened(within: &budget)
    case .range: return try call.range(within: &budget)
    case .entries: return try call.entries(within: &budget)
    case .fromEntries: return try call.objectOfEntries(within: &budget)
    case .merge: return try call.merged(within: &budget)
    case .sum, .min, .max, .add, .sub, .mul, .div, .mod: return try call.computed()
    case .formatTime: return .string(try budget.made(try call.formattedTime()))
    case .parseTime: return .number(try call.parsedTime())
    case .hashFiles, .glob, .case, .success, .failure, .always, .cancelled, .filter, .map:
      preconditionFailure("\(rawValue)() is evaluated elsewhere")
    }
  }

  /// Calls a function that reads files.
  func value(
    of arguments: [ExpressionValue], by files: any FileLookup,
    within budget: inout AllocationBudget
  ) throws(EvaluationError) -> ExpressionValue {
    let call = FunctionCall(function: self, arguments: arguments)
    var patterns: [String] = []
    for index in arguments.indices { patterns.append(try call.text(index)) }
    guard self == .glob else { return .string(try files.hash(of: patterns)) }
    return try budget.made(try files.paths(matching: patterns).map { .string($0) })
  }
}

extension AllocationBudget {
  /// Counts a text that was made.
  mutating func made(_ text: String) throws(EvaluationError) -> String {
    try take(text.utf8.count)
    return text
  }

  /// Counts a list that was made, with the texts in it: a list may have the same long text many times.
  mutating func made(_ elements: [ExpressionValue]) throws(EvaluationError) -> ExpressionValue {
    try take(elements)
    return .array(elements)
  }

  mutating func take(_ elements: [ExpressionValue]) throws(EvaluationError) {
    for element in elements { try take(element) }
  }

  /// Counts one element of a list.
  mutating func take(_ element: ExpressionValue) throws(EvaluationError) {
    try take(MemoryLayout<ExpressionValue>.stride)
    switch element {
    case .string(let text): try take(text.utf8.count)
    case .number(let number): try take(number.longCount)
    case .null, .boolean, .array, .object: break
    }
  }
}

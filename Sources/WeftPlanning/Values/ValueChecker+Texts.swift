import WeftDefinition
import WeftDiagnostics
import WeftExpressions

/// Reports values that cannot be written as text where text is required: every run would fail there.
extension ValueChecker {
  mutating func checkWritable(
    _ expression: Expression, _ type: ExpressionType, isAlone: Bool, in text: PlannedText
  ) {
    let place = text.site.acceptedKinds(forOnlyExpression: isAlone)
    let alternatives = type.alternatives
    guard let first = alternatives.first, alternatives.allSatisfy({ !place.takes($0) }) else {
      return
    }
    let isNull = alternatives == [.null]
    let fault = ExpressionError(
      isNull
        ? .nothingToWrite(expression.text)
        : .notWritable(expression.text, found: alternatives.count == 1 ? first.name : type.name),
      expression.range)
    report(
      .expression(code: fault.code, message: fault.message, help: fault.help), text, fault.range)
  }
}

/// The kinds of value that a site accepts in addition to those that can be written as text.
private struct AcceptedKinds: OptionSet {
  let rawValue: Int

  static let null = AcceptedKinds(rawValue: 1)
  static let array = AcceptedKinds(rawValue: 2)
  static let object = AcceptedKinds(rawValue: 4)
  static let anything: AcceptedKinds = [.null, .array, .object]

  func takes(_ type: ExpressionType) -> Bool {
    switch type {
    case .null: contains(.null)
    case .array: contains(.array)
    case .object: contains(.object)
    default: true
    }
  }
}

extension TextSite {
  fileprivate func acceptedKinds(forOnlyExpression isAlone: Bool) -> AcceptedKinds {
    guard isAlone else { return [] }
    switch self {
    case .name, .script, .workingDirectory, .inputFile, .message, .concurrencyKey, .cacheInput,
      .cacheOutput, .cacheKey:
      return []
    // An array adds one argument for each element.
    case .argument: return .array
    // With `null`, the variable is removed, or the input is empty.
    case .variable, .input: return .null
    // Elements and computed keys have their own checks; a condition accepts any value as true or false.
    case .http(let site): return site.acceptedKinds
    case .output, .computed, .condition, .retryCondition, .elements, .elementKey, .axis, .include,
      .exclude, .waiting, .parameter:
      return .anything
    }
  }
}

extension HTTPSite {
  fileprivate var acceptedKinds: AcceptedKinds {
    switch self {
    // With `null`, the field is omitted; with an array, it is repeated.
    case .query, .header, .field, .part: [.null, .array]
    case .json, .expected, .until, .collected: .anything
    // With `null`, there is no further page, no key or no proxy.
    case .nextPage, .idempotencyKey, .proxy: .null
    case .method, .url, .body, .bodyFile, .partFile, .partFileName, .partType, .bearer, .user,
      .password, .saveTo, .cacheFolder, .authorities, .certificate, .key, .origin:
      []
    }
  }
}

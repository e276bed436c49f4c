import WeftDefinition
import WeftDiagnostics
import WeftExpressions

/// Values that have no text, where one must be written: every run would fail there.
extension ValueChecker {
  mutating func checkWritable(
    _ expression: Expression, _ type: ExpressionType, isAlone: Bool, in text: PlannedText
  ) {
    let place = text.site.room(forOnlyExpression: isAlone)
    let alternatives = type.alternatives
    guard let first = alternatives.first, alternatives.allSatisfy({ !place.takes($0) }) else {
      return
    }
    let isNull = alternatives == [.null]
    let fault = ExpressionFault(
      isNull
        ? .nothingToWrite(expression.text)
        : .notWritable(expression.text, found: alternatives.count == 1 ? first.name : type.name),
      expression.range)
    tell(
      .expression(code: fault.code, message: fault.message, help: fault.help), text, fault.range)
  }
}

/// What a value may be at a place, beside what has a text.
private struct Room: OptionSet {
  let rawValue: Int

  static let null = Room(rawValue: 1)
  static let array = Room(rawValue: 2)
  static let object = Room(rawValue: 4)
  static let anything: Room = [.null, .array, .object]

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
  fileprivate func room(forOnlyExpression isAlone: Bool) -> Room {
    guard isAlone else { return [] }
    switch self {
    case .name, .script, .workingDirectory, .inputFile, .message, .concurrencyKey, .cacheInput,
      .cacheOutput, .cacheKey:
      return []
    // As many arguments as an array has elements.
    case .argument: return .array
    // None: the variable is removed, the input is empty.
    case .variable, .input: return .null
    // What an element is of, and computed keys, have their own checks; of a condition any value is true or
    // false.
    case .http(let site): return site.room
    case .output, .computed, .condition, .retryCondition, .elements, .elementKey, .axis, .include,
      .exclude, .waiting, .parameter:
      return .anything
    }
  }
}

extension HTTPSite {
  fileprivate var room: Room {
    switch self {
    // None: it is left out. Several of one name.
    case .query, .header, .field, .part: [.null, .array]
    case .json, .expected, .until, .collected: .anything
    // No further page; no key.
    case .nextPage, .idempotencyKey, .proxy: .null
    case .method, .url, .body, .bodyFile, .partFile, .partFileName, .partType, .bearer, .user,
      .password, .saveTo, .cacheFolder, .authorities, .certificate, .key, .origin:
      []
    }
  }
}

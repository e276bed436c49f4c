import WeftDiagnostics
import WeftJSON

/// The functions of the language. Names are case-insensitive.
package enum ExpressionFunction: String, Sendable, Hashable, CaseIterable {
  case contains, startsWith, endsWith, format, join, toJSON, fromJSON, hashFiles, `case`
  case success, failure, always, cancelled
  case length, split, trim, lower, upper, replace, keys, glob

  /// The number of arguments it takes; `case` requires an odd number.
  package var argumentCounts: ClosedRange<Int> {
    switch self {
    case .contains, .startsWith, .endsWith, .split: 2...2
    case .format, .hashFiles, .glob: 1...255
    case .join: 1...2
    case .toJSON, .fromJSON, .length, .trim, .lower, .upper, .keys: 1...1
    case .case: 3...255
    case .success, .failure, .always, .cancelled: 0...0
    case .replace: 3...3
    }
  }

  /// `nil` if it is not a status function.
  package var status: StatusFunction? { StatusFunction(rawValue: rawValue) }

  /// Whether its value depends on files.
  package var readsFiles: Bool { self == .hashFiles || self == .glob }

  /// The signature as shown in help.
  package var signature: String {
    switch self {
    case .contains: "contains(search, item)"
    case .startsWith: "startsWith(text, start)"
    case .endsWith: "endsWith(text, end)"
    case .format: "format(text, value, …)"
    case .join: "join(array, separator)"
    case .toJSON: "toJSON(value)"
    case .fromJSON: "fromJSON(text)"
    case .hashFiles: "hashFiles(pattern, …)"
    case .case: "case(condition, value, …, default)"
    case .success, .failure, .always, .cancelled: "\(rawValue)()"
    case .length: "length(value)"
    case .split: "split(text, separator)"
    case .trim: "trim(text)"
    case .lower: "lower(text)"
    case .upper: "upper(text)"
    case .replace: "replace(text, old, new)"
    case .keys: "keys(object)"
    case .glob: "glob(pattern, …)"
    }
  }

  private static let byLowerName = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0.rawValue.lowercased(), $0) })

  /// `nil` if no function has this name.
  package init?(named name: String) {
    guard
      let function = ExpressionFunction(rawValue: name)
        ?? ExpressionFunction.byLowerName[name.lowercased()]
    else { return nil }
    self = function
  }
}

/// The functions that test the status of the run.
package enum StatusFunction: String, Sendable, Hashable, CaseIterable {
  case success, failure, always, cancelled
}

extension ExpressionFunction {
  /// Calls the function with arguments whose number was checked.
  ///
  /// Not for functions that need the scope, nor for `case`, which does not evaluate all its arguments.
  func value(
    of arguments: [ExpressionValue], within budget: inout AllocationBudget
  ) throws(EvaluationError) -> ExpressionValue {
    let first = arguments[0]
    switch self {
    case .contains: return .boolean(Searching.contains(first, arguments[1]))
    case .startsWith: return .boolean(Searching.compares(first, arguments[1], FoldedText.hasPrefix))
    case .endsWith: return .boolean(Searching.compares(first, arguments[1], FoldedText.hasSuffix))
    case .format:
      return .string(try FormatText.text(first.text, arguments.dropFirst(), within: &budget))
    case .join: return .string(try join(arguments, within: &budget))
    case .toJSON:
      let json = first.jsonText(.pretty)
      try budget.take(json.utf8.count)
      return .string(json)
    case .fromJSON: return try JSONText.value(of: first.text, within: &budget)
    case .length: return .number(Double(try Counting.length(of: first)))
    case .keys: return try Counting.keys(of: first, within: &budget)
    case .split: return try split(arguments, within: &budget)
    case .replace: return .string(try replace(arguments, within: &budget))
    case .trim, .lower, .upper: return .string(try changed(text(arguments, 0), within: &budget))
    case .hashFiles, .glob, .case, .success, .failure, .always, .cancelled:
      preconditionFailure("\(rawValue)() is evaluated elsewhere")
    }
  }

  /// Calls a function that reads files.
  func value(
    of arguments: [ExpressionValue], by files: any FileLookup,
    within budget: inout AllocationBudget
  ) throws(EvaluationError) -> ExpressionValue {
    var patterns: [String] = []
    for index in arguments.indices { patterns.append(try text(arguments, index)) }
    guard self == .glob else { return .string(try files.hash(of: patterns)) }
    let paths = try files.paths(matching: patterns)
    try budget.take(
      paths.reduce(paths.count * MemoryLayout<ExpressionValue>.stride) { $0 + $1.utf8.count })
    return .array(paths.map { .string($0) })
  }

  private func text(
    _ arguments: [ExpressionValue], _ index: Int
  ) throws(EvaluationError) -> String {
    guard let text = arguments[index].primitiveText else {
      throw .notText(self, found: arguments[index].kindName)
    }
    return text
  }

  private func changed(
    _ text: String, within budget: inout AllocationBudget
  ) throws(EvaluationError) -> String {
    let changed =
      switch self {
      case .lower: text.lowercased()
      case .upper: text.uppercased()
      default: WhiteSpace.trimmed(text)
      }
    try budget.take(changed.utf8.count)
    return changed
  }

  private func join(
    _ arguments: [ExpressionValue], within budget: inout AllocationBudget
  ) throws(EvaluationError) -> String {
    guard case .array(let array) = arguments[0] else { return arguments[0].primitiveText ?? "" }
    let separator = arguments.count > 1 ? arguments[1].primitiveText ?? "," : ","
    var text = ""
    for (index, element) in array.elements.enumerated() {
      if index > 0 { try budget.append(separator, to: &text) }
      try budget.append(element.text, to: &text)
    }
    return text
  }

  private func split(
    _ arguments: [ExpressionValue], within budget: inout AllocationBudget
  ) throws(EvaluationError) -> ExpressionValue {
    let (text, separator) = (try text(arguments, 0), try text(arguments, 1))
    let pieces =
      separator.isEmpty
      ? text.unicodeScalars.map { String($0) } : TextSearch(separator).pieces(of: text)
    try budget.take(text.utf8.count + pieces.count * MemoryLayout<ExpressionValue>.stride)
    return .array(pieces.map { .string($0) })
  }

  /// Returns the text unchanged if the text to replace is empty.
  private func replace(
    _ arguments: [ExpressionValue], within budget: inout AllocationBudget
  ) throws(EvaluationError) -> String {
    let (text, old) = (try text(arguments, 0), try text(arguments, 1))
    let new = try self.text(arguments, 2)
    guard !old.isEmpty else { return text }
    var replaced = ""
    for (index, piece) in TextSearch(old).pieces(of: text).enumerated() {
      if index > 0 { try budget.append(new, to: &replaced) }
      try budget.append(piece, to: &replaced)
    }
    return replaced
  }
}

/// Substring and element search.
private enum Searching {
  static func contains(_ searched: ExpressionValue, _ item: ExpressionValue) -> Bool {
    if case .array(let array) = searched { return array.elements.contains { item.isEqual(to: $0) } }
    return compares(searched, item) { FoldedText.contains($0, $1) }
  }

  /// Always false for arrays and objects.
  static func compares(
    _ text: ExpressionValue, _ part: ExpressionValue, _ compare: (String, String) -> Bool
  ) -> Bool {
    guard let text = text.primitiveText, let part = part.primitiveText else { return false }
    return compare(text, part)
  }
}

/// Lengths and keys.
private enum Counting {
  static func length(of value: ExpressionValue) throws(EvaluationError) -> Int {
    switch value {
    case .null: 0
    case .string(let text): text.unicodeScalars.count
    case .array(let array): array.elements.count
    case .object(let object): object.members.count
    case .boolean, .number: throw .notCountable(found: value.kindName)
    }
  }

  static func keys(
    of value: ExpressionValue, within budget: inout AllocationBudget
  ) throws(EvaluationError) -> ExpressionValue {
    switch value {
    case .null: return .array([])
    case .object(let object):
      try budget.take(object.members.count * MemoryLayout<ExpressionValue>.stride)
      return .array(object.members.map { .string($0.key) })
    case .boolean, .number, .string, .array: throw .notObject(found: value.kindName)
    }
  }
}

/// Implements `format`: a text with values in braces.
enum FormatText {
  static func text(
    _ format: String, _ values: ArraySlice<ExpressionValue>, within budget: inout AllocationBudget
  ) throws(EvaluationError) -> String {
    let bytes = Array(format.utf8)
    var text = ""
    var start = 0
    var index = 0
    while let brace = bytes[index...].firstIndex(where: isBrace) {
      let isDoubled = brace + 1 < bytes.count && bytes[brace + 1] == bytes[brace]
      try budget.append(
        String(decoding: bytes[start..<(isDoubled ? brace + 1 : brace)], as: UTF8.self), to: &text)
      if isDoubled {
        index = brace + 2
      } else {
        guard let place = place(in: bytes, at: brace) else { throw .malformedFormat(format) }
        guard let number = place.number, number < values.count else {
          throw .missingFormatValue(
            index: String(decoding: bytes[brace + 1..<place.end - 1], as: UTF8.self),
            given: values.count)
        }
        try budget.append(values[values.startIndex + number].text, to: &text)
        index = place.end
      }
      start = index
    }
    try budget.append(String(decoding: bytes[start...], as: UTF8.self), to: &text)
    return text
  }

  private static func isBrace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}")
  }

  /// Parses `{12}`: its number, `nil` if that overflows, and its end.
  private static func place(in bytes: [UInt8], at brace: Int) -> (number: Int?, end: Int)? {
    guard bytes[brace] == UInt8(ascii: "{") else { return nil }
    let digits = bytes[(brace + 1)...].prefix {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
    }
    let end = digits.endIndex
    guard !digits.isEmpty, end < bytes.count, bytes[end] == UInt8(ascii: "}") else { return nil }
    return (Int(String(decoding: digits, as: UTF8.self)), end + 1)
  }
}

/// Implements `fromJSON`: parses a value strictly by RFC 8259.
enum JSONText {
  static func value(
    of text: String, within budget: inout AllocationBudget
  ) throws(EvaluationError) -> ExpressionValue {
    let bytes = Array(text.utf8)
    guard !bytes.allSatisfy(Lexer.isSpace) else { throw .emptyJSON }
    try budget.take(bytes.count)
    let file = SourceFile(path: "", bytes: bytes)
    let (root, diagnostics) = JSONReader.read(
      file, limits: JSONLimits(bytes: budget.limit, problems: 1), beside: nil)
    if let fault = diagnostics.first(where: \.isError) {
      throw .malformedJSON(describe(fault, in: file))
    }
    guard let root else { throw .malformedJSON("it cannot be read") }
    try budget.take(root.document.nodeCount * MemoryLayout<ExpressionValue>.stride)
    return ExpressionValue(JSONValue(root))
  }

  private static func describe(_ fault: Diagnostic, in file: SourceFile) -> String {
    guard let place = fault.place else { return fault.message }
    let position = file.position(of: Int(place.range.start))
    return "\(fault.message) (line \(position.line), column \(position.column))"
  }
}

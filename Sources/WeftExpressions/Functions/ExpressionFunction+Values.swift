import WeftJSON

extension ExpressionFunction {
  /// Calls the function with arguments whose number was checked.
  ///
  /// Not for functions that need the scope, nor for `case`, which does not evaluate all its arguments.
  func value(
    of arguments: [ExpressionValue], within room: inout AllocationBudget
  ) throws(ExpressionProblem) -> ExpressionValue {
    let first = arguments[0]
    switch self {
    case .contains: return .boolean(Searching.contains(first, arguments[1]))
    case .startsWith: return .boolean(Searching.compares(first, arguments[1], FoldedText.hasPrefix))
    case .endsWith: return .boolean(Searching.compares(first, arguments[1], FoldedText.hasSuffix))
    case .format:
      return .string(try FormatText.text(first.text, arguments.dropFirst(), within: &room))
    case .join: return .string(try join(arguments, within: &room))
    case .toJSON:
      let json = first.jsonText(.pretty)
      try room.take(json.utf8.count)
      return .string(json)
    case .fromJSON: return try JSONText.value(of: first.text, within: &room)
    case .length: return .number(Double(try Counting.length(of: first)))
    case .keys: return try Counting.keys(of: first, within: &room)
    case .split: return try split(arguments, within: &room)
    case .replace: return .string(try replace(arguments, within: &room))
    case .trim, .lower, .upper: return .string(try changed(text(arguments, 0), within: &room))
    case .hashFiles, .case, .success, .failure, .always, .cancelled:
      preconditionFailure("\(rawValue)() is evaluated elsewhere")
    }
  }

  private func text(
    _ arguments: [ExpressionValue], _ index: Int
  ) throws(ExpressionProblem) -> String {
    guard let text = arguments[index].primitiveText else {
      throw .notText(self, found: arguments[index].kindName)
    }
    return text
  }

  private func changed(
    _ text: String, within room: inout AllocationBudget
  ) throws(ExpressionProblem) -> String {
    let changed =
      switch self {
      case .lower: text.lowercased()
      case .upper: text.uppercased()
      default: WhiteSpace.trimmed(text)
      }
    try room.take(changed.utf8.count)
    return changed
  }

  private func join(
    _ arguments: [ExpressionValue], within room: inout AllocationBudget
  ) throws(ExpressionProblem) -> String {
    guard case .array(let array) = arguments[0] else { return arguments[0].primitiveText ?? "" }
    let separator = arguments.count > 1 ? arguments[1].primitiveText ?? "," : ","
    var text = ""
    for (index, element) in array.elements.enumerated() {
      if index > 0 { try room.append(separator, to: &text) }
      try room.append(element.text, to: &text)
    }
    return text
  }

  private func split(
    _ arguments: [ExpressionValue], within room: inout AllocationBudget
  ) throws(ExpressionProblem) -> ExpressionValue {
    let (text, separator) = (try text(arguments, 0), try text(arguments, 1))
    let pieces =
      separator.isEmpty
      ? text.unicodeScalars.map { String($0) } : TextSearch(separator).pieces(of: text)
    try room.take(text.utf8.count + pieces.count * MemoryLayout<ExpressionValue>.stride)
    return .array(pieces.map { .string($0) })
  }

  /// Returns the text unchanged if the text to replace is empty.
  private func replace(
    _ arguments: [ExpressionValue], within room: inout AllocationBudget
  ) throws(ExpressionProblem) -> String {
    let (text, old) = (try text(arguments, 0), try text(arguments, 1))
    let new = try self.text(arguments, 2)
    guard !old.isEmpty else { return text }
    var replaced = ""
    for (index, piece) in TextSearch(old).pieces(of: text).enumerated() {
      if index > 0 { try room.append(new, to: &replaced) }
      try room.append(piece, to: &replaced)
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
  static func length(of value: ExpressionValue) throws(ExpressionProblem) -> Int {
    switch value {
    case .null: 0
    case .string(let text): text.unicodeScalars.count
    case .array(let array): array.elements.count
    case .object(let object): object.members.count
    case .boolean, .number: throw .notCountable(found: value.kindName)
    }
  }

  static func keys(
    of value: ExpressionValue, within room: inout AllocationBudget
  ) throws(ExpressionProblem) -> ExpressionValue {
    switch value {
    case .null: return .array([])
    case .object(let object):
      try room.take(object.members.count * MemoryLayout<ExpressionValue>.stride)
      return .array(object.members.map { .string($0.key) })
    case .boolean, .number, .string, .array: throw .notObject(found: value.kindName)
    }
  }
}

import WeftJSON

/// Functions of lists.
extension FunctionCall {
  func length() throws(EvaluationError) -> Int {
    switch arguments[0] {
    case .null: 0
    case .string(let text): text.unicodeScalars.count
    case .array(let array): array.elements.count
    case .object(let object): object.members.count
    case .boolean, .number: throw unfit(arguments[0], .countable)
    }
  }

  /// The list, sorted by keys of which there is one for each element.
  func sorted(
    by keys: [ExpressionValue], within budget: inout AllocationBudget
  ) throws(EvaluationError) -> ExpressionValue {
    let list = try list(0)
    let keys = try SortKeys(keys, of: self, within: &budget)
    return try budget.made(keys.order.map { list[$0] })
  }

  /// The elements without those whose content occurred before.
  func unique(within budget: inout AllocationBudget) throws(EvaluationError) -> ExpressionValue {
    var seen: Set<ScalarString> = []
    var kept: [ExpressionValue] = []
    for element in try list(0) {
      let content = try budget.made(element.content)
      if seen.insert(ScalarString(content)).inserted { kept.append(element) }
    }
    return try budget.made(kept)
  }

  func slice(within budget: inout AllocationBudget) throws(EvaluationError) -> ExpressionValue {
    let start = try wholeNumber(1)
    let end = try count > 2 ? wholeNumber(2) : Int.max
    switch arguments[0] {
    case .array(let array):
      let range = FunctionCall.range(start, end, of: array.elements.count)
      return try budget.made(Array(array.elements[range]))
    case .string(let text):
      let scalars = Array(text.unicodeScalars)
      var part = String.UnicodeScalarView()
      part.append(contentsOf: scalars[FunctionCall.range(start, end, of: scalars.count)])
      return .string(try budget.made(String(part)))
    case .null, .boolean, .number, .object: throw unfit(arguments[0], .listOrText)
    }
  }

  /// Positions within bounds; negative ones count from the end.
  private static func range(_ start: Int, _ end: Int, of count: Int) -> Range<Int> {
    let bounded = { (place: Int) in
      Swift.max(0, Swift.min(place < 0 ? place + count : place, count))
    }
    let first = bounded(start)
    return first..<Swift.max(first, bounded(end))
  }

  func flattened(within budget: inout AllocationBudget) throws(EvaluationError) -> ExpressionValue {
    var flat: [ExpressionValue] = []
    for element in try list(0) {
      guard case .array(let array) = element else {
        try budget.take(element)
        flat.append(element)
        continue
      }
      try budget.take(array.elements)
      flat += array.elements
    }
    return .array(flat)
  }

  /// The most numbers that `range` gives.
  static let mostInRange = 100_000

  func range(within budget: inout AllocationBudget) throws(EvaluationError) -> ExpressionValue {
    let (start, end) = try count > 1 ? (wholeNumber(0), wholeNumber(1)) : (0, wholeNumber(0))
    let step = try count > 2 ? wholeNumber(2) : 1
    guard step != 0 else { throw .zeroStep }
    // Whole numbers are less than 2^53, so nothing overflows.
    let distance = step > 0 ? end - start : start - end
    let length = distance > 0 ? (distance - 1) / abs(step) + 1 : 0
    guard length <= FunctionCall.mostInRange else { throw .longRange(FunctionCall.mostInRange) }
    return try budget.made((0..<length).map { .number(Double(start + $0 * step)) })
  }
}

/// The order of a list by its keys, which are all numbers, all texts, or all booleans.
private struct SortKeys {
  let order: [Int]

  init(
    _ keys: [ExpressionValue], of call: FunctionCall, within budget: inout AllocationBudget
  ) throws(EvaluationError) {
    guard let first = keys.first else {
      order = []
      return
    }
    for key in keys {
      switch key {
      case .number(let number) where number.isNaN: throw .notSortable("NaN")
      case .null, .array, .object: throw .notSortable(key.kindName)
      case .boolean, .number, .string:
        if key.kindName != first.kindName {
          throw .notSortable("\(first.kindName) and \(key.kindName)")
        }
      }
    }
    try budget.take(keys)
    guard case .string = first else {
      let numbers = keys.map(\.asNumber)
      // Swift's sort is stable, but does not promise it.
      order = keys.indices.sorted { (numbers[$0], $0) < (numbers[$1], $1) }
      return
    }
    let texts = keys.map { Array(FoldedText.folded($0.text).utf8) }
    order = keys.indices.sorted { one, other in
      if texts[one] != texts[other] { return texts[one].lexicographicallyPrecedes(texts[other]) }
      let exact = (keys[one].text.utf8, keys[other].text.utf8)
      if exact.0.elementsEqual(exact.1) { return one < other }
      return exact.0.lexicographicallyPrecedes(exact.1)
    }
  }
}

extension ExpressionValue {
  /// A text that is the same for values of the same kind and content only.
  fileprivate var content: String {
    if case .number(let number) = self, !number.isFinite { return number.text }
    return jsonText(.compact)
  }
}

/// Functions of objects.
extension FunctionCall {
  func keys(within budget: inout AllocationBudget) throws(EvaluationError) -> ExpressionValue {
    if case .null = arguments[0] { return .array([]) }
    guard case .object(let object) = arguments[0] else { throw unfit(arguments[0], .objectOrNull) }
    return try budget.made(object.members.map { .string($0.key) })
  }

  func entries(within budget: inout AllocationBudget) throws(EvaluationError) -> ExpressionValue {
    var entries: [ExpressionValue] = []
    for member in try object(0).members {
      try budget.take(.string(member.key))
      try budget.take(member.value)
      entries.append(.object([("key", .string(member.key)), ("value", member.value)]))
    }
    return try budget.made(entries)
  }

  func objectOfEntries(
    within budget: inout AllocationBudget
  ) throws(EvaluationError) -> ExpressionValue {
    var members = MemberList()
    for entry in try list(0) {
      guard case .object(let entry) = entry, let key = entry["key"] else { throw .notEntry }
      switch key {
      case .string, .number:
        try members.set(key.text, entry["value"] ?? .null, within: &budget)
      case .null, .boolean, .array, .object: throw .notEntry
      }
    }
    return members.object
  }

  func merged(within budget: inout AllocationBudget) throws(EvaluationError) -> ExpressionValue {
    var members = MemberList()
    for index in arguments.indices {
      for member in try object(index).members {
        try members.set(member.key, member.value, within: &budget)
      }
    }
    return members.object
  }
}

/// Members in the order in which their keys were first set; the last value counts.
private struct MemberList {
  private var members: [ExpressionObject.Member] = []
  private var places: [ScalarString: Int] = [:]

  mutating func set(
    _ key: String, _ value: ExpressionValue, within budget: inout AllocationBudget
  ) throws(EvaluationError) {
    try budget.take(.string(key))
    try budget.take(value)
    let member = ExpressionObject.Member(key: key, value: value)
    if let place = places[ScalarString(key)] {
      members[place] = member
    } else {
      places[ScalarString(key)] = members.count
      members.append(member)
    }
  }

  var object: ExpressionValue { .object(ExpressionObject(members)) }
}

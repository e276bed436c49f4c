import WeftJSON

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

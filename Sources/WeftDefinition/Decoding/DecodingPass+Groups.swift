import WeftDiagnostics
import WeftJSON

/// The members of a group while its keys are read.
struct GroupDraft {
  /// The key that came first and determines the order; `nil` before one was read.
  private(set) var key: JSONNode?
  private(set) var order: StepGroup.Order?
  var members: [Step] = []
  /// Whether every value given as its members was an array.
  var isList = true

  mutating func begin(_ order: StepGroup.Order, _ key: JSONNode) {
    guard self.order == nil else { return }
    self.order = order
    self.key = key
  }
}

extension DecodingPass {
  /// Reads the members of a group. If an object has several group keys, their members are merged,
  /// so that all their ids are known.
  mutating func members(
    _ order: StepGroup.Order, _ member: JSONMember, into draft: inout GroupDraft
  ) {
    if let first = draft.order, first != order, let key = draft.key {
      reportSeveralActions(key, member.key)
    }
    draft.begin(order, member.key)
    let list = member.value
    let field = Field(order.key)
    guard list.kind == .array else {
      draft.isList = false
      reportType(
        of: list, field, wanted: "an array of steps",
        help: list.kind == .string || list.kind == .object ? "put it into brackets: [ … ]" : nil)
      return
    }
    let elements = list.elements
    if elements.isEmpty {
      report(
        order == .race
          ? .empty(path: path(field), wanted: "at least one step")
          : .emptyGroup(path: path(field)), at: list)
    }
    read(list, order.key, into: &draft.members)
  }

  /// Reads the steps of a list and appends them.
  mutating func read(_ list: JSONNode, _ key: StaticString, into steps: inout [Step]) {
    let elements = list.elements
    steps.reserveCapacity(steps.count + elements.count)
    enter(key)
    for element in elements {
      guard advance(to: element) else { break }
      step(element, into: &steps)
    }
    leave()
  }

  mutating func reportSeveralActions(_ first: JSONNode, _ second: JSONNode) {
    let name = first.stringValue ?? ""
    report(
      .severalActions(name, second.stringValue ?? ""), at: second,
      related: ("\"\(name)\" is here", first))
  }
}

extension StepGroup.Order {
  /// The key of a group with this order.
  var key: StaticString {
    switch self {
    case .steps: "steps"
    case .parallel: "parallel"
    case .race: "race"
    }
  }
}

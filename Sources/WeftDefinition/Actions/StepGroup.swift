import WeftDiagnostics
import WeftJSON

/// A group of steps, and the order between them.
public struct StepGroup: Sendable, Hashable {
  public enum Order: String, Sendable, Hashable, CaseIterable {
    /// Each member waits for the one before it, unless it has `needs`.
    case steps
    /// A member waits only for the start of the group, unless it has `needs`.
    case parallel
    /// All members start; the first to succeed cancels the others.
    case race
  }

  /// The condition for the end of a group whose members run concurrently.
  public enum Join: Sendable, Hashable {
    /// All members have ended.
    case all
    /// This many members have succeeded; the others are cancelled.
    case atLeast(Int)
  }

  public var order: Order
  public var members: [Step]
  /// The most attempts inside that may run at once; `nil` for no limit besides those of enclosing scopes.
  @Computable public var maxParallel: Int?
  /// The condition for the end of an ``Order/parallel`` group.
  public var join: Join

  public init(
    _ order: Order, _ members: [Step], maxParallel: Int? = nil, join: Join = .all
  ) {
    self.order = order
    self.members = members
    self.maxParallel = maxParallel
    self.join = join
  }
}

extension StepGroup: ActionModel {
  static let sequenceRules = rules(
    "steps", "is a group", result: .group,
    join: "all members of \"steps\" must succeed; use \"parallel\"")
  static let parallelRules = rules("parallel", "is a group", result: .group)
  static let raceRules = rules(
    "race", "is a race", result: .race,
    join: "a race ends with its first success; use \"parallel\"")

  private static func rules(
    _ key: StaticString, _ clause: String, result: ResultShape, join: String? = nil
  ) -> ActionRules {
    ActionRules(
      key, clause, result: result,
      remedies: [
        "join": join,
        "pool": "put it on the members that need it: each takes its own slots",
      ].compactMapValues(\.self), remedy: { _ in "put it on the members of the group that need it" }
    )
  }

  package func check(_ values: inout BuiltValues) {
    if case .atLeast(let count) = join {
      values.checkKeys(of: JoinDraft(atLeast: count), in: "join")
    }
    if order == .race, members.isEmpty {
      values.note("race", .empty(path: "race", wanted: "at least one step"))
    }
  }

  package var repetition: Repetition { .unknown }
  package var keepsResults: Bool { false }
  package var forecast: DurationForecast { .planned(.zero) }
  package func obstacle(toReading field: StepField) -> ResultObstacle? { nil }

  package func summary(
    _ outputs: [OutputDeclaration], atMost columns: Int, ellipsis: String
  ) -> String { "" }

}

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
  mutating func group(
    _ order: StepGroup.Order, _ member: JSONMember, into draft: inout StepDraft
  ) {
    draft.begin(ActionKind(order), member.key, &self)
    guard groupDepth < limits.groupDepth else {
      return cutShort(.groupTooDeep(path: path(Field(order.key))), at: member.key)
    }
    members(order, member, into: &draft.group)
  }

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
      return reportNoArray(list, field)
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

  /// Reports a value in place of an array of steps. The keys of an object may be meant as ids.
  mutating func reportNoArray(_ node: JSONNode, _ field: Field) {
    let id = node.kind == .object ? node.members.first { _ in true }?.key.stringValue : nil
    let help: String? =
      if let id, StepID(id) != nil, StepDraft.format.rule(named: id) == nil {
        "write an array: [ { \"id\": \"\(id)\", \"run\": … } ]"
      } else if node.kind == .string || node.kind == .object {
        "wrap it in an array: [ … ]"
      } else {
        nil
      }
    reportType(of: node, field, wanted: "an array of steps", help: help)
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

  /// The group of a step, whose `join` cannot wait for more successes than there are members.
  mutating func group(_ order: StepGroup.Order, of draft: StepDraft) -> StepGroup {
    var group = StepGroup(order, draft.group.members)
    group.$maxParallel = draft.$maxParallel
    guard order == .parallel, let join = draft.join else { return group }
    group.join = join.value
    if case .atLeast(let wanted) = join.value, wanted > group.members.count, draft.group.isList,
      !draft.isAmbiguous
    {
      let path = path(Field("join").inner("atLeast"))
      report(
        .joinOfMore(path: path, wanted: wanted, members: group.members.count), at: join.node)
    }
    return group
  }

  mutating func join(_ node: JSONNode, _ field: Field) -> StepGroup.Join? {
    let wanted = "\"all\" or { \"atLeast\": 1 }"
    switch node.kind {
    case .string:
      guard let word = text(node, field) else { return nil }
      if word == "all" { return .all }
      report(
        .unknownWord(
          path: path(field), word: word, wanted: wanted, nearest: nil,
          help: "for a group that ends with its first success, write \"race\""), at: node)
      return nil
    case .object:
      var draft = JoinDraft()
      read(node, field, into: &draft)
      return draft.atLeast.map(StepGroup.Join.atLeast)
    default:
      reportType(
        of: node, field, wanted: wanted,
        help: node.kind == .number ? "write { \"atLeast\": \(shortened(node.sourceText)) }" : nil)
      return nil
    }
  }
}

struct JoinDraft: FormatObject {
  var atLeast: Int?

  static let format = ObjectFormat<JoinDraft>("\"join\"") {
    FormatKey(
      "atLeast", .integer(ValueRule.successesOfJoin), "Successes",
      synonyms: "min minimum quorum count successes", required: "{ \"atLeast\": 1 }", at: \.atLeast)
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

extension Diagnostic {
  static func groupTooDeep(path: String) -> Diagnostic {
    Diagnostic(
      .groupTooDeep, "\(path) is nested more than \(WorkflowLimits.groupDepth) groups deep",
      help: "order the steps with \"needs\" instead of nested groups")
  }

  static func joinOfMore(path: String, wanted: Int, members: Int) -> Diagnostic {
    Diagnostic(
      .unfitValue,
      "\(path) is \(wanted), but the group has \(Count(members, "member"))",
      help: members == 0 ? nil : "at most \(members) can succeed")
  }

  static func severalActions(_ first: String, _ second: String) -> Diagnostic {
    if StepGroup.Order(rawValue: first) != nil, StepGroup.Order(rawValue: second) != nil {
      return Diagnostic(
        .severalActions, "found both \"\(first)\" and \"\(second)\", expected one of them",
        help: "nest one in the other: \"\(first)\": [\"…\", { \"\(second)\": [\"…\"] }]")
    }
    return Diagnostic(
      .severalActions,
      "the step has both \"\(first)\" and \"\(second)\", expected one action",
      help: "split it into two steps")
  }

  static func emptyGroup(path: String) -> Diagnostic {
    var note = Diagnostic(
      .emptyGroup, "\(path) is empty, so it succeeds without running anything")
    note.severity = .note
    return note
  }
}

extension Step {
  /// A group whose members run one after another.
  public init(
    _ id: StepID = .unnamed, steps members: [Step], needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .group(StepGroup(.steps, members)), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A group whose members run concurrently, until all have ended or `join` is satisfied.
  public init(
    _ id: StepID = .unnamed, parallel members: [Step], needs: [Need]? = nil,
    timeout: Duration? = nil,
    maxParallel: Int? = nil, join: StepGroup.Join = .all, allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given,
      action: .group(StepGroup(.parallel, members, maxParallel: maxParallel, join: join)),
      needs: needs, timeout: timeout, allowFailure: allowFailure)
  }

  /// A group whose members all start; the first to succeed cancels the others. There is at least one member.
  public init(
    _ id: StepID = .unnamed, race members: [Step], needs: [Need]? = nil, timeout: Duration? = nil,
    maxParallel: Int? = nil, allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .group(StepGroup(.race, members, maxParallel: maxParallel)),
      needs: needs, timeout: timeout, allowFailure: allowFailure)
  }
}

public import WeftDiagnostics
import WeftJSON

/// Slots of a pool that a step holds while an attempt of it runs.
public struct PoolRequest: Sendable, Hashable {
  public var pool: String
  /// At least 1.
  public var slots: Int
  /// The pool's name, with its quotes.
  public var place: Written<SourceRange?>

  public init(_ pool: String, slots: Int = 1, place: SourceRange? = nil) {
    self.pool = pool
    self.slots = slots
    self.place = Written(place)
  }
}

/// A number of slots that steps share, independently of their dependencies.
public struct Pool: Sendable, Hashable {
  public var name: String
  /// At least 1.
  public var slots: Int
  public var rate: Rate?
  /// The name, with its quotes.
  public var place: Written<SourceRange?>

  public init(_ name: String, slots: Int, rate: Rate? = nil, place: SourceRange? = nil) {
    self.name = name
    self.slots = slots
    self.rate = rate
    self.place = Written(place)
  }
}

/// The slots that may be taken in a period: a bucket that holds `count` and is refilled evenly.
public struct Rate: Sendable, Hashable {
  /// At least 1.
  public var count: Int
  /// Greater than zero.
  public var period: Duration

  public init(count: Int, per period: Duration) {
    self.count = count
    self.period = period
  }
}

extension Rate {
  /// The reason why a text is not a rate.
  enum ParseError: Error, Sendable, Hashable {
    /// Not a number, a slash and something after it.
    case malformed
    case count
    case period(String, DurationText.ParseError)
  }

  /// Reads a rate as written in a workflow: `"30/1m"`.
  init(_ text: String) throws(ParseError) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(\.isDigit) else {
      throw .malformed
    }
    guard let count = Int(parts[0]), (1...WorkflowLimits.poolSlots).contains(count) else {
      throw .count
    }
    let period = String(parts[1])
    do {
      self.init(count: count, per: try DurationText.duration(from: period))
    } catch {
      throw .period(period, error)
    }
  }
}

extension Rate: CustomStringConvertible {
  /// The spelling in a workflow.
  public var description: String { "\(count)/\(DurationText.text(of: period))" }
}

extension Rate.ParseError {
  var expectation: String {
    switch self {
    case .malformed: "expected a rate like \"30/1m\""
    case .count: "expected a count from 1 to \(WorkflowLimits.poolSlots) before the slash"
    case .period(_, let fault): "\(fault.expectation(allowsZero: false)) after the slash"
    }
  }

  var help: String? {
    switch self {
    case .malformed: "write a count, a slash and a period: \"30/1m\""
    case .count: nil
    case .period(let text, .withoutUnit), .period(let text, .malformed):
      "\(quoted(text)) is not a duration; \(DurationText.ParseError.units)"
    case .period(_, .zero): "omit \"rate\" for no limit"
    case .period(_, let fault): fault.help(allowsZero: false)
    }
  }
}

struct PoolDraft: FormatObject {
  var slots: Int?
  var rate: Rate?

  static let format = ObjectFormat<PoolDraft>("a pool") {
    FormatKey(
      "slots", .integer(ValueRule.slots), "Slots",
      synonyms: "size capacity limit max count", required: "{ \"slots\": 4, \"rate\": \"30/1m\" }"
    ) { $0.slots = $1 }
    FormatKey(
      "rate", ValueFormat { $0.rate($1, $2) }, "Rate",
      "The number of slots that may be taken in a period.",
      schema: #"{"$ref": "rate", "examples": ["30/1m"]}"#, synonyms: "rateLimit throttle"
    ) { $0.rate = $1 }
  }
}

/// `pools`, and `pool`, which takes slots from them.
extension DecodingPass {
  mutating func pools(_ node: JSONNode, _ field: Field) -> [Pool]? {
    guard
      isObject(
        node, field, wanted: "an object of names and slots", help: "write { \"db\": 4 }")
    else { return nil }
    var pools: [Pool] = []
    for member in node.members {
      guard let name = declaredName(member.key),
        let pool = pool(name, member, field.member(member.key)),
        !pools.contains(where: { $0.name == name })
      else { continue }
      pools.append(pool)
    }
    return pools
  }

  private mutating func pool(_ name: String, _ member: JSONMember, _ field: Field) -> Pool? {
    var draft = PoolDraft()
    if member.value.kind == .object {
      read(member.value, field, into: &draft)
    } else {
      draft.slots = integer(member.value, field, in: ValueRule.slots)
    }
    return draft.slots.map { Pool(name, slots: $0, rate: draft.rate, place: member.key.range) }
  }

  fileprivate mutating func rate(_ node: JSONNode, _ field: Field) -> Rate? {
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: "a rate like \"30/1m\"",
        help: "write a count, a slash and a period")
      return nil
    }
    guard let text = text(node, field) else { return nil }
    do {
      return try Rate(text)
    } catch {
      report(.invalidRate(path: path(field), text: text, fault: error), at: node)
      return nil
    }
  }

  mutating func poolRequests(_ node: JSONNode, _ field: Field) -> [PoolRequest]? {
    switch node.kind {
    case .string:
      guard let name = filledText(node, field, wanted: "the name of a pool"),
        declaredName(node) != nil
      else { return nil }
      return [PoolRequest(name, place: node.range)]
    case .object: return weightedRequests(node, field)
    default:
      reportType(
        of: node, field, wanted: "the name of a pool, or an object of names and slots",
        help: node.kind == .array ? "write { \"db\": 1, \"cpu\": 2 }" : nil)
      return nil
    }
  }

  private mutating func weightedRequests(_ node: JSONNode, _ field: Field) -> [PoolRequest] {
    if node.members.isEmpty {
      report(.empty(path: path(field), wanted: "at least one pool"), at: node)
    }
    var requests: [PoolRequest] = []
    for member in node.members {
      guard let name = declaredName(member.key),
        let slots = integer(member.value, field.member(member.key), in: ValueRule.slots),
        !requests.contains(where: { $0.pool == name })
      else { continue }
      requests.append(PoolRequest(name, slots: slots, place: member.key.range))
    }
    return requests
  }

  /// A name that follows the rule for ids; `nil` if it does not, which is reported.
  mutating func declaredName(_ node: JSONNode) -> String? {
    let name = node.stringValue ?? ""
    guard let fault = StepID.fault(in: name) else { return name }
    report(.invalidName(name, fault: fault), at: node)
    return nil
  }
}

extension Diagnostic {
  static func invalidRate(path: String, text: String, fault: Rate.ParseError) -> Diagnostic {
    Diagnostic(.invalidRate, "\(path) is \(quoted(text)), \(fault.expectation)", help: fault.help)
  }

  static func invalidName(_ name: String, fault: StepID.ParseError) -> Diagnostic {
    Diagnostic(
      .invalidID, "the name \(quoted(name)) \(fault.complaint)",
      help:
        "a name has at most \(StepID.longest) characters: letters, digits, \"_\" and \"-\"; it "
        + "begins with a letter or \"_\"")
  }
}

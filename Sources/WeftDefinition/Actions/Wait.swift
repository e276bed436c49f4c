package import WeftDiagnostics
package import WeftEncoding
package import WeftExpressions
package import WeftJSON

/// The duration or end of a `wait`.
public enum Waiting: Sendable, Hashable {
  case duration(Duration)
  /// A moment of wall-clock time.
  case until(WallMoment)
  /// A text that is exactly one expression, which evaluates to a duration.
  case computedDuration(Condition)
  /// A text that is exactly one expression, which evaluates to a moment.
  case computedMoment(Condition)
}

/// A moment of wall-clock time in the format of RFC 3339.
public struct WallMoment: Sendable, Hashable {
  /// Nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.
  public var nanoseconds: Int64
  /// The original text.
  public var text: String

  public init(nanoseconds: Int64, text: String) {
    self.nanoseconds = nanoseconds
    self.text = text
  }
}

extension Waiting: ActionModel {
  static let rules = ActionRules("wait", "only waits", result: .step, settings: ["env"])

  package func check(_ values: inout BuiltValues) {
    guard case .duration(let duration) = self else { return }
    values.checkTime("wait", duration, allowsZero: true)
  }

  package func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void) {
    switch self {
    case .computedDuration(let text), .computedMoment(let text):
      visit(.waiting, text.text, text.place.value)
    case .duration, .until: break
    }
  }

  package var repetition: Repetition { .unknown }
  package var keepsResults: Bool { false }

  package var forecast: DurationForecast {
    switch self {
    case .duration(let duration): .planned(duration)
    case .computedDuration: .measured
    case .until, .computedMoment: .unforeseeable
    }
  }

  package func obstacle(toReading field: StepField) -> ResultObstacle? {
    field.isOfProgram ? .runsNothing : nil
  }

  package func summary(
    _ outputs: [OutputDeclaration], atMost columns: Int, ellipsis: String
  ) -> String {
    switch self {
    case .duration(let duration): "waits " + DurationText.text(of: duration)
    case .until(let moment): "waits until \(moment.text)"
    case .computedDuration(let text): "waits " + text.bareText
    case .computedMoment(let text): "waits until \(text.bareText)"
    }
  }

  package func write(to writer: inout JSONWriter) {
    switch self {
    case .duration(let duration): writer.member("wait", DurationText.text(of: duration))
    case .computedDuration(let text): writer.member("wait", text.text)
    case .until(let moment): writer.object("wait") { $0.member("until", moment.text) }
    case .computedMoment(let text): writer.object("wait") { $0.member("until", text.text) }
    }
  }
}

extension FormatKey<StepDraft> {
  static var wait: FormatKey {
    action(
      .wait, "Wait",
      "A duration, or a moment of wall-clock time. The step holds no slot meanwhile.",
      schema: #"""
        {"anyOf": ["@duration", "@nothing", "@expression", "@wait"], "examples": ["30s",
        {"until": "2026-11-21T09:00:00Z"}]}
        """#,
      synonyms: "sleep delay pause suspend"
    ) { pass, node, field in pass.waiting(node, field).map(StepAction.wait) }
  }
}

extension DecodingPass {
  fileprivate mutating func waiting(_ node: JSONNode, _ field: Field) -> Waiting? {
    switch node.kind {
    case .string, .number:
      if let text = wholeExpression(node) { return .computedDuration(text) }
      return duration(node, field, allowsZero: true).map(Waiting.duration)
    case .object:
      var draft = WaitDraft()
      read(node, field, into: &draft)
      return draft.waiting
    default:
      reportType(
        of: node, field, wanted: "a duration like \"30s\", or { \"until\": … }",
        help: "write \"30s\", or { \"until\": \"\(MomentText.ParseError.example)\" }")
      return nil
    }
  }

  fileprivate mutating func moment(_ node: JSONNode, _ field: Field) -> Waiting? {
    if let text = wholeExpression(node) { return .computedMoment(text) }
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: "a time like \"\(MomentText.ParseError.example)\"")
      return nil
    }
    guard let text = text(node, field) else { return nil }
    do {
      return .until(try MomentText.moment(from: text))
    } catch {
      report(.invalidMoment(path: path(field), text: text, fault: error), at: node)
      return nil
    }
  }
}

struct WaitDraft: FormatObject {
  var waiting: Waiting?

  static let format = ObjectFormat<WaitDraft>("\"wait\"") {
    FormatKey(
      "until", ValueFormat { $0.moment($1, $2) }, "Moment", "A moment in the format of RFC 3339.",
      schema: #"""
        {"anyOf": ["@moment", "@expression"], "examples": ["2026-11-21T09:00:00Z"]}
        """#, synonyms: "at time date",
      required: "{ \"until\": \"2026-11-21T09:00:00Z\" }, or \"30s\" for a duration"
    ) { $0.waiting = $1 }
  }
}

/// Durations and moments from the results of expressions.
extension Waiting {
  package static func duration(_ value: ExpressionValue) throws(EvaluationError) -> Duration {
    try ComputedKey.duration(value, allowsZero: true)
  }

  package static func moment(_ value: ExpressionValue) throws(EvaluationError) -> WallMoment {
    guard case .string(let text) = value else {
      throw ComputedKey.mismatch(value, "a time like \"\(MomentText.ParseError.example)\"")
    }
    do {
      return try MomentText.moment(from: text)
    } catch {
      throw .scope(
        code: DefinitionCode.invalidMoment.rawValue,
        message: "it evaluates to \(quoted(text)), \(error.expectation)", help: error.help)
    }
  }
}

extension Step {
  /// A step that waits without holding a slot.
  public init(_ id: StepID = .unnamed, wait duration: Duration, needs: [Need]? = nil) {
    self.init(id, wait: .duration(duration), needs: needs)
  }

  /// A step that waits for a duration or until a moment, without holding a slot.
  public init(_ id: StepID = .unnamed, wait: Waiting, needs: [Need]? = nil) {
    self.init(id: id.given, action: .wait(wait), needs: needs)
  }
}

extension Diagnostic {
  static func invalidMoment(path: String, text: String, fault: MomentText.ParseError) -> Diagnostic
  {
    Diagnostic(.invalidMoment, "\(path) is \(quoted(text)), \(fault.expectation)", help: fault.help)
  }
}

/// Moments as written in a workflow, in the format of RFC 3339.
package enum MomentText {
  package typealias ParseError = TimeText.ParseError

  /// Reads a moment; digits beyond nanoseconds are dropped.
  package static func moment(from text: String) throws(ParseError) -> WallMoment {
    let (seconds, fraction) = try TimeText.time(from: text)
    let (whole, isLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (nanoseconds, isLarger) = whole.addingReportingOverflow(fraction)
    guard !isLarge, !isLarger else { throw .outOfRange }
    return WallMoment(nanoseconds: nanoseconds, text: text)
  }
}

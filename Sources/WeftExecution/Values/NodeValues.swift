import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExpressions
import WeftJSON
import WeftPlanning

/// The result of a step or group that expressions can read: outcome, output of its program, and declared
/// outputs.
struct NodeValues: Sendable {
  var outcome: Outcome
  var conclusion: Outcome
  var attempts = 0
  var duration = Duration.zero
  var exit: ProgramExit?
  var stdout: CapturedText?
  var stderr: CapturedText?
  /// The value that an action has returned.
  var returned: ScopedValue?
  /// The response to a request; `nil` if there was none.
  var answer: ResponseValues?
  var outputs: [OutputValue] = []
  /// The outputs that the program of a cached step has written.
  var written: [OutputValue] = []
  /// The fields that it has.
  var shape = ResultShape.step
  /// The results of a loop's elements; by index.
  var results: [ElementResult]?
  /// The member that won a race.
  var winner: StepAddress?
  /// Whether only its outcome is known, because the step was rehearsed.
  var isUnknown = false

  /// The result of a step or group that was skipped.
  static func skipped(_ reason: SkipReason, _ shape: ResultShape = .step) -> NodeValues {
    NodeValues(outcome: reason.outcome, conclusion: reason.outcome, shape: shape)
  }

  /// The fields of the whole result.
  ///
  /// - Parameter expression: Its `json`, unless that needs no parsing, and the body of a response are among them only if
  ///   this expression may read them.
  func fields(for expression: ExpressionNode) -> [StepField] {
    shape.fields.filter { field in
      let isCostly = field == .json && shape != .action || field == .body
      return !isCostly || expression.readsMember(field.rawValue)
    }
  }

  /// The value of one field.
  ///
  /// - Parameter owner: The name of the step in messages.
  func value(
    of field: StepField, owner: String, spool: CaptureSpool
  ) throws(EvaluationError) -> ScopedValue {
    switch field {
    case .outcome: return ScopedValue(.string(outcome.rawValue))
    case .conclusion: return ScopedValue(.string(conclusion.rawValue))
    case .exitCode:
      guard case .code(let code)? = exit else { return ScopedValue(.null) }
      return ScopedValue(.number(Double(code)))
    case .signal:
      guard case .signal(let name)? = exit else { return ScopedValue(.null) }
      return ScopedValue(.string(name))
    case .stdout: return try text(stdout, "the stdout of \(owner)", spool)
    case .stderr: return try text(stderr, "the stderr of \(owner)", spool)
    case .json:
      switch shape {
      case .action: return returned ?? ScopedValue(.null)
      case .answer: return try answerJSON(owner, spool)
      case .step, .group, .race, .workflow, .many: return try json(owner, spool)
      }
    case .outputs: return outputObject
    case .attempts: return ScopedValue(.number(Double(attempts)))
    case .duration: return ScopedValue(.number(duration.seconds))
    case .status: return ScopedValue(answer.map { .number(Double($0.status)) } ?? .null)
    case .headers: return answer?.headers ?? ScopedValue(.null)
    case .body: return try answer?.body?.text(owner, from: spool) ?? ScopedValue(.null)
    case .stale: return ScopedValue(answer.map { .boolean($0.isStale) } ?? .null)
    case .pages: return ScopedValue(answer.map { .number(Double($0.pages)) } ?? .null)
    case .winner, .results: return ScopedValue(.null)
    }
  }

  private func answerJSON(
    _ owner: String, _ spool: CaptureSpool
  ) throws(EvaluationError) -> ScopedValue {
    if let collected = answer?.collected { return collected }
    return try answer?.body?.json(owner, from: spool) ?? ScopedValue(.null)
  }

  /// The value of one output; `null` if it was not written.
  func output(_ name: String) -> ScopedValue {
    guard let output = outputs.first(where: { $0.name == name }) else { return ScopedValue(.null) }
    return ScopedValue(output.value, isSecret: output.isSecret)
  }

  var outputObject: ScopedValue {
    ScopedValue(
      .object(outputs.map { ($0.name, $0.value) }), isSecret: outputs.contains { $0.isSecret })
  }

  private func text(
    _ captured: CapturedText?, _ what: String, _ spool: CaptureSpool
  ) throws(EvaluationError) -> ScopedValue {
    guard let captured else { return ScopedValue(.null) }
    do {
      return ScopedValue(.string(try captured.text(from: spool)), isSecret: captured.isSecret)
    } catch {
      throw error.problem(what)
    }
  }

  private func json(_ owner: String, _ spool: CaptureSpool) throws(EvaluationError) -> ScopedValue {
    let text = try text(stdout, "the stdout of \(owner)", spool)
    guard case .string(let content) = text.value else { return text }
    return ScopedValue(
      try ExpressionValue.json(
        content, from: "the stdout of \(owner)",
        help: "print one JSON value and nothing else; print other messages to stderr"),
      isSecret: text.isSecret)
  }
}

extension NodeValues {
  /// The result of a step of which no more is known than its end.
  init(_ end: StepEnd) {
    self.init(
      outcome: end.outcome, conclusion: end.conclusion, attempts: end.attempts,
      duration: end.duration, exit: end.exit)
  }
}

/// An output of a step, a group or the run.
struct OutputValue: Sendable {
  let name: String
  let value: ExpressionValue
  /// A secret output is in no event and in no report.
  let isSecret: Bool
}

extension ExpressionValue {
  /// Parses JSON; reports the location of an error.
  static func json(
    _ text: String, from what: String, help: String? = nil
  ) throws(EvaluationError) -> ExpressionValue {
    let file = SourceFile(path: "", bytes: Array(text.utf8))
    let (root, diagnostics) = JSONReader.read(file, limits: JSONLimits(problems: 1), beside: nil)
    if let root, !diagnostics.contains(where: \.isError) { return ExpressionValue(JSONValue(root)) }
    var reason = "it cannot be read"
    if let fault = diagnostics.first(where: \.isError) {
      reason = fault.message
      if let place = fault.place {
        let position = file.position(of: Int(place.range.start))
        reason += " (line \(position.line), column \(position.column))"
      }
    }
    throw .scope(code: "W0333", message: "\(what) is not JSON: \(reason)", help: help)
  }
}

extension Duration {
  var seconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}

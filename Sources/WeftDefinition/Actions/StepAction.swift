package import WeftDiagnostics
package import WeftJSON

/// The action of a step.
public enum StepAction: Sendable, Hashable {
  /// Runs a program or a script.
  case run(Command)
  /// Runs other steps.
  case group(StepGroup)
  /// Runs nothing, and computes its outputs.
  case compute
  /// Runs nothing, and waits without holding a slot.
  indirect case wait(Waiting)
  /// Runs nothing, and asks a person for approval.
  indirect case approve(Approval)
  /// Runs the steps of another file.
  indirect case workflow(NestedWorkflow)
  /// Runs an action that the embedding program has registered.
  indirect case use(ActionCall)
  /// Sends an HTTP request.
  indirect case http(HTTPCall)
}

/// The kind of a step's action; a step without an action key computes.
@usableFromInline package enum ActionKind: Sendable, Hashable, CaseIterable {
  case run, use, http, workflow, wait, approve, compute, steps, parallel, race

  @inlinable package init(_ order: StepGroup.Order) {
    switch order {
    case .steps: self = .steps
    case .parallel: self = .parallel
    case .race: self = .race
    }
  }

  /// Whether it runs attempts in a slot, by an executor.
  @inlinable package var makesAttempts: Bool {
    switch self {
    case .run, .use, .http: true
    case .workflow, .wait, .approve, .compute, .steps, .parallel, .race: false
    }
  }

  /// Whether it consists of other steps; a cleanup step must not.
  package var containsSteps: Bool { isGroup || self == .workflow }

  package var isGroup: Bool {
    switch self {
    case .steps, .parallel, .race: true
    case .run, .use, .http, .workflow, .wait, .approve, .compute: false
    }
  }

  static let groups = allCases.filter(\.isGroup)
  static let attempts = allCases.filter(\.makesAttempts)

  /// The properties that all actions of the kind share.
  package var rules: ActionRules {
    switch self {
    case .run: Command.rules
    case .use: ActionCall.rules
    case .http: HTTPCall.rules
    case .workflow: NestedWorkflow.rules
    case .wait: Waiting.rules
    case .approve: Approval.rules
    case .compute: Computation.rules
    case .steps: StepGroup.sequenceRules
    case .parallel: StepGroup.parallelRules
    case .race: StepGroup.raceRules
    }
  }
}

/// The work of one kind of action, and all that checks, plans and printers need to know about it.
///
/// A new kind of action is a type of this protocol in a file of its own, with its ``ActionRules`` and its key of the
/// file format; a case of ``StepAction`` and of ``ActionKind``; and the code that runs it, in WeftExecution.
package protocol ActionModel: Sendable, Hashable {
  /// Reports the values that the format does not allow; for a workflow built in Swift.
  func check(_ values: inout BuiltValues)

  /// Visits its texts that may contain expressions.
  func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void)

  /// The effect of running it twice, as far as it is known.
  var repetition: Repetition { get }

  /// Whether its results or responses are kept on disk for later runs.
  var keepsResults: Bool { get }

  /// The source of its expected duration.
  var forecast: DurationForecast { get }

  /// The reason why a field of its result has no value; `nil` if it may have one.
  func obstacle(toReading field: StepField) -> ResultObstacle?

  /// The action on one line for the user.
  ///
  /// - Parameters:
  ///   - outputs: The declared outputs of its step.
  ///   - columns: The columns that will be shown; a longer text may be incomplete after them.
  func summary(_ outputs: [OutputDeclaration], atMost columns: Int, ellipsis: String) -> String

  /// Short remarks for plans, besides the summary. Of parameters only names, because values may be confidential.
  var remarks: [String] { get }

  /// Writes its members of a plan in JSON. Of parameters only names, because values may be confidential.
  func write(to writer: inout JSONWriter)
}

/// An action is plain unless it says otherwise: it has no values to check, no expressions, and nothing to remark.
extension ActionModel {
  package func check(_ values: inout BuiltValues) {}
  package func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void) {}
  package var forecast: DurationForecast { .measured }
  package var remarks: [String] { [] }
  package func write(to writer: inout JSONWriter) {}
}

/// The effect of running an action twice.
package enum Repetition: Sendable, Hashable {
  /// No further effect.
  case harmless
  case unknown
  /// A further effect.
  case harmful
}

/// The source of the expected duration of an action.
package enum DurationForecast: Sendable, Hashable {
  /// Earlier runs.
  case measured
  /// The plan.
  case planned(Duration)
  /// It waits for a person or for a moment.
  case unforeseeable
}

/// The reason why a field of a result has no value.
package enum ResultObstacle: Sendable, Hashable {
  /// The output goes to the terminal.
  case usesTerminal
  /// The body of the response is saved to a file.
  case savesBody
  /// No program runs.
  case runsNothing
}

extension StepAction {
  /// The model of the action, for checks, plans and printers. It is copied into a box: where every step passes, ask
  /// ``kind`` first.
  package var model: any ActionModel {
    switch self {
    case .run(let command): command
    case .group(let group): group
    case .compute: Computation()
    case .wait(let waiting): waiting
    case .approve(let approval): approval
    case .workflow(let nested): nested
    case .use(let call): call
    case .http(let call): call
    }
  }

  /// The kind of the action. Inlinable, so that testing every step copies no action.
  @inlinable package var kind: ActionKind {
    switch self {
    case .run: .run
    case .group(let group): ActionKind(group.order)
    case .compute: .compute
    case .wait: .wait
    case .approve: .approve
    case .workflow: .workflow
    case .use: .use
    case .http: .http
    }
  }

  /// Reports the values that the format does not allow.
  func check(_ values: inout BuiltValues) {
    // Most steps run a command, which need not be copied.
    if case .run(let command) = self { return command.check(&values) }
    model.check(&values)
  }

  /// Visits its texts that may contain expressions.
  package func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void) {
    if case .run(let command) = self { return command.visitTexts(visit) }
    model.visitTexts(visit)
  }

  /// The source of its expected duration.
  package var forecast: DurationForecast { kind.makesAttempts ? .measured : model.forecast }

  /// The command; `nil` for other kinds, for which setting it has no effect.
  package var command: Command? {
    get { if case .run(let command) = self { command } else { nil } }
    set { if case .run = self, let newValue { self = .run(newValue) } }
  }

  /// The request; `nil` for other kinds, for which setting it has no effect.
  package var request: HTTPCall? {
    get { if case .http(let call) = self { call } else { nil } }
    set { if case .http = self, let newValue { self = .http(newValue) } }
  }

  /// The group; `nil` for other kinds, for which setting it has no effect.
  package var group: StepGroup? {
    get { if case .group(let group) = self { group } else { nil } }
    set { if case .group = self, let newValue { self = .group(newValue) } }
  }

  /// The call of a registered action; `nil` for other kinds, for which setting it has no effect.
  package var call: ActionCall? {
    get { if case .use(let call) = self { call } else { nil } }
    set { if case .use = self, let newValue { self = .use(newValue) } }
  }
}

/// The properties that all actions of a kind share. A class, because the reader of a file asks for them with each step.
package final class ActionRules: Sendable {
  /// The key that makes a step one of this kind.
  let key: StaticString
  /// A clause that says what a step of this kind is or does.
  let clause: String
  /// A clause that says why there is no result of a program.
  package let resultClause: String
  /// The members of its result.
  package let result: ResultShape
  /// The settings of commands that it has; `nil` for all. Expressions of a step can read its `env`.
  let settings: Set<String>?
  /// The remedies for keys that belong to other kinds.
  let remedies: [String: String]
  /// The remedy for another such key.
  let remedy: @Sendable (String) -> String

  init(
    _ key: StaticString, _ clause: String, resultClause: String? = nil, result: ResultShape,
    settings: Set<String>? = nil, remedies: [String: String] = [:],
    remedy: @escaping @Sendable (String) -> String = { "remove \"\($0)\"" }
  ) {
    self.key = key
    self.clause = clause
    self.resultClause = resultClause ?? clause
    self.result = result
    self.settings = settings
    self.remedies = remedies
    self.remedy = remedy
  }

  /// Whether steps of this kind have the settings of enclosing groups, or any of their own.
  package var hasSettings: Bool { settings?.isEmpty != true }

  fileprivate func remedy(for key: String) -> String {
    if let own = remedies[key] { return own }
    return switch key {
    case "maxParallel": "put it on the enclosing group"
    case "join": "put it next to \"parallel\""
    case "with": "remove it: expressions can read inputs and steps directly"
    case "retry": "remove it, or put it on an enclosing group"
    case "pool": "remove it: the step runs nothing that could hold a slot"
    default: remedy(key)
    }
  }
}

extension Diagnostic {
  /// A key on the wrong kind of step.
  ///
  /// - Parameter kinds: The kinds that may have it.
  static func misplacedKey(
    _ key: String, of kind: ActionKind, onlyFor kinds: [ActionKind] = [.run]
  ) -> Diagnostic {
    let bearer =
      switch key {
      case "maxParallel": "a group or the workflow"
      case "join": "a \"parallel\" group"
      case "retry": "a step whose failure can be temporary"
      case "timeout": "a step that runs something or asks for approval"
      case "idempotent", "onInterrupted": "a step with \"run\""
      default: "a step with \(QuotedList(kinds.map(\.rules.key.description)))"
      }
    let clause = kind == .steps && key == "join" ? "runs its members in order" : kind.rules.clause
    return Diagnostic(
      .misplacedKey, "\(quoted(key)) is only for \(bearer), but this step \(clause)",
      help: kind.rules.remedy(for: key))
  }

  static func settingOfOtherFile(_ key: String) -> Diagnostic {
    Diagnostic(
      .misplacedKey,
      "\(quoted(key)) does not apply to the steps of another file",
      help: "set it in the other file, or pass it as an input with \"with\"")
  }

  static func keyInCleanup(_ key: String) -> Diagnostic {
    let name = quoted(key)
    return switch key {
    case "needs":
      Diagnostic(
        .misplacedKey,
        "\(name) is not allowed on a cleanup step",
        help: "cleanup steps run in the order in which they are listed")
    case "cleanup":
      Diagnostic(
        .misplacedKey, "a cleanup step cannot have its own \(name)",
        help: "make \"cleanup\" an array, and add this step to it")
    case "cache":
      Diagnostic(
        .misplacedKey, "\(name) is not allowed on a cleanup step, which must always run",
        help: "remove it")
    case "forEach", "matrix":
      Diagnostic(
        .misplacedKey, "\(name) is not allowed on a cleanup step, which runs once",
        help: "put the cleanup on the step that has the loop")
    default:
      Diagnostic(
        .misplacedKey, "\(name) is not allowed in a cleanup, which consists of plain steps",
        help: "make \"cleanup\" an array: its steps run in order")
    }
  }
}

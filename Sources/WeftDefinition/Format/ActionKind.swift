import WeftDiagnostics

/// The kind of a step's action, by its key; a step without an action key computes.
enum ActionKind: Hashable {
  case run, steps, parallel, race, wait, approve, workflow, use, http, compute

  init(_ order: StepGroup.Order) {
    switch order {
    case .steps: self = .steps
    case .parallel: self = .parallel
    case .race: self = .race
    }
  }

  var isGroup: Bool {
    switch self {
    case .steps, .parallel, .race: true
    case .run, .wait, .approve, .workflow, .use, .http, .compute: false
    }
  }

  static let groups: [ActionKind] = [.steps, .parallel, .race]
  static let attempts: [ActionKind] = [.run, .use, .http]
}

extension Diagnostic {
  /// A key on the wrong kind of step.
  static func misplacedKey(_ key: String, of kind: ActionKind) -> Diagnostic {
    let bearer =
      switch key {
      case "maxParallel": "a group or the workflow"
      case "join": "a \"parallel\" group"
      case "with": "a step with \"workflow\" or \"use\""
      case "pool": "a step with \"run\", \"use\" or \"http\""
      case "retry": "a step whose failure can be temporary"
      default: "a step with \"run\""
      }
    return Diagnostic(
      .misplacedKey,
      "\(quoted(key)) is only for \(bearer), but this step "
        + "\(kind.clause(besides: key))",
      help: kind.remedy(for: key))
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

extension ActionKind {
  /// A clause that says what a step of this kind is or does.
  fileprivate func clause(besides key: String) -> String {
    switch self {
    case .run: "runs a command"
    case .steps where key == "join": "runs its members in order"
    case .steps, .parallel: "is a group"
    case .race: "is a race"
    case .wait: "only waits"
    case .approve: "waits for approval"
    case .workflow: "runs another file"
    case .use: "runs a registered action"
    case .http: "sends an HTTP request"
    case .compute: "only computes outputs"
    }
  }

  fileprivate func remedy(for key: String) -> String {
    switch (key, self) {
    case ("maxParallel", .workflow): "set it in the other file"
    case ("maxParallel", _): "put it on the enclosing group"
    case ("join", .steps): "all members of \"steps\" must succeed; use \"parallel\""
    case ("join", .race): "a race ends with its first success; use \"parallel\""
    case ("join", _): "put it next to \"parallel\""
    case ("with", .http): "put it in \"query\", \"headers\" or the body"
    case ("with", .run): "pass it to the program as an argument, or in \"env\""
    case ("with", _): "remove it: expressions can read inputs and steps directly"
    case ("retry", _): "remove it, or put it on an enclosing group"
    case ("pool", .steps), ("pool", .parallel), ("pool", .race):
      "put it on the members that need it: each takes its own slots"
    case ("pool", .workflow):
      "put it on the steps of the other file that need it: "
        + "each takes its own slots"
    case ("pool", _): "remove it: the step runs nothing that could hold a slot"
    case (_, .steps), (_, .parallel), (_, .race):
      "put it on the members of the group that need it"
    case (_, .workflow): "put it on the steps of the other file that need it"
    case ("cache", .http): "to cache responses, put \"cache\" inside \"http\""
    case ("env", .use), ("stdin", .use): "pass it to the action in \"with\""
    case ("env", .http): "put it in the request; its values can contain expressions"
    case ("stdin", .http): "set the request body with \"json\", \"body\", \"form\" or \"bodyFile\""
    case ("successCodes", .http): "set the accepted statuses with \"expect\""
    case ("stallTimeout", .http): "write \"timeout\": { \"idle\": … } inside \"http\""
    case (_, .compute): "add \"run\", or remove \"\(key)\""
    case (_, .run), (_, .use), (_, .http), (_, .wait), (_, .approve): "remove \"\(key)\""
    }
  }
}

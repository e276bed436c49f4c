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
      case "join": "a group of \"parallel\""
      case "with": "a step with \"workflow\" or \"use\""
      case "pool": "a step with \"run\", \"use\" or \"http\""
      case "retry": "what can fail in a way that passes"
      default: "a step with \"run\""
      }
    return Diagnostic(
      .misplacedKey, "\(quoted(key)) is for \(bearer), and this one \(kind.clause(besides: key))",
      help: kind.cure(for: key))
  }

  static func settingOfOtherFile(_ key: String) -> Diagnostic {
    Diagnostic(
      .misplacedKey,
      "\(quoted(key)) does not reach into another file, whose steps have their own",
      help: "say it in the other file, or give it as an input by \"with\"")
  }

  static func keyInCleanup(_ key: String) -> Diagnostic {
    let name = quoted(key)
    return switch key {
    case "needs":
      Diagnostic(
        .misplacedKey,
        "\(name) cannot stand on a clean-up step, which waits for nothing but its turn",
        help: "the steps of a clean-up run in the order in which they are written")
    case "cleanup":
      Diagnostic(
        .misplacedKey, "a clean-up step cannot have a \(name) of its own",
        help: "make the clean-up an array, and this one of its steps")
    case "cache":
      Diagnostic(
        .misplacedKey, "\(name) cannot stand on a clean-up step, which is there for what it does",
        help: "leave it out")
    case "forEach", "matrix":
      Diagnostic(
        .misplacedKey, "\(name) cannot stand on a clean-up step, which runs once",
        help: "put the clean-up on the step that is run for each element")
    default:
      Diagnostic(
        .misplacedKey, "\(name) cannot stand in a clean-up, which is made of single steps",
        help: "make the clean-up an array: its steps run in order")
    }
  }
}

extension ActionKind {
  /// A clause that says what a step of this kind is or does.
  fileprivate func clause(besides key: String) -> String {
    switch self {
    case .run: "runs a command"
    case .steps where key == "join": "goes through its members in order"
    case .steps, .parallel: "is a group"
    case .race: "is a race"
    case .wait: "only waits"
    case .approve: "asks a person"
    case .workflow: "runs another file"
    case .use: "runs an action of the program around Weft"
    case .http: "sends an HTTP request"
    case .compute: "only computes outputs"
    }
  }

  fileprivate func cure(for key: String) -> String {
    switch (key, self) {
    case ("maxParallel", .workflow): "say it in the other file"
    case ("maxParallel", _): "put it into the group around the step"
    case ("join", .steps): "all members of \"steps\" have to succeed; write \"parallel\""
    case ("join", .race): "a race is over with its first success; write \"parallel\""
    case ("join", _): "put it beside \"parallel\""
    case ("with", .http): "put it into \"query\", \"headers\" or the body"
    case ("with", .run): "give it to the program as an argument, or by \"env\""
    case ("with", _): "remove it: expressions read inputs and steps by themselves"
    case ("retry", _): "leave it out; a group around the step can have it"
    case ("pool", .steps), ("pool", .parallel), ("pool", .race):
      "put it on the members of the group that need it: each asks for itself"
    case ("pool", .workflow): "put it on the other file's steps that need it: each asks for itself"
    case ("pool", _): "leave it out: nothing is held while nothing runs"
    case (_, .steps), (_, .parallel), (_, .race):
      "put it into the members of the group that need it"
    case (_, .workflow): "put it into the other file's steps that need it"
    case ("cache", .http): "a request keeps its answers by \"cache\" inside of \"http\""
    case ("env", .use), ("stdin", .use): "give it to the action by \"with\""
    case ("env", .http): "write it into the request: expressions stand in its values"
    case ("stdin", .http): "what is sent is said by \"json\", \"body\", \"form\" or \"bodyFile\""
    case ("successCodes", .http): "which answers are successes is said by \"expect\""
    case ("stallTimeout", .http): "write \"timeout\": { \"idle\": … } inside \"http\""
    case (_, .compute): "add \"run\", or remove \"\(key)\""
    case (_, .run), (_, .use), (_, .http), (_, .wait), (_, .approve): "remove \"\(key)\""
    }
  }
}

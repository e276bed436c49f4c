import WeftDiagnostics

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
  /// The settings of commands that it has; `nil` for all.
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

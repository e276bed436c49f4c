/// The codes of what can be wrong with the shape and the values of a workflow file; each is stable
/// across releases and may be looked up or filtered by.
///
/// W00xx (the JSON text), W0101 and W0102 (repeated keys) belong to the reader, W02xx (the graph) to
/// the planner, and W0501 (an id needed twice) too.
public enum DefinitionCode: String, Sendable, Hashable, CaseIterable {
  case unknownKey = "W0103"
  case wrongType = "W0104"
  case misplacedKey = "W0105"
  case noAction = "W0106"
  case severalActions = "W0107"
  case nothingToRun = "W0108"
  case groupTooDeep = "W0109"
  case tooManySteps = "W0110"
  case tooManyProblems = "W0111"
  case keyBesideTerminal = "W0112"
  case expression = "W0301"
  case invalidDuration = "W0401"
  case invalidID = "W0402"
  case numberOutOfRange = "W0403"
  case empty = "W0404"
  case unknownWord = "W0405"
  case invalidVariableName = "W0406"
  case invalidSize = "W0407"
  case equalNames = "W0409"
  case emptyRange = "W0410"
  case pattern = "W0411"
  case unfitValue = "W0412"
  case repeatedValue = "W0413"
  case unreadableSecret = "W0425"
  case emptyGroup = "W0502"

  /// What the code stands for, as a sentence for a table.
  public var summary: String {
    switch self {
    case .unknownKey: "a key that means nothing where it stands"
    case .wrongType: "a value of the wrong JSON type"
    case .misplacedKey: "a key that belongs to another kind of step or value, or elsewhere"
    case .noAction: "a step without `run`, `steps` or `parallel`"
    case .severalActions: "a step, or a workflow, that says twice what it does"
    case .nothingToRun: "a file without steps"
    case .groupTooDeep: "groups nested deeper than the limit"
    case .tooManySteps: "more steps than the limit"
    case .tooManyProblems: "more problems than are collected"
    case .keyBesideTerminal: "a key about pipes, on a step that has the terminal instead"
    case .expression: "an expression where none can stand"
    case .invalidDuration: "a text that is not a duration, or one out of range"
    case .invalidID: "an id or name that breaks the rule for ids"
    case .numberOutOfRange: "a number that is too small, too large, or not whole"
    case .empty: "an empty text or list where something must stand"
    case .unknownWord: "a word that is not one of those that can be chosen"
    case .invalidVariableName: "a name that no environment variable can have"
    case .invalidSize: "a text that is not an amount of data, or one out of range"
    case .equalNames: "two names for what can have only one"
    case .emptyRange: "rules of a declaration that no value can keep"
    case .pattern: "a text that is not a pattern"
    case .unfitValue: "a value of a declaration that does not fit the rest of it"
    case .repeatedValue: "a value that stands twice where each stands once"
    case .unreadableSecret: "a secret whose value could not be had when a run was to start"
    case .emptyGroup: "a group without members, which succeeds at once"
    }
  }
}

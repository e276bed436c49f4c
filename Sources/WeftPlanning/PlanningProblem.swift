import WeftDefinition
import WeftDiagnostics

/// A problem with the graph of a workflow: one case, one message, one remedy.
enum PlanningProblem: Sendable, Hashable {
  /// The step or group that has the problem, as named in messages.
  enum Subject: Sendable, Hashable, CustomStringConvertible {
    case step(String)
    case group(String)

    var description: String {
      switch self {
      case .step(let address): "step \"\(address)\""
      case .group(let address): "group \"\(address)\""
      }
    }
  }

  case duplicateID(String, first: SourceRange?)
  case needsItself(Subject)
  case unknownNeed(of: Subject, named: String, nearest: String?)
  case needsItsGroup(Subject, group: String)
  case needsItsMember(Subject, member: Subject)
  /// A member of a group that runs several times, or ends early, is named from outside.
  case needsInsideOf(Subject, member: String, of: OpaqueGroup)
  /// A step that runs at the end of something is named by something else.
  case needsAfterwards(Subject, named: String, FinalizerScope)
  case cycle(Cycle)
  case unknownLog(of: Subject, named: String, nearest: String?)
  case readsLogOfGroup(Subject, group: String)
  case readsItsOwnLog(Subject)
  case readsLogOfTerminal(Subject, step: String)
  case groupsTooDeep(innermost: String)
  case tooManySteps
  case unknownPool(of: Subject, named: String, known: [String], nearest: String?)
  case tooManySlots(Subject, asked: Int, String, Int, Diagnostic.Place?)
  /// More slots than the pool's rate ever allows at once.
  case moreThanRate(Subject, asked: Int, String, Int, Diagnostic.Place?)
  /// A group requests a pool, but only steps that run something may.
  case poolOfGroup(String)
  case tooFewMembers(String, wanted: Int, there: Int)
  /// A step has the id `finally` in a file with `finally`.
  case idOfFinally
  /// A step in a loop has the id `cleanup`, and a cleanup step of the loop has no id.
  case idOfCleanup(loop: String)
  /// The other file was not read, so its contents are unknown.
  case fileNotRead(Subject, path: String)
  case unknownParameter(String, of: String, known: [String], nearest: String?)
  case missingParameters([String], of: String)
  /// - Parameter message: Describes the problem, including the name of the parameter.
  case unfitParameter(message: String, help: String?)
  case unknownAction(of: Subject, named: String, known: [String], nearest: String?)
  /// A request that cannot be sent. The string is the key in the file; the message is that of the HTTP client.
  case unsendable(String, message: String, help: String?)
  case credentialsInURL(String)
  case credentialsInProxy(String)
  /// A cached step has an input, an output or a working directory outside of the start directory.
  case cachedOutside(Subject, path: String)
  /// An input of a cached step is inside one of its outputs.
  case cachedInputInOutput(Subject, input: String, output: String)
  /// Two cached steps have the same output, or the output of one contains that of the other.
  case sharedOutput(Subject, path: String, with: Subject, at: String)
  /// Environment variables that the script of a cached step reads, but that its cache key does not cover.
  ///
  /// - Parameter counted: The variables that the cache key covers.
  case cachedWithoutVariables([String], counted: [String])
  case unusedPool(String)
  case raceOfOne(String)
  case needsTwice(Subject, String, first: SourceRange?)
  /// A member of `steps` has `needs` and therefore does not wait for the one before it, but later members rely on the
  /// order of the list.
  case leavesOrder(Subject, previous: String)
  case literal(LiteralRemark)
  /// A value that no file can contain: the workflow was built or changed in Swift.
  case unfit(Diagnostic)
  case value(ValueProblem)
}

/// A problem and its location; a workflow built in Swift has no locations.
struct PlacedProblem: Sendable, Hashable {
  var problem: PlanningProblem
  var range: SourceRange?
  /// The file that contains it, among those of the plan.
  var file: Int
  /// The step or group that has it; `nil` for the workflow or several steps.
  var node: Plan.NodeIndex?
  /// The key that has it, if the problem does not imply that.
  var key: String?

  init(
    _ problem: PlanningProblem, _ range: SourceRange?, in file: Int,
    of node: Plan.NodeIndex? = nil, key: String? = nil
  ) {
    self.problem = problem
    self.range = range
    self.file = file
    self.node = node
    self.key = key
  }

  func diagnostic(in outline: Outline) -> Diagnostic {
    let file = outline.files[file].workflow.source.value
    return Diagnostic(
      problem.severity, code: problem.code, message: problem.message,
      place: Diagnostic.Place(range, in: file), help: problem.help,
      related: problem.related(in: file), step: node.flatMap(outline.address)?.text,
      key: key ?? problem.key)
  }
}

/// The problems found so far, at most ``WorkflowLimits/problems`` of each severity: if there are more, the cause is the
/// program that wrote the file.
struct FoundProblems: Sendable {
  private(set) var problems: [PlacedProblem] = []
  /// The file, and the step or group, that is being checked.
  var file = 0
  var node: Plan.NodeIndex?
  private var errorsLeft = WorkflowLimits.problems
  private var warningsLeft = WorkflowLimits.problems

  /// - Parameter key: The key that has the problem, if the problem does not imply that.
  mutating func append(_ problem: PlanningProblem, _ range: SourceRange?, key: String? = nil) {
    let isError = problem.severity == .error
    guard (isError ? errorsLeft : warningsLeft) > 0 else { return }
    if isError { errorsLeft -= 1 } else { warningsLeft -= 1 }
    problems.append(PlacedProblem(problem, range, in: file, of: node, key: key))
  }
}

extension [PlacedProblem] {
  /// The diagnostics, sorted by location. Each problem of a file that several steps run is reported once.
  func reported(in outline: Outline) -> [Diagnostic] {
    let diagnostics = map { $0.diagnostic(in: outline) }
    guard outline.files.count > 1 else { return diagnostics.sortedByPlace() }
    var reported = DiagnosticDeduplicator()
    return diagnostics.filter { reported.insert($0) }.sortedByPlace()
  }
}

extension Diagnostic.Place {
  init?(_ range: SourceRange?, in file: SourceFile?) {
    guard let range, let file else { return nil }
    self.init(file: file, range: range)
  }
}

extension PlanningProblem {
  var severity: Diagnostic.Severity {
    switch self {
    case .needsTwice, .leavesOrder, .literal, .cachedWithoutVariables, .unusedPool, .raceOfOne,
      .credentialsInURL, .credentialsInProxy:
      .warning
    case .value(let problem): problem.isWarning ? .warning : .error
    default: .error
    }
  }

  /// The related locations of the problem, in reading order.
  func related(in file: SourceFile?) -> [Diagnostic.Related] {
    switch self {
    case .duplicateID(_, let first), .needsTwice(_, _, let first):
      return [.init(message: "the first one is here", place: .init(first, in: file))]
        .filter { $0.place != nil }
    case .tooManySlots(_, _, let pool, let slots, let place):
      let text = "\"\(pool)\" has \(slots) slot\(slots == 1 ? "" : "s") here"
      return [.init(message: text, place: place)].filter { $0.place != nil }
    case .moreThanRate(_, _, let pool, let count, let place):
      let text = "the rate of \"\(pool)\" gives \(count) at once"
      return [.init(message: text, place: place)].filter { $0.place != nil }
    case .cycle(let cycle):
      return cycle.notes.map { .init(message: $0.text, place: .init($0.range, in: file)) }
    default:
      return []
    }
  }
}

import WeftDefinition
import WeftDiagnostics

/// What can be wrong with the graph of a workflow: one case, one sentence, one cure.
enum PlanningProblem: Sendable, Hashable {
  /// Who has the problem, as messages name it.
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
  /// What is inside of a group that runs several times, or ends early, cannot be named.
  case needsInsideOf(Subject, member: String, of: SealedGroup)
  /// What comes when all else has ended is named by something else.
  case needsAfterwards(Subject, named: String, Afterwards)
  case cycle(Cycle)
  case unknownLog(of: Subject, named: String, nearest: String?)
  case readsLogOfGroup(Subject, group: String)
  case readsItsOwnLog(Subject)
  case readsLogOfTerminal(Subject, step: String)
  case groupsTooDeep(innermost: String)
  case tooManySteps
  case unknownPool(of: Subject, named: String, known: [String], nearest: String?)
  case tooManySlots(Subject, asked: Int, String, Int, Diagnostic.Place?)
  /// More at once than the pool's rate ever has.
  case moreThanRate(Subject, asked: Int, String, Int, Diagnostic.Place?)
  /// Pools are asked for by what runs, not by what it is in.
  case poolOfGroup(String)
  case tooFewMembers(String, wanted: Int, there: Int)
  /// A step has the id `finally` where there is such a list.
  case idOfFinally
  /// A step in a loop has the id `cleanup`, and a cleanup step of the loop has no id.
  case idOfCleanup(loop: String)
  /// Nobody has read the other file, and it is nowhere said what is in it.
  case fileNotRead(Subject, path: String)
  case unknownParameter(String, of: String, known: [String], nearest: String?)
  case missingParameters([String], of: String)
  /// - Parameter message: What is wrong with it, with its name.
  case unfitParameter(message: String, help: String?)
  case unknownAction(of: Subject, named: String, known: [String], nearest: String?)
  /// What it is about is called as in the file; the words are of who sends requests.
  case unsendable(String, message: String, help: String?)
  case credentialsInURL(String)
  case credentialsInProxy(String)
  /// A step that may be left out reads, makes, or stands in something outside of the start directory.
  case cachedOutside(Subject, path: String)
  /// What a cached step reads is in what it makes.
  case cachedInputInOutput(Subject, input: String, output: String)
  /// Two cached steps make the same, or one makes a part of what the other makes.
  case sharedOutput(Subject, path: String, with: Subject, at: String)
  /// Variables of the environment that the script of a cached step reads, and on which its cache key does not depend.
  ///
  /// - Parameter counted: Those on which it depends.
  case cachedWithoutVariables([String], counted: [String])
  case unusedPool(String)
  case raceOfOne(String)
  case needsTwice(Subject, String, first: SourceRange?)
  /// A member of `steps` has `needs` and so does not wait for the one before it, and what comes after goes by the list.
  case leavesOrder(Subject, previous: String)
  case literal(LiteralRemark)
  /// A value that no file could have: the workflow was built or changed in Swift.
  case unfit(UnfitValue)
  case value(ValueProblem)
}

/// A problem and where it stands; nowhere, in a workflow that was built in Swift.
struct PlacedProblem: Sendable, Hashable {
  var problem: PlanningProblem
  var range: SourceRange?
  /// Which of the plan's files it is in.
  var file: Int
  /// The step, or group, that has it; `nil`: the workflow, or several steps.
  var node: Plan.NodeIndex?
  /// The key that has it, where the problem does not imply that.
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

/// The problems found so far: of each severity no more than ``WorkflowLimits/problems``, since what
/// is wrong with a file that large is wrong with the program that wrote it.
struct FoundProblems: Sendable {
  private(set) var problems: [PlacedProblem] = []
  /// The file, and the step or group, that is being looked at.
  var file = 0
  var node: Plan.NodeIndex?
  private var errorsLeft = WorkflowLimits.problems
  private var warningsLeft = WorkflowLimits.problems

  /// - Parameter key: The key that has the problem, where that does not imply it.
  mutating func append(_ problem: PlanningProblem, _ range: SourceRange?, key: String? = nil) {
    let isError = problem.severity == .error
    guard (isError ? errorsLeft : warningsLeft) > 0 else { return }
    if isError { errorsLeft -= 1 } else { warningsLeft -= 1 }
    problems.append(PlacedProblem(problem, range, in: file, of: node, key: key))
  }
}

extension [PlacedProblem] {
  /// By place. A file that is run by several steps has each of its problems once.
  func told(in outline: Outline) -> [Diagnostic] {
    let diagnostics = map { $0.diagnostic(in: outline) }
    guard outline.files.count > 1 else { return diagnostics.sortedByPlace() }
    var told = ToldDiagnostics()
    return diagnostics.filter { told.insert($0) }.sortedByPlace()
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

  /// The other places of the problem, in the order in which they should be read.
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

import WeftDefinition
import WeftDiagnostics

/// A problem and its location; a workflow built in Swift has no locations.
struct PlacedProblem: Sendable {
  /// The wording; its place and step are added when all problems are known.
  var diagnostic: Diagnostic
  var range: SourceRange?
  /// The file that contains it, among those of the plan.
  var file: Int
  /// The file that contains it, if that is a script.
  var script: SourceFile?
  /// The step or group that has it; `nil` for the workflow or several steps.
  var node: Plan.NodeIndex?

  func located(in outline: Outline) -> Diagnostic {
    var diagnostic = diagnostic
    diagnostic.place =
      script.flatMap { Diagnostic.Place(range, in: $0) } ?? outline.place(range, inFile: file)
    diagnostic.step = node.map(outline.address)?.text
    return diagnostic
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
  mutating func append(
    _ problem: Diagnostic, _ range: SourceRange?, key: String? = nil,
    inScript script: SourceFile? = nil
  ) {
    guard (problem.isError ? errorsLeft : warningsLeft) > 0 else { return }
    if problem.isError { errorsLeft -= 1 } else { warningsLeft -= 1 }
    var diagnostic = problem
    if let key { diagnostic.key = key }
    problems.append(
      PlacedProblem(diagnostic: diagnostic, range: range, file: file, script: script, node: node))
  }

  /// - Parameter place: In the file that is being checked, or in a script file.
  mutating func append(
    _ problem: Diagnostic, at place: Diagnostic.Place?, key: String? = nil
  ) {
    append(problem, place?.range, key: key, inScript: place?.file)
  }
}

extension [PlacedProblem] {
  /// The diagnostics, sorted by location. Each problem of a file that several steps run is reported once.
  func reported(in outline: Outline) -> [Diagnostic] {
    let diagnostics = map { $0.located(in: outline) }
    guard outline.files.count > 1 else { return diagnostics.sortedByLocation() }
    var reported = DiagnosticDeduplicator()
    return diagnostics.filter { reported.insert($0) }.sortedByLocation()
  }
}

extension Outline {
  func place(_ range: SourceRange?, inFile file: Int) -> Diagnostic.Place? {
    Diagnostic.Place(range, in: files[file].workflow.source.value)
  }
}

extension Diagnostic.Place {
  init?(_ range: SourceRange?, in file: SourceFile?) {
    guard let range, let file else { return nil }
    self.init(file: file, range: range)
  }
}

extension Diagnostic {
  /// A problem whose place and step are added when it is found.
  init(
    _ code: String, _ message: String, key: String? = nil, help: String?,
    severity: Severity = .error, related: [Related] = []
  ) {
    self.init(
      severity, code: code, message: message, place: nil, help: help, related: related, key: key)
  }

  /// A problem with a step or group, which the message begins with.
  static func problem(
    _ code: String, of subject: OutlineMember.Subject, _ message: String, key: String,
    help: String?, related: [Related] = []
  ) -> Diagnostic {
    Diagnostic(code, "\(subject) \(message)", key: key, help: help, related: related)
  }
}

extension [Diagnostic.Related] {
  /// A related location; none if that is not known.
  init(_ message: String, _ place: Diagnostic.Place?) {
    self = place == nil ? [] : [Diagnostic.Related(message: message, place: place)]
  }
}

/// Shortens a name that may have any length.
func shortName(_ name: String) -> String {
  name.unicodeScalars.count <= 100 ? name : String(name.unicodeScalars.prefix(99)) + "…"
}

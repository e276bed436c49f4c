package import WeftDefinition
import WeftPlanning

/// A step in one attempt, its expressions evaluated.
///
/// A step without expressions is not copied, because there may be very many of them.
package struct ResolvedStep: Sendable {
  private let step: PlannedStep
  /// The working directory, set by the step or by an enclosing group.
  private let directory: String?
  /// `nil` if all is as written.
  private var boxedParts: Boxed<Parts>?

  /// The parts that may differ from what is written.
  struct Parts: Sendable {
    /// The step, its expressions replaced by values, except for the texts of a request.
    var step: Step
    var requestTexts = RequestTexts()
    var evaluatedTexts: [(name: String, value: String)] = []
    var groupEnvironments: [Int: [String: String?]] = [:]
    private(set) var secretVariables: Set<String> = []
    var inputIsSecret = false
    var argumentCounts: [Int] = []

    fileprivate init(asWritten step: PlannedStep, _ directory: String?) {
      self.step = step.step
      self.step.settings.workingDirectory = directory
    }

    mutating func recordSecrets(in variables: [String: ScopedText?]) {
      for (name, value) in variables where value?.isSecret == true { secretVariables.insert(name) }
    }
  }

  /// Should be changed as a whole, since each change allocates a new box.
  var parts: Parts {
    get { boxedParts?.value ?? Parts(asWritten: step, directory) }
    set { boxedParts = .holding(newValue) }
  }
}

extension ResolvedStep {
  /// A step as it is written.
  ///
  /// - Parameter directory: The working directory, set by the step or by an enclosing group.
  init(asWritten step: PlannedStep, directory: String?) {
    // In an extension, and by the memberwise initialiser: one in the type itself that sets the members one by
    // one makes a copy of the whole and destroys the first (Swift 6.3, from seven words on).
    self.init(step: step, directory: directory, boxedParts: nil)
  }

  package var action: StepAction { boxedParts?.value.step.action ?? step.action }
  /// The evaluated texts of its request.
  var requestTexts: RequestTexts { boxedParts?.value.requestTexts ?? RequestTexts() }
  /// The command it runs; `nil` if it runs none.
  package var command: Command? { action.command }
  /// The exit codes that count as success.
  var successCodes: [Int] {
    boxedParts?.value.step.action.command?.successCodes ?? step.successCodes
  }
  /// The maximum size of its log.
  var logLimit: ByteCount { boxedParts?.value.step.action.command?.logLimit ?? step.logLimit }
  /// The time limit of one attempt.
  package var timeout: Duration? {
    get { boxedParts == nil ? step.timeout : parts.step.timeout }
    set { parts.step.timeout = newValue }
  }
  package var allowFailure: FailureTolerance {
    boxedParts?.value.step.allowFailure ?? step.allowFailure
  }
  /// The retry policies.
  package var retry: [RetryPolicy] {
    if step.isService, let service = command?.service { return service.restartPolicies }
    return boxedParts?.value.step.control.retry ?? step.retry
  }
  /// The variables that the step itself sets; `nil` removes a variable.
  package var environment: [String: String?] {
    boxedParts?.value.step.settings.environment ?? step.settings.environment
  }
  /// Relative to the start directory; `nil` for the start directory itself.
  package var workingDirectory: String? {
    boxedParts == nil ? directory : parts.step.settings.workingDirectory
  }
  /// The path of the working directory; `nil` for the current directory of the process.
  ///
  /// - Parameter start: The start directory, unless it is that of the process.
  func directory(from start: String?) -> String? {
    workingDirectory.map { $0.resolved(from: start) } ?? start
  }
  /// Variables that pass the values of expressions to a script, and the path of the output file to the program;
  /// they override all variables that a file sets.
  package var evaluatedTexts: [(name: String, value: String)] {
    get { boxedParts?.value.evaluatedTexts ?? [] }
    set { parts.evaluatedTexts = newValue }
  }
  /// The variables of enclosing groups that set some by expressions.
  package var groupEnvironments: [Int: [String: String?]] {
    boxedParts?.value.groupEnvironments ?? [:]
  }
  /// The names of variables, of the step and of enclosing groups, whose values are secret.
  var secretVariables: Set<String> { boxedParts?.value.secretVariables ?? [] }
  /// Whether its standard input is secret.
  var inputIsSecret: Bool { boxedParts?.value.inputIsSecret ?? false }

  /// The index of the written command-line element that an argument comes from.
  func position(ofArgument index: Int) -> Int {
    // The number of arguments of each element, if one did not evaluate to exactly one.
    guard let counts = boxedParts?.value.argumentCounts else { return index }
    var first = 0
    for (position, count) in counts.enumerated() {
      first += count
      if index < first { return position }
    }
    return index
  }
}

extension String {
  /// A path that may be relative to a directory.
  ///
  /// - Parameter directory: `nil` for the current directory of the process.
  func resolved(from directory: String?) -> String {
    guard let directory, !hasPrefix("/") else { return self }
    return directory + "/" + self
  }
}

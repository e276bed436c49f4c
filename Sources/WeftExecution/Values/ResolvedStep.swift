package import WeftDefinition
import WeftEvents
import WeftExpressions
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
    /// The action, its expressions replaced by values, except for the texts of a request.
    var action: StepAction
    var requestTexts = RequestTexts()
    var timeout: Duration?
    var allowFailure: FailureTolerance
    var retry: [RetryPolicy]
    var environment: [String: String?]
    var workingDirectory: String?
    var evaluatedTexts: [(name: String, value: String)] = []
    var groupEnvironments: [Int: [String: String?]] = [:]
    private(set) var secretVariables: Set<String> = []
    var inputIsSecret = false
    var argumentCounts: [Int] = []

    fileprivate init(asWritten step: PlannedStep, _ directory: String?) {
      action = step.action
      timeout = step.timeout
      allowFailure = step.allowFailure
      retry = step.retry
      environment = step.settings.environment
      workingDirectory = directory
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
    self.init(
      step: step, directory: directory,
      boxedParts: nil)
  }

  package var action: StepAction { boxedParts?.value.action ?? step.action }
  /// The evaluated texts of its request.
  var requestTexts: RequestTexts { boxedParts?.value.requestTexts ?? RequestTexts() }
  /// The command it runs; `nil` if it runs none.
  package var command: Command? { boxedParts.map { $0.value.action.command } ?? step.command }
  /// The exit codes that count as success.
  var successCodes: [Int] { boxedParts?.value.action.command?.successCodes ?? step.successCodes }
  /// The maximum size of its log.
  var logLimit: ByteCount { boxedParts?.value.action.command?.logLimit ?? step.logLimit }
  /// The time limit of one attempt.
  package var timeout: Duration? {
    get { boxedParts == nil ? step.timeout : parts.timeout }
    set { parts.timeout = newValue }
  }
  package var allowFailure: FailureTolerance {
    boxedParts?.value.allowFailure ?? step.allowFailure
  }
  /// The retry policies.
  package var retry: [RetryPolicy] { boxedParts?.value.retry ?? step.retry }
  /// The variables that the step itself sets; `nil` removes a variable.
  package var environment: [String: String?] {
    boxedParts?.value.environment ?? step.settings.environment
  }
  /// Relative to the start directory; `nil` for the start directory itself.
  package var workingDirectory: String? {
    boxedParts == nil ? directory : parts.workingDirectory
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

extension ResolvedStep.Parts {
  /// Sets a key to the value that its expression evaluated to.
  mutating func set(
    _ key: ComputedKey, to value: ExpressionValue
  ) throws(EvaluationError) {
    switch key {
    case .timeout: timeout = try key.duration(value)
    case .stallTimeout: action.command?.stallTimeout = try key.duration(value)
    case .grace:
      let signal = action.command?.stop?.signal
      action.command?.stop = StopRequest(signal: signal, grace: try key.duration(value))
    case .logLimit: action.command?.logLimit = try key.size(value)
    case .mergeOutput: action.command?.mergesOutput = try key.flag(value)
    case .tty: action.command?.usesTerminal = try key.flag(value)
    case .jobserver: action.command?.usesJobserver = try key.flag(value)
    case .allowFailure: allowFailure = try key.tolerance(value)
    case .retryMax: retry[0].max = try key.count(value)
    case .retryDelay: retry[0].delay = try key.duration(value)
    case .retryMaxDelay: retry[0].maxDelay = try key.duration(value)
    case .retryWithin: retry[0].within = try key.duration(value)
    case .connectTimeout: action.request?.timeouts.connect = try key.duration(value)
    case .idleTimeout: action.request?.timeouts.idle = try key.duration(value)
    case .totalTimeout: action.request?.timeouts.total = try key.duration(value)
    case .maxBytes: action.request?.maxBytes = try key.size(value)
    case .redirects: action.request?.redirects = try key.count(value)
    case .pollEvery: action.request?.polling?.every = try key.duration(value)
    case .pollMax: action.request?.polling?.max = try key.count(value)
    case .pagesMax: action.request?.paging?.max = try key.count(value)
    // Keys of groups and loops, which are evaluated before the step itself.
    case .maxParallel, .elementParallel: break
    }
  }
}

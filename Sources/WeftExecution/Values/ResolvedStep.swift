package import WeftDefinition
import WeftPlanning

/// What a step does this time: as it is written, with values in place of its expressions.
///
/// A command without expressions is what is written; nothing of it is copied, and there may be very many.
package struct ResolvedStep: Sendable {
  private let step: PlannedStep
  /// What holds for the step, be it said by itself or by a group around it.
  private let directory: String?
  /// `nil`: as it is written.
  private var boxedParts: Boxed<Parts>?

  /// All that can be other than it is written.
  struct Parts: Sendable {
    var action: ResolvedAction
    var timeout: Duration?
    var allowFailure: FailureTolerance
    var retry: [RetryPolicy]
    var environment: [String: String?]
    var workingDirectory: String?
    var handedOver: [(name: String, value: String)] = []
    var groupEnvironments: [Int: [String: String?]] = [:]
    private(set) var secretVariables: Set<String> = []
    var inputIsSecret = false
    var argumentCounts: [Int] = []

    fileprivate init(asWritten step: PlannedStep, _ directory: String?) {
      action = ResolvedAction(asWritten: step.action)
      timeout = step.timeout
      allowFailure = step.allowFailure
      retry = step.retry
      environment = step.settings.environment
      workingDirectory = directory
    }

    mutating func noteSecrets(in variables: [String: ScopedText?]) {
      for (name, value) in variables where value?.isSecret == true { secretVariables.insert(name) }
    }
  }

  /// To be changed as a whole, since each change makes it anew.
  var parts: Parts {
    get { boxedParts?.value ?? Parts(asWritten: step, directory) }
    set { boxedParts = .holding(newValue) }
  }
}

extension ResolvedStep {
  /// A step without expressions.
  ///
  /// - Parameter directory: What holds for the step, be it said by itself or by a group around it.
  init(asWritten step: PlannedStep, directory: String?) {
    // Here, and by the initialiser of all members: one that sets them one by one in the type itself makes a copy
    // of the whole and destroys the first (Swift 6.3, from seven words on).
    self.init(
      step: step, directory: directory,
      boxedParts: step.runsCommand ? nil : .holding(Parts(asWritten: step, directory)))
  }

  package var action: ResolvedAction {
    boxedParts?.value.action ?? ResolvedAction(asWritten: step.action)
  }
  /// The command it runs; `nil` of one that runs none.
  package var command: Command? { boxedParts.map { $0.value.action.command } ?? step.command }
  /// Which of its exit codes are good.
  var successCodes: [Int] { boxedParts?.value.action.command?.successCodes ?? step.successCodes }
  /// How much of its output the log holds.
  var logLimit: ByteCount { boxedParts?.value.action.command?.logLimit ?? step.logLimit }
  /// Of one attempt.
  package var timeout: Duration? {
    get { boxedParts == nil ? step.timeout : parts.timeout }
    set { parts.timeout = newValue }
  }
  package var allowFailure: FailureTolerance {
    boxedParts?.value.allowFailure ?? step.allowFailure
  }
  /// When it is tried again.
  package var retry: [RetryPolicy] { boxedParts?.value.retry ?? step.retry }
  /// What the step itself sets; `nil` removes a variable.
  package var environment: [String: String?] {
    boxedParts?.value.environment ?? step.settings.environment
  }
  /// Relative to the start directory; `nil` is the start directory itself.
  package var workingDirectory: String? {
    boxedParts == nil ? directory : parts.workingDirectory
  }
  /// Variables by which a script gets the values of its expressions, and by which the program finds the
  /// file for its outputs; above all that a file sets.
  package var handedOver: [(name: String, value: String)] {
    get { boxedParts?.value.handedOver ?? [] }
    set { parts.handedOver = newValue }
  }
  /// What groups around the step set, of those in which an expression says it.
  package var groupEnvironments: [Int: [String: String?]] {
    boxedParts?.value.groupEnvironments ?? [:]
  }
  /// The variables, of the step and of groups around it, whose values are secret.
  var secretVariables: Set<String> { boxedParts?.value.secretVariables ?? [] }
  /// Whether what it reads is.
  var inputIsSecret: Bool { boxedParts?.value.inputIsSecret ?? false }

  /// Which element of the command line, as it is written, an argument comes from.
  func position(ofArgument index: Int) -> Int {
    // How many arguments each element came to, if one came to other than one.
    guard let counts = boxedParts?.value.argumentCounts else { return index }
    var first = 0
    for (position, count) in counts.enumerated() {
      first += count
      if index < first { return position }
    }
    return index
  }
}

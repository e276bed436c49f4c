package import WeftDefinition
import WeftPlanning

/// What a step does this time: as it is written, with values in place of its expressions.
package struct ResolvedStep: Sendable {
  package var command: Command
  /// The action it runs instead; `nil`: it runs the command.
  package var call: ResolvedCall?
  /// The request it sends instead; `nil`: it sends none.
  package var request: ResolvedRequest?
  /// Of one attempt.
  package var timeout: Duration?
  package var allowFailure: FailureTolerance
  /// When it is tried again.
  package var retry: [RetryPolicy]
  /// What the step itself sets; `nil` removes a variable.
  package var environment: [String: String?]
  /// Relative to the start directory; `nil` is the start directory itself.
  package var workingDirectory: String?
  /// Variables by which a script gets the values of its expressions, and by which the program finds the
  /// file for its outputs; above all that a file sets.
  package var handedOver: [(name: String, value: String)] = []
  /// What groups around the step set, of those in which an expression says it.
  package var groupEnvironments: [Int: [String: String?]] = [:]
  /// The variables, of the step and of groups around it, whose values are secret.
  private(set) var secretVariables: Set<String> = []
  /// Whether what it reads is.
  var inputIsSecret = false
  /// How many arguments each element of the command line came to, if one came to other than one.
  var argumentCounts: [Int] = []

  /// A step without expressions.
  ///
  /// - Parameter directory: What holds for the step, be it said by itself or by a group around it.
  init(asWritten step: PlannedStep, directory: String?) {
    if let command = step.command {
      self.command = command
    } else {
      command = ResolvedStep.noCommand
      call = step.call.map(ResolvedCall.init)
      request = step.request.map(ResolvedRequest.init)
    }
    timeout = step.timeout
    allowFailure = step.allowFailure
    retry = step.retry
    environment = step.settings.environment
    workingDirectory = directory
  }

  mutating func noteSecrets(in variables: [String: ScopedText?]) {
    for (name, value) in variables where value?.isSecret == true { secretVariables.insert(name) }
  }

  /// What stands in the place of a command where there is none.
  private static let noCommand = Command(.script(""))

  /// Which element of the command line, as it is written, an argument comes from.
  func position(ofArgument index: Int) -> Int {
    var first = 0
    for (position, count) in argumentCounts.enumerated() {
      first += count
      if index < first { return position }
    }
    return index
  }

  /// The command line that is started.
  package func arguments(shell: @autoclosure () -> Shell) -> [String] {
    switch command.invocation {
    case .program(let arguments): arguments
    case .script(let text): shell().prefix + [text]
    }
  }
}

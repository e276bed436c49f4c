import Weft
import WeftEvents
import WeftPlatform

/// The two output streams of the program.
struct Console {
  let output = OutputPort(.standardOutput)
  let errors = OutputPort(.standardError)

  /// Reports an error.
  func report(_ commandError: CommandError) { errors.write(commandError.text) }

  /// Writes pending output, and reports write errors.
  ///
  /// - Returns: `code`, or ``ExitCode/broken`` if standard output is incomplete, unless a signal ended the program,
  ///   since a lost terminal is then only a consequence.
  func close(_ code: ExitCode) -> ExitCode {
    output.flush()
    if let fault = output.fault {
      report(CommandError("cannot write to standard output: \(fault.message)"))
    }
    errors.flush()
    if case .signal = code { return code }
    return output.fault == nil ? code : .broken
  }
}

/// An error without a location in a workflow file, worded and formatted like a diagnostic.
struct CommandError: Error, Sendable, Hashable {
  /// One sentence: lower case, no full stop.
  var message: String
  /// The suggested remedy.
  var help: String?

  init(_ message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }

  func masked(by mask: SecretMask) -> CommandError {
    CommandError(mask.masked(message), help: help.map(mask.masked))
  }

  /// The formatted error. Ends with a line end, and contains no terminal control characters.
  var text: String {
    let footnote = help.map { "   = help: \(TerminalText.harmless($0))\n" } ?? ""
    return "weft: error: \(harmlessMessage)\n" + footnote
  }

  /// The sentence alone.
  var harmlessMessage: String { TerminalText.harmless(message) }
}

/// The reason why a command did nothing.
struct CommandFailure: Error {
  let code: ExitCode
  var commandError: CommandError?
  var diagnostics: [Diagnostic] = []

  init(_ code: ExitCode, _ message: String, help: String? = nil) {
    self.code = code
    commandError = CommandError(message, help: help)
  }

  /// - Parameter diagnostics: Empty if the reason is already written.
  init(_ code: ExitCode, _ diagnostics: [Diagnostic] = []) {
    self.code = code
    self.diagnostics = diagnostics
  }

  init(_ fault: RunFolderError) {
    self.init(.broken, fault.message, help: fault.help)
  }

  init(_ error: RunStoreError) {
    self.init(.broken, error.message, help: error.help)
  }

  init(_ step: StepChoice.UnknownStep) {
    self.init(
      .usage, "\"\(step.name)\" is not a step or group of this workflow",
      help: step.nearest.asSuggestion
        ?? "\"weft graph FILE\" shows the names of the steps")
  }
}

extension Console {
  /// Reports the reason, and returns the exit code.
  func refuse(_ failure: CommandFailure) -> ExitCode {
    if !failure.diagnostics.isEmpty { errors.write(failure.diagnostics) }
    if let commandError = failure.commandError { report(commandError) }
    return failure.code
  }
}

public import WeftDefinition
public import WeftDiagnostics
import WeftReporting

/// A workflow that cannot be run, or not with the given inputs; nothing was started.
public struct WorkflowError: Error, Sendable, CustomStringConvertible {
  /// Errors, with the warnings and notes beside them, sorted by location.
  public let diagnostics: [Diagnostic]
  /// All errors of the given inputs; empty if the workflow itself is rejected.
  public let inputFaults: [InputFault]

  init(diagnostics: [Diagnostic]) {
    self.diagnostics = diagnostics
    inputFaults = []
  }

  init(_ inputs: InputsError) {
    diagnostics = inputs.diagnostics
    inputFaults = inputs.faults
  }

  /// The diagnostics as the command line shows them: each with its location, source line and help.
  public var description: String {
    DiagnosticText().rendered(DiagnosticCollection(diagnostics))
  }
}

public import WeftDefinition
public import WeftDiagnostics

/// A workflow that cannot be run as it is, or not with what is given for it; nothing was started.
public struct WorkflowRejected: Error, Sendable, CustomStringConvertible {
  /// Errors, and the warnings and notes beside them, by place.
  public let diagnostics: [Diagnostic]
  /// What is wrong with the values that were given for its inputs: all of it. Empty if the workflow itself
  /// is rejected.
  public let inputFaults: [InputFault]

  init(diagnostics: [Diagnostic]) {
    self.diagnostics = diagnostics
    inputFaults = []
  }

  init(_ inputs: InputsRejected) {
    diagnostics = inputs.diagnostics
    inputFaults = inputs.faults
  }

  /// The diagnostics as the command line shows them: each with its place, source line and help.
  public var description: String {
    DiagnosticText().rendered(DiagnosticCollection(diagnostics))
  }
}

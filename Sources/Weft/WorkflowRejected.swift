public import WeftDiagnostics

/// A workflow that cannot be run as it is, with everything that is wrong with it.
public struct WorkflowRejected: Error, Sendable, CustomStringConvertible {
  /// Errors, and the warnings and notes beside them, by place.
  public let diagnostics: [Diagnostic]

  /// The diagnostics as the command line shows them: each with its place, source line and help.
  public var description: String {
    DiagnosticText().rendered(DiagnosticCollection(diagnostics))
  }
}

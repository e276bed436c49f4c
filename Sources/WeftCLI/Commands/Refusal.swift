import WeftDiagnostics
import WeftRecord

/// The reason why a command did nothing.
struct Refusal: Error {
  let code: ExitCode
  var complaint: CommandError?
  var diagnostics: [Diagnostic] = []

  init(_ code: ExitCode, _ message: String, help: String? = nil) {
    self.code = code
    complaint = CommandError(message, help: help)
  }

  init(_ code: ExitCode, _ diagnostics: [Diagnostic]) {
    self.code = code
    self.diagnostics = diagnostics
  }

  init(_ fault: RunFolderError) {
    self.init(.broken, fault.message, help: fault.help)
  }
}

extension Console {
  /// Reports the reason, and returns the exit code.
  func refuse(_ refusal: Refusal) -> ExitCode {
    if !refusal.diagnostics.isEmpty { errors.write(refusal.diagnostics) }
    if let complaint = refusal.complaint { complain(complaint) }
    return refusal.code
  }
}

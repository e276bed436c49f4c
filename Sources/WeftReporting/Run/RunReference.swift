import WeftDiagnostics
import WeftPlanning

/// A run as commands name it that messages suggest.
package struct RunReference: Sendable, Hashable {
  let id: String
  /// The arguments that identify the run to a command, such as `20261121-184112-f65300`; `nil` if it is not recorded.
  let arguments: String?

  package init(id: String, arguments: String?) {
    self.id = id
    self.arguments = arguments
  }

  /// The command that shows the run.
  var details: String? { arguments.map { "weft show \($0)" } }

  /// Returns the command that prints a step's whole log.
  func logs(of step: StepAddress) -> String? {
    arguments.map { "weft logs \($0) \(ShellWord.quoted(TerminalText.harmless(step.text)))" }
  }
}

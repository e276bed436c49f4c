import WeftDiagnostics
import WeftEvents
import WeftExecution

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

import WeftDiagnostics
import WeftExecution

/// Something wrong that has no place in a workflow file, in the words and the shape of a diagnostic.
struct Complaint: Error, Sendable, Hashable {
  /// One sentence: lower case, no full stop.
  var message: String
  /// What to do about it.
  var help: String?

  init(_ message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }

  func masked(by mask: SecretMask) -> Complaint {
    Complaint(mask.masked(message), help: help.map(mask.masked))
  }

  /// Ends with a line end; nothing in it moves a terminal's cursor.
  var text: String {
    let footnote = help.map { "   = help: \(TerminalText.harmless($0))\n" } ?? ""
    return "weft: error: \(harmlessMessage)\n" + footnote
  }

  /// The sentence alone.
  var harmlessMessage: String { TerminalText.harmless(message) }
}

import WeftDiagnostics

/// A line of comma-separated values (RFC 4180).
///
/// Characters that the standard does not allow in a field, such as control characters and line ends, are escaped.
package enum CSVRow {
  /// Returns the line, with its end.
  package static func text(_ fields: [String]) -> String {
    fields.map(quoted).joined(separator: ",") + "\r\n"
  }

  /// Prefixes a field that a spreadsheet would execute as a formula with `'`, which marks a text.
  private static func inert(_ field: String) -> String {
    field.first.map { "=+-@".contains($0) } == true ? "'" + field : field
  }

  private static func quoted(_ field: String) -> String {
    let field = inert(TerminalText.harmless(field))
    guard field.contains(where: { $0 == "," || $0 == "\"" }) else { return field }
    return "\""
      + field.split(separator: "\"", omittingEmptySubsequences: false)
      .joined(separator: "\"\"") + "\""
  }
}

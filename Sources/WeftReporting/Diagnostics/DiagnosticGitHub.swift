package import WeftDiagnostics

/// Formats diagnostics as GitHub Actions annotations: one workflow command per line.
///
/// GitHub shows at most ten errors and ten warnings per step.
package struct DiagnosticGitHub: Sendable {
  package init() {}

  /// Returns the lines, including line ends.
  ///
  /// - Parameter collections: One for each checked file.
  package func rendered(_ collections: [DiagnosticCollection]) -> String {
    var text = collections.flatMap(\.shown).map { rendered($0) + "\n" }.joined()
    let hidden = collections.reduce(0) { $0 + $1.hiddenCount }
    if hidden > 0 { text += "::notice::… and \(hidden) more\n" }
    return text
  }

  func rendered(_ diagnostic: Diagnostic) -> String {
    var properties: [(String, String)] = []
    if let place = diagnostic.place { properties += self.properties(of: place) }
    properties.append(("title", diagnostic.code))
    let list = properties.map { "\($0)=\(GitHubCommands.escaped($1, isProperty: true))" }
    return "::\(command(for: diagnostic.severity)) \(list.joined(separator: ","))::"
      + GitHubCommands.escaped(message(of: diagnostic), isProperty: false)
  }

  /// GitHub accepts columns only for single-line ranges; its end column is inclusive.
  private func properties(of place: Diagnostic.Place) -> [(String, String)] {
    let start = place.file.position(of: Int(place.range.start))
    let end = place.file.position(of: Int(place.range.end))
    var properties = [
      ("file", place.file.path), ("line", "\(start.line)"), ("endLine", "\(end.line)"),
    ]
    if start.line == end.line {
      properties.append(("col", "\(start.column)"))
      properties.append(("endColumn", "\(max(start.column, end.column - 1))"))
    }
    return properties
  }

  private func message(of diagnostic: Diagnostic) -> String {
    var lines = [diagnostic.message]
    if let help = diagnostic.help { lines.append("help: " + help) }
    for related in diagnostic.related {
      var line = "note: " + related.message
      if let place = related.place {
        let position = place.file.position(of: Int(place.range.start))
        line += " (\(place.file.path):\(position.line):\(position.column))"
      }
      lines.append(line)
    }
    return lines.joined(separator: "\n")
  }

  private func command(for severity: Diagnostic.Severity) -> String {
    switch severity {
    case .error: "error"
    case .warning: "warning"
    case .note: "notice"
    }
  }
}

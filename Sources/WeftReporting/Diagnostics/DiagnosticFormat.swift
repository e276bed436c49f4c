public import WeftDiagnostics
import WeftEvents
package import WeftJSON

/// The forms in which diagnostics are printed, as `weft check --format` has them.
public enum DiagnosticFormat: String, Sendable, Hashable, CaseIterable {
  /// For people: the location, the message, the line with a caret, and the help; at most 20 of each file.
  case text
  /// One document with all diagnostics, for programs.
  case json
  /// SARIF 2.1.0, for code scanning.
  case sarif
  /// Workflow commands of GitHub Actions, which become annotations.
  case github
}

extension DiagnosticFormat {
  /// The maximum number of problems per file in formats for programs; the text format has a lower one.
  private static let programLimit = 1000

  /// Returns the diagnostics of several files in this form.
  ///
  /// - Parameter text: Used for people.
  package func rendered(
    _ diagnosticsByFile: [[Diagnostic]], text: DiagnosticText = DiagnosticText()
  ) -> [UInt8] {
    let collections = diagnosticsByFile.map { diagnostics in
      self == .text
        ? DiagnosticCollection(diagnostics)
        : DiagnosticCollection(diagnostics, limit: DiagnosticFormat.programLimit)
    }
    return switch self {
    case .text: Array(collections.map(text.rendered).joined().utf8)
    case .json: DiagnosticJSON().rendered(collections)
    case .sarif: DiagnosticSARIF(version: WeftVersion.current).rendered(collections)
    case .github: Array(DiagnosticGitHub().rendered(collections).utf8)
    }
  }
}

extension [Diagnostic] {
  /// Returns the diagnostics of one check in a form for people or programs, in UTF-8, sorted by location, with a line
  /// end after each line.
  public func rendered(as format: DiagnosticFormat) -> [UInt8] { format.rendered([self]) }
}

/// Formats diagnostics as one JSON object, for programs.
///
/// `format` is 1 and changes when a reader of the old format would misunderstand the new one. Members that do not
/// apply are omitted. Lines and columns count from 1, columns in Unicode scalars, `offset` in bytes from 0; `end` is
/// the position after the last character.
package struct DiagnosticJSON: Sendable {
  package static let format = 1

  package init() {}

  /// Returns the indented text with a line end.
  ///
  /// - Parameter collections: One for each checked file.
  package func rendered(_ collections: [DiagnosticCollection]) -> [UInt8] {
    var writer = JSONWriter(.pretty, capacity: 4096)
    writer.object {
      $0.member("format", DiagnosticJSON.format)
      $0.member("errors", collections.reduce(0) { $0 + $1.errorCount })
      $0.member("warnings", collections.reduce(0) { $0 + $1.warningCount })
      $0.member("notShown", collections.reduce(0) { $0 + $1.hiddenCount })
      $0.array("diagnostics") {
        for diagnostic in collections.flatMap(\.shown) { write(diagnostic, to: &$0) }
      }
    }
    writer.endLine()
    return writer.bytes
  }

  /// Writes one diagnostic, for other documents that contain some.
  package func write(_ diagnostic: Diagnostic, to writer: inout JSONWriter) {
    writer.object {
      $0.member("severity", diagnostic.severity.rawValue)
      $0.member("code", diagnostic.code)
      $0.member("message", diagnostic.message)
      $0.member("help", diagnostic.help)
      write(diagnostic.place, to: &$0)
      if diagnostic.related.isEmpty { return }
      $0.array("related") {
        for related in diagnostic.related {
          $0.object {
            $0.member("message", related.message)
            write(related.place, to: &$0)
          }
        }
      }
    }
  }

  private func write(_ place: Diagnostic.Place?, to writer: inout JSONWriter) {
    guard let place else { return }
    writer.member("file", place.file.path)
    writer.object("start") { write(Int(place.range.start), of: place.file, to: &$0) }
    writer.object("end") { write(Int(place.range.end), of: place.file, to: &$0) }
  }

  private func write(_ offset: Int, of file: SourceFile, to writer: inout JSONWriter) {
    let position = file.position(of: offset)
    writer.member("line", position.line)
    writer.member("column", position.column)
    writer.member("offset", offset)
  }
}

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

public import WeftDiagnostics
import WeftEvents

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

import WeftDiagnostics
import WeftReporting

/// A text with one range marked by `⟦` and `⟧`, which are not part of it.
struct Marked {
  let file: SourceFile
  let range: SourceRange

  init(_ text: String, path: String = "a.json") {
    let parts = text.split(separator: "⟦", omittingEmptySubsequences: false)
    let inside = parts[1].split(separator: "⟧", omittingEmptySubsequences: false)
    file = SourceFile(path: path, bytes: Array((parts[0] + inside[0] + inside[1]).utf8))
    let start = parts[0].utf8.count
    range = SourceRange(start: start, end: start + inside[0].utf8.count)
  }

  var place: Diagnostic.Place { Diagnostic.Place(file: file, range: range) }

  func diagnostic(
    _ severity: Diagnostic.Severity = .error, _ message: String = "wrong", help: String? = nil
  ) -> Diagnostic {
    Diagnostic(severity, code: "W0001", message: message, place: place, help: help)
  }
}

/// The source line and the caret line, without their margin.
func excerpt(_ marked: Marked, width: Int = 100) -> [String] {
  let text = DiagnosticText(sourceWidth: width).rendered(marked.diagnostic())
  return text.split(separator: "\n").dropFirst().map { line in
    guard let bar = line.firstIndex(of: "|") else { return "no margin" }
    return String(line[bar...].dropFirst(2))
  }
}

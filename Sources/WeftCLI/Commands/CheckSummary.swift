import WeftDiagnostics

/// The last line of the text format, which counts the problems.
struct CheckSummary {
  private let fileCount: Int
  private let errorCount: Int
  private let warningCount: Int

  init(_ diagnosticsByFile: [[Diagnostic]]) {
    fileCount = diagnosticsByFile.count
    let collections = diagnosticsByFile.map { DiagnosticCollection($0) }
    errorCount = collections.reduce(0) { $0 + $1.errorCount }
    warningCount = collections.reduce(0) { $0 + $1.warningCount }
  }

  var hasOnlyWarnings: Bool { errorCount == 0 && warningCount > 0 }

  /// The text, such as `2 files: 3 errors, 1 warning` or `1 file: no problems`.
  var text: String {
    let problems = [(errorCount, "error"), (warningCount, "warning")].filter { $0.0 > 0 }
    let reported = problems.map(CheckSummary.counted).joined(separator: ", ")
    return CheckSummary.counted(fileCount, "file") + ": "
      + (reported.isEmpty ? "no problems" : reported)
  }

  private static func counted(_ count: Int, _ noun: String) -> String {
    count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
  }
}

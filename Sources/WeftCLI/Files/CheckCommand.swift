import Weft
import WeftEvents
import WeftReporting

/// `weft check`: all problems of the files, in the order in which the files were named.
struct CheckCommand: Subcommand {
  private let files: [String]
  private let format: DiagnosticFormat
  private let isStrict: Bool
  private let directory: String?
  private let runner: CheckedFile.RunnerChoice

  init(_ parsed: ParsedArguments) throws(UsageError) {
    files = parsed.operands
    format = try parsed.word(of: .diagnosticFormat) ?? .text
    isStrict = parsed.isGiven(.strictCheck)
    directory = parsed.value(of: .directory)
    runner = CheckedFile.RunnerChoice(
      name: parsed.value(of: .runner), isProbed: parsed.isGiven(.probe))
  }

  func execute(_ console: Console) -> ExitCode {
    let files = files.map { CheckedFile(path: $0, below: directory, for: .check, runner: runner) }
    DeliberateLeak.untilExit(files)
    switch format {
    case .text: report(files, console)
    case .json, .sarif, .github: console.output.write(format.rendered(diagnostics(of: files)))
    }
    let codes = files.map { $0.exitCode(isStrict: isStrict) }
    return codes.max { $0.status < $1.status } ?? .success
  }

  /// Reports each problem once, even if a file is checked by itself and as part of others.
  private func diagnostics(of files: [CheckedFile]) -> [[Diagnostic]] {
    guard files.count > 1 else { return files.map(\.diagnostics) }
    var reported = DiagnosticDeduplicator()
    return files.map { file in file.diagnostics.filter { reported.insert($0) } }
  }

  private func report(_ files: [CheckedFile], _ console: Console) {
    let diagnostics = diagnostics(of: files)
    for found in diagnostics { console.output.write(found) }
    let summary = CheckSummary(diagnostics)
    let isTooStrict = isStrict && summary.hasOnlyWarnings
    console.output.write(summary.text + (isTooStrict ? ", and --strict allows none\n" : "\n"))
  }
}

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
    let reported = problems.map { "\(Count($0, $1))" }.joined(separator: ", ")
    return "\(Count(fileCount, "file")): \(reported.isEmpty ? "no problems" : reported)"
  }
}

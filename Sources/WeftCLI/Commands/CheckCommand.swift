import WeftDiagnostics
import WeftEvents
import WeftReporting

/// `weft check`: all problems of the files, in the order in which the files were named.
struct CheckCommand {
  private let invocation: CheckInvocation
  private let console: Console

  init(_ invocation: CheckInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  func execute() -> ExitCode {
    let files = invocation.files.map { CheckedFile(path: $0, below: invocation.directory) }
    Kept.untilExit(files)
    switch invocation.format {
    case .text: report(files)
    case .json: console.output.write(DiagnosticJSON().rendered(collections(files)))
    case .sarif:
      let form = DiagnosticSARIF(version: WeftVersion.current)
      console.output.write(form.rendered(collections(files)))
    case .github: console.output.write(DiagnosticGitHub().rendered(collections(files)))
    }
    let codes = files.map { $0.exitCode(isStrict: invocation.isStrict) }
    return codes.max { $0.status < $1.status } ?? .success
  }

  /// The maximum number of problems per file in formats for programs; the text format has a lower one.
  private static let programLimit = 1000

  private func collections(_ files: [CheckedFile]) -> [DiagnosticCollection] {
    diagnostics(of: files).map { DiagnosticCollection($0, limit: CheckCommand.programLimit) }
  }

  /// Reports each problem once, even if a file is checked by itself and as part of others.
  private func diagnostics(of files: [CheckedFile]) -> [[Diagnostic]] {
    guard files.count > 1 else { return files.map(\.diagnostics) }
    var reported = DiagnosticDeduplicator()
    return files.map { file in file.diagnostics.filter { reported.insert($0) } }
  }

  private func report(_ files: [CheckedFile]) {
    let diagnostics = diagnostics(of: files)
    for found in diagnostics { console.output.write(found) }
    let summary = CheckSummary(diagnostics)
    let isTooStrict = invocation.isStrict && summary.hasOnlyWarnings
    console.output.write(summary.text + (isTooStrict ? ", and --strict allows none\n" : "\n"))
  }
}

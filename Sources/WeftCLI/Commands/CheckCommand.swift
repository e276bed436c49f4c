import WeftDiagnostics
import WeftExecution
import WeftReporting

/// `weft check`: every problem of the files, in the order in which they were named.
struct CheckCommand {
  private let invocation: CheckInvocation
  private let console: Console

  init(_ invocation: CheckInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  func execute() -> ExitCode {
    let files = invocation.files.map { CheckedFile(path: $0) }
    Kept.untilExit(files)
    switch invocation.format {
    case .text: tell(files)
    case .json: console.output.write(DiagnosticJSON().rendered(collections(files)))
    case .sarif:
      let form = DiagnosticSARIF(version: WeftVersion.current)
      console.output.write(form.rendered(collections(files)))
    case .github: console.output.write(DiagnosticGitHub().rendered(collections(files)))
    }
    let codes = files.map { $0.exitCode(isStrict: invocation.isStrict) }
    return codes.max { $0.status < $1.status } ?? .success
  }

  /// How many problems of one file programs are told; people read fewer.
  private static let programLimit = 1000

  private func collections(_ files: [CheckedFile]) -> [DiagnosticCollection] {
    files.map { DiagnosticCollection($0.diagnostics, limit: CheckCommand.programLimit) }
  }

  private func tell(_ files: [CheckedFile]) {
    for file in files { console.output.write(file.diagnostics) }
    let summary = CheckSummary(files.map(\.diagnostics))
    let isTooStrict = invocation.isStrict && summary.hasOnlyWarnings
    console.output.write(summary.text + (isTooStrict ? ", and --strict allows none\n" : "\n"))
  }
}

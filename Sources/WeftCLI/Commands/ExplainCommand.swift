import WeftDefinition
import WeftDiagnostics
import WeftPlatform

/// `weft run FILE --help`: the inputs of a file, even if the file has errors.
struct ExplainCommand {
  private let file: String
  private let directory: String?
  private let console: Console

  init(file: String, directory: String?, _ console: Console) {
    self.file = file
    self.directory = directory
    self.console = console
  }

  func execute() -> ExitCode {
    let checked = CheckedFile(path: file, below: directory)
    guard let workflow = checked.workflow else {
      console.errors.write(checked.diagnostics)
      return checked.exitCode(isStrict: false)
    }
    console.output.write(HelpText.text(for: workflow, file: file))
    if checked.plan == nil {
      let name = TerminalText.harmless(file)
      console.output.write("\nThe file is rejected; see \"weft check \(name)\".\n")
    }
    return .success
  }
}

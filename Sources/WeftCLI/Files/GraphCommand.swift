import Weft
import WeftPlanning

/// `weft graph`: prints the plan.
struct GraphCommand: Subcommand {
  private let file: FileOperand
  private let format: PlanFormat
  private let choice: StepChoice

  init(_ parsed: ParsedArguments) throws(UsageError) {
    format = try parsed.word(of: .graphFormat) ?? .tree
    file = try FileOperand(parsed)
    choice = parsed.choice
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    console.output.write(try file.preview(console, choosing: choice).plan, as: format)
    return .success
  }
}

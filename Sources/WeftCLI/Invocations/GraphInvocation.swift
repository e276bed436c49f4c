import WeftPlanning

struct GraphInvocation: Sendable, Hashable {
  let file: String
  let format: PlanFormat
  let inputs: InputOptions
  let choice: StepChoice
  /// The directory that paths are relative to; `nil` for that of the process.
  let directory: String?
  let stateDirectory: String?

  init(_ parsed: ParsedArguments) throws(UsageError) {
    file = parsed.operands[0]
    format = try parsed.word(of: .graphFormat) ?? .tree
    inputs = try InputOptions(parsed)
    choice = parsed.choice
    directory = parsed.value(of: .directory)
    stateDirectory = parsed.value(of: .stateDirectory)
  }
}

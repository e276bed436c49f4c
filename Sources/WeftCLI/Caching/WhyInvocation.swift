/// The arguments of `weft why`.
struct WhyInvocation: Sendable, Hashable {
  let file: String
  let step: String
  let inputs: InputOptions
  let directory: String?
  let stateDirectory: String?

  init(_ parsed: ParsedArguments) throws(UsageError) {
    file = parsed.operands[0]
    step = parsed.operands[1]
    inputs = try InputOptions(parsed)
    directory = parsed.value(of: .directory)
    stateDirectory = parsed.value(of: .stateDirectory)
  }
}

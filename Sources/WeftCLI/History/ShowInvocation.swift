/// The arguments of `weft show`.
struct ShowInvocation: Sendable, Hashable {
  /// An ID or its beginning; `nil` for the latest run.
  let run: String?
  let format: RunDetailFormat
  /// Whether to follow it in progress.
  let follows: Bool
  let stateDirectory: String?

  init(_ parsed: ParsedArguments) throws(UsageError) {
    run = parsed.operands.first
    format = try parsed.word(of: .runDetailFormat) ?? .text
    follows = parsed.isGiven(.followRun)
    stateDirectory = parsed.value(of: .records)
  }
}

enum RunDetailFormat: String, CaseIterable {
  case text, json
}

/// What `weft show` is to show.
struct ShowInvocation: Sendable, Hashable {
  /// An id or the beginning of one; `nil`: the latest run.
  let run: String?
  let format: RunDetailFormat
  /// Whether it is shown as it goes on.
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

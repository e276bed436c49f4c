import WeftEvents
import WeftRecord

/// The arguments of `weft logs`.
struct LogsInvocation: Sendable, Hashable {
  /// An ID or its beginning; `nil` for the latest run.
  let run: String?
  /// Empty for all steps.
  let steps: [String]
  let follows: Bool
  let stateDirectory: String?

  init(_ parsed: ParsedArguments) {
    // Steps without an ID are named by numbers, so a run needs at least its day.
    let namesRun = parsed.operands.first.map(RunID.mayBegin) ?? false
    run = namesRun ? parsed.operands.first : nil
    steps = Array(parsed.operands.dropFirst(namesRun ? 1 : 0))
    follows = parsed.isGiven(.followLogs)
    stateDirectory = parsed.value(of: .records)
  }
}

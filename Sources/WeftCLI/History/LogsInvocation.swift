import WeftExecution
import WeftRecord

/// What `weft logs` is to print.
struct LogsInvocation: Sendable, Hashable {
  /// An id or the beginning of one; `nil`: the latest run.
  let run: String?
  /// Empty: all.
  let steps: [String]
  let follows: Bool
  let stateDirectory: String?

  init(_ parsed: ParsedArguments) {
    // Steps without an id are called by numbers, so a run is named by its day at least.
    let namesRun = parsed.operands.first.map(RunID.mayBegin) ?? false
    run = namesRun ? parsed.operands.first : nil
    steps = Array(parsed.operands.dropFirst(namesRun ? 1 : 0))
    follows = parsed.isGiven(.followLogs)
    stateDirectory = parsed.value(of: .records)
  }
}

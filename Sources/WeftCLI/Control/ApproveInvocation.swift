/// What `weft approve` is to answer.
struct ApproveInvocation: Sendable, Hashable {
  /// An id or the beginning of one; `nil`: the latest run.
  let run: String?
  let step: String
  let rejects: Bool
  let stateDirectory: String?

  /// The grammar has one or two operands, of which the last is the step.
  init(_ parsed: ParsedArguments) {
    run = parsed.operands.count == 2 ? parsed.operands[0] : nil
    step = parsed.operands[parsed.operands.count - 1]
    rejects = parsed.isGiven(.reject)
    stateDirectory = parsed.value(of: .stateDirectory)
  }
}

/// What `weft cancel` is to end.
struct CancelInvocation: Sendable, Hashable {
  /// An id or the beginning of one; `nil`: the latest run that has not ended.
  let run: String?
  let isNow: Bool
  let stateDirectory: String?

  init(_ parsed: ParsedArguments) {
    run = parsed.operands.first
    isNow = parsed.isGiven(.now)
    stateDirectory = parsed.value(of: .stateDirectory)
  }
}

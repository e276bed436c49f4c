/// The arguments of `weft approve`.
struct ApproveInvocation: Sendable, Hashable {
  /// An ID or its beginning; `nil` for the latest run.
  let run: String?
  let step: String
  let rejects: Bool
  let stateDirectory: String?

  /// Takes one or two operands, of which the last is the step.
  init(_ parsed: ParsedArguments) {
    run = parsed.operands.count == 2 ? parsed.operands[0] : nil
    step = parsed.operands[parsed.operands.count - 1]
    rejects = parsed.isGiven(.reject)
    stateDirectory = parsed.value(of: .stateDirectory)
  }
}

/// The arguments of `weft cancel`.
struct CancelInvocation: Sendable, Hashable {
  /// An ID or its beginning; `nil` for the latest run that has not ended.
  let run: String?
  let isNow: Bool
  let stateDirectory: String?

  init(_ parsed: ParsedArguments) {
    run = parsed.operands.first
    isNow = parsed.isGiven(.now)
    stateDirectory = parsed.value(of: .stateDirectory)
  }
}

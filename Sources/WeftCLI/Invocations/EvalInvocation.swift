struct EvalInvocation: Sendable, Hashable {
  let expression: String
  /// `nil` if there are no values.
  let contexts: String?

  init(_ parsed: ParsedArguments) {
    expression = parsed.operands[0]
    contexts = parsed.value(of: .contexts)
  }
}

import WeftPlanning

extension ParsedArguments {
  /// The selection of steps.
  var choice: StepChoice {
    StepChoice(
      only: values(of: .only), skip: values(of: .skip), from: values(of: .from))
  }
}

extension StepChoice.UnknownStep {
  /// The error message; nothing has been started.
  var complaint: CommandError {
    CommandError(
      "\"\(name)\" is not a step or group of this workflow",
      help: nearest.map { "did you mean \"\($0)\"?" }
        ?? "\"weft graph FILE\" shows how steps are called")
  }
}

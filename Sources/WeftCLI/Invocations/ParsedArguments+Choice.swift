import WeftPlanning

extension ParsedArguments {
  /// Which steps are wanted.
  var choice: StepChoice {
    StepChoice(
      only: values(of: .only), skip: values(of: .skip), from: values(of: .from))
  }
}

extension StepChoice.UnknownStep {
  /// Nothing has been started because of it.
  var complaint: Complaint {
    Complaint(
      "\"\(name)\" is not a step or group of this workflow",
      help: nearest.map { "did you mean \"\($0)\"?" }
        ?? "\"weft graph FILE\" shows how steps are called")
  }
}

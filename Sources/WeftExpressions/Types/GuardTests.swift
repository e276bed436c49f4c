/// The steps whose `outcome` or `conclusion` was mentioned so far.
struct GuardTests {
  /// The names that lead to each step, including its own.
  private var steps: [ArraySlice<ContextReference.Name>] = []

  mutating func note(_ reference: ContextReference) {
    if reference.asksForOutcome { steps.append(reference.names.dropLast()) }
  }

  /// Whether the reference is to one of these steps.
  func cover(_ reference: ContextReference) -> Bool {
    steps.contains { step in
      step.count < reference.names.count
        && zip(step, reference.names).allSatisfy { FoldedText.areEqual($0.text, $1.text) }
    }
  }
}

extension ContextReference {
  /// Whether it refers to the outcome or conclusion of a step.
  package var asksForOutcome: Bool {
    guard names.count > 2, let last = names.last?.text else { return false }
    return FoldedText.areEqual(last, "outcome") || FoldedText.areEqual(last, "conclusion")
  }
}

/// The texts of a workflow that have expressions in them, by whom they belong to: those of steps side by side
/// in one array, since there may be very many.
struct PlannedTexts: Sendable {
  private var ofSteps: [PlannedText] = []
  /// Where the texts of each step begin; of as many steps as have been closed, and one more.
  private var starts: [Int32] = [0]
  /// A workflow's own under its top level.
  private var ofGroups: [Int: [PlannedText]] = [:]

  var isEmpty: Bool { ofSteps.isEmpty && ofGroups.isEmpty }
  /// Whether no group and not the workflow has any.
  var areOfStepsOnly: Bool { ofGroups.isEmpty }

  func texts(ofStep index: Int) -> ArraySlice<PlannedText> {
    guard index + 1 < starts.count else { return [] }
    return ofSteps[Int(starts[index])..<Int(starts[index + 1])]
  }

  func texts(ofGroup index: Int) -> ArraySlice<PlannedText> {
    ofGroups.isEmpty ? [] : ofGroups[index, default: []][...]
  }

  func texts(of owner: TextOwner) -> ArraySlice<PlannedText> {
    switch owner {
    case .workflow(let index), .group(let index): texts(ofGroup: index)
    case .step(let index): texts(ofStep: index)
    }
  }

  mutating func append(_ text: PlannedText, of owner: TextOwner) {
    switch owner {
    case .workflow(let index), .group(let index): ofGroups[index, default: []].append(text)
    case .step: ofSteps.append(text)
    }
  }

  /// The texts of one more step have been appended, be it none; steps come in the order of the plan.
  mutating func closeStep() { starts.append(Int32(ofSteps.count)) }
}

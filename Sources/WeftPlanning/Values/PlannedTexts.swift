/// The texts of a workflow that contain expressions, by owner. Those of steps are adjacent in one array, because there
/// may be very many.
struct PlannedTexts: Sendable {
  private var ofSteps: [PlannedText] = []
  /// The start of each step's texts: one entry for each closed step, and one more.
  private var starts: [Int32] = [0]
  /// The texts of groups; a workflow's own are at its top level.
  private var ofGroups: [Int: [PlannedText]] = [:]

  var isEmpty: Bool { ofSteps.isEmpty && ofGroups.isEmpty }
  /// Whether neither a group nor the workflow has any.
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

  /// Ends the texts of one step, which may have none; steps come in the order of the plan.
  mutating func closeStep() { starts.append(Int32(ofSteps.count)) }
}

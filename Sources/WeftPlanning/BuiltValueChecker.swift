import WeftDefinition
import WeftDiagnostics

/// Checks the values of every file, step and group by the rules of the file format (``BuiltValues``).
///
/// Decoded workflows always pass; a workflow that was built or changed in Swift may contain any values.
struct BuiltValueChecker {
  private var found = FoundProblems()

  static func problems(of outline: Outline) -> [PlacedProblem] {
    var checker = BuiltValueChecker()
    for (index, file) in outline.files.enumerated() {
      checker.found.file = index
      checker.found.node = index == 0 ? nil : outline.groups[file.topLevel].startNode
      checker.append(BuiltValues.unfit(in: file.workflow), at: nil)
    }
    for group in outline.groups {
      guard let step = group.step, !group.isTopLevel else { continue }
      checker.found.file = group.file
      checker.found.node = group.startNode
      checker.append(BuiltValues.unfit(in: step), at: step)
    }
    for (index, step) in outline.steps.enumerated() where step.mayHaveUnfitValues {
      checker.found.file = outline.groups[step.group].file
      checker.found.node = step.node
      let isCleanup = outline.cleanedUp[Int32(index)] != nil
      checker.append(BuiltValues.unfit(in: step.step, isCleanup: isCleanup), at: step.step)
    }
    return checker.found.problems
  }

  private mutating func append(_ values: [Diagnostic], at step: Step?) {
    for value in values { found.append(.unfit(value), step?.place.value?.step) }
  }
}

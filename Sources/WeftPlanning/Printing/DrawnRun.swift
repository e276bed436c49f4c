package import WeftDrawing

/// The outcomes of a run, for a drawing of its plan.
package struct DrawnRun: Sendable {
  package struct Outcome: Sendable, Hashable {
    package var trait: Picture.Traits
    package var sign: Picture.Sign
    package var text: String

    package init(_ trait: Picture.Traits, _ sign: Picture.Sign, _ text: String) {
      (self.trait, self.sign, self.text) = (trait, sign, text)
    }
  }

  /// Lines below the title.
  package var summary: [String]
  /// The outcomes of steps, by address in the plan; steps without one have not begun.
  package var steps: [StepAddress: Outcome] = [:]
  package var groups: [StepAddress: Outcome] = [:]
  /// Steps by their indices in the plan, in path order.
  package var criticalPath: [Int] = []

  /// Hides the secrets that the workflow file contains.
  package var mask: @Sendable (String) -> String

  package init(summary: [String], mask: @escaping @Sendable (String) -> String) {
    (self.summary, self.mask) = (summary, mask)
  }
}

extension Plan {
  /// The plan as a picture with the outcomes of a run.
  package func picture(of run: DrawnRun) -> Picture { PlanPicture.picture(of: self, run) }
}

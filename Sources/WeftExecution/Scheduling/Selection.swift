package import WeftPlanning

/// The steps of a plan that a run skips on request, as if their own `if` were false.
///
/// The command line and the library fill it in; the engine asks it at each admission.
package struct Selection: Sendable, Hashable {
  /// Indexed by step; empty if none is excluded.
  private var leftOut: [Bool] = []

  package init() {}

  /// Excludes these steps of a plan. Costs nothing if there are none.
  package init(leavingOut steps: some Sequence<Int>, of plan: Plan) {
    guard steps.contains(where: { _ in true }) else { return }
    leftOut = Array(repeating: false, count: plan.steps.count)
    for step in steps { leftOut[step] = true }
  }

  /// Whether any of these steps is not excluded.
  func includes(anyOf steps: Range<Int>) -> Bool {
    leftOut.isEmpty || steps.contains { !leftOut[$0] }
  }

  func includes(step index: Int) -> Bool { leftOut.isEmpty || !leftOut[index] }
}

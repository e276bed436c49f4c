package import WeftPlanning

/// Which steps of a plan a run is to leave out, as if their own `if` had said so.
package struct Selection: Sendable, Hashable {
  /// By step; empty: none is left out.
  private var leftOut: [Bool] = []

  package init() {}

  /// Leaves out these steps of a plan; nothing, and at no cost, where there are none.
  package init(leavingOut steps: some Sequence<Int>, of plan: Plan) {
    guard steps.contains(where: { _ in true }) else { return }
    leftOut = Array(repeating: false, count: plan.steps.count)
    for step in steps { leftOut[step] = true }
  }

  /// Whether any of these is not left out.
  func includes(anyOf steps: Range<Int>) -> Bool {
    leftOut.isEmpty || steps.contains { !leftOut[$0] }
  }

  func includes(step index: Int) -> Bool { leftOut.isEmpty || !leftOut[index] }
}

package import WeftPlanning

/// Which steps of a plan a run is to leave out, as if their own `if` had said so.
package struct Selection: Sendable, Hashable {
  /// By step; empty: none is left out.
  private var leftOut: [Bool] = []

  package init() {}

  /// Leaves out these steps of a plan.
  package init(leavingOut steps: some Sequence<Int>, of plan: Plan) {
    leftOut = Array(repeating: false, count: plan.steps.count)
    for step in steps { leftOut[step] = true }
  }

  func includes(step index: Int) -> Bool { leftOut.isEmpty || !leftOut[index] }
}

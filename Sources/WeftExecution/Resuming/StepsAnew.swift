package import WeftPlanning

/// What is to be done again though it has been done.
package struct StepsAnew: Sendable {
  /// In the plan: in whatever frame.
  package var steps: Set<Int>
  /// In one frame: elements of what is run for many.
  package var addresses: Set<StepAddress>

  package init(steps: Set<Int> = [], addresses: Set<StepAddress> = []) {
    (self.steps, self.addresses) = (steps, addresses)
  }

  func contains(_ step: Int, _ address: StepAddress) -> Bool {
    steps.contains(step) || addresses.contains(address)
  }
}

import WeftDefinition
import WeftPlanning

/// How a step is called in one frame: `upload[3]`, `deploy[eu].push`.
extension Frame {
  /// The address, in this frame, of what the plan calls so.
  func address(of planned: StepAddress) -> StepAddress {
    guard let parent, let member = part.address else { return planned }
    guard case .element(let element) = kind else { return parent.address(of: planned) }
    return parent.address(of: member).element(element.key).inElement(planned, of: member)
  }
}

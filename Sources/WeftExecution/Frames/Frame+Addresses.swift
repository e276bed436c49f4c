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

extension Frame {
  /// The innermost element that it is in, by its address; `nil` outside of loops.
  var element: StepAddress? {
    guard let parent else { return nil }
    guard case .element(let element) = kind, let member = part.address else {
      return parent.element
    }
    return parent.address(of: member).element(element.key)
  }
}

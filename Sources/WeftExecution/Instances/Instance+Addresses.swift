import WeftDefinition
import WeftPlanning

/// The addresses of steps and groups in one frame: `upload[3]`, `deploy[eu].push`.
extension Instance {
  /// The address in this frame of the step or group at an address of the plan.
  func address(of planned: StepAddress) -> StepAddress {
    guard let parent, let member = region.address else { return planned }
    guard case .element(let element) = kind else { return parent.address(of: planned) }
    return parent.address(of: member).element(element.key).inElement(planned, of: member)
  }
}

extension Instance {
  /// The address of the innermost loop element that contains the frame; `nil` outside of loops.
  var element: StepAddress? {
    guard let parent else { return nil }
    guard case .element(let element) = kind, let member = region.address else {
      return parent.element
    }
    return parent.address(of: member).element(element.key)
  }
}

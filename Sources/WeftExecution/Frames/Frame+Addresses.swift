import WeftDefinition
import WeftPlanning

/// How a step is called in one frame: `upload[3]`, `deploy[eu].push`.
extension Frame {
  /// The address, in this frame, of what the plan calls so.
  func address(of planned: StepAddress) -> StepAddress {
    guard let parent, let member = part.address else { return planned }
    guard case .element(let element) = kind else { return parent.address(of: planned) }
    let itself = "\(parent.address(of: member).text)[\(element.key)]"
    if planned == member { return StepAddress(itself) }
    // What is in another file is called by its place in that.
    if planned.text.hasPrefix(member.text + "/") {
      return StepAddress(itself + planned.text.dropFirst(member.text.count))
    }
    // A step without an id is called by its place under the nearest one.
    let place = member.text + "."
    return planned.text.hasPrefix(place)
      ? StepAddress(itself + "." + planned.text.dropFirst(place.count))
      : StepAddress(itself + "." + planned.text.dropFirst(Frame.filePrefix(of: member).count))
  }

  /// What the names of all in the file begin with.
  private static func filePrefix(of address: StepAddress) -> Substring {
    guard let end = address.text.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return address.text[...end]
  }
}

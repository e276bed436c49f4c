import Synchronization
package import WeftPlanning

/// What steps have written, for those who know a step by its address.
extension LiveRun {
  /// A stretch of a step's log, as far as there is one: nothing of a step that has not begun, and nothing
  /// any more of an element that has ended well, since there may be very many.
  package func log(of step: StepAddress, in range: Range<UInt64>) -> [UInt8] {
    guard let instance = instance(of: step) else { return [] }
    let bytes = logs.read(
      Int(clamping: range.lowerBound)..<Int(clamping: range.upperBound), of: instance)
    // An element that ended meanwhile has left its number to another.
    return self.instance(of: step) == instance ? bytes : []
  }

  /// How large a step's log is.
  package func logSize(of step: StepAddress) -> UInt64 {
    instance(of: step).map { UInt64(logs.size(of: $0)) } ?? 0
  }

  private func instance(of step: StepAddress) -> Int? {
    state.withLock { $0.instancesOfElements[step] } ?? planIndex(of: step)
  }

  private func planIndex(of step: StepAddress) -> Int? {
    planIndices.withLock { indices in
      if let indices { return indices[step] }
      let made = Dictionary(
        plan.steps.enumerated().map { ($1.address, $0) }, uniquingKeysWith: { first, _ in first })
      indices = made
      return made[step]
    }
  }

  /// A step of an element begins to write; no lock is to be held.
  func noteLog(of task: StepTask) {
    logs.name(task.instance, task.address)
    guard task.place == nil else { return }
    state.withLock { $0.instancesOfElements[task.address] = task.instance }
  }

  /// The numbers of an element's steps will be those of others.
  func forgetLogs(of frame: Frame) {
    let steps = frame.part.steps
    let addresses = steps.map { frame.address(of: plan.steps[$0].address) }
    state.withLock { state in
      for address in addresses { state.instancesOfElements[address] = nil }
    }
    logs.forget(frame.firstInstance..<frame.firstInstance + steps.count)
  }
}

import Synchronization
package import WeftPlanning

/// Access to the logs of steps by address.
extension RunEngine {
  /// A range of a step's log, as far as it exists. Empty for a step that has not started, and for an element that
  /// succeeded, since there may be very many.
  package func log(of step: StepAddress, in range: Range<UInt64>) -> [UInt8] {
    guard let instanceNumber = instanceNumber(of: step) else { return [] }
    let bytes = logs.read(
      Int(clamping: range.lowerBound)..<Int(clamping: range.upperBound), of: instanceNumber)
    // An element that ended meanwhile has passed its number on to another.
    return self.instanceNumber(of: step) == instanceNumber ? bytes : []
  }

  /// The size of a step's log.
  package func logSize(of step: StepAddress) -> UInt64 {
    instanceNumber(of: step).map { UInt64(logs.size(of: $0)) } ?? 0
  }

  private func instanceNumber(of step: StepAddress) -> Int? {
    planIndex(of: step)
      ?? state.withLock { state in
        // Only few elements have not ended.
        state.writing.first { $0.value == step }?.key ?? state.keptLogs[step]
      }
  }

  /// The index in the plan; `nil` for steps of elements.
  func planIndex(of step: StepAddress) -> Int? {
    planIndices.withLock { indices in
      if let indices { return indices[step] }
      let made = Dictionary(
        plan.steps.enumerated().map { ($1.address, $0) }, uniquingKeysWith: { first, _ in first })
      indices = made
      return made[step]
    }
  }

  /// Records that a step begins to write a log. No lock may be held.
  func noteLog(of task: StepTask) {
    logs.name(task.instanceNumber, task.address)
    guard task.instance.isInElement else { return }
    state.withLock { $0.writing.set(task.address, for: task.instanceNumber) }
  }

  /// Keeps the logs of an ended element, whose steps keep their instance numbers.
  func keepLogs(of row: Range<Int>) {
    state.withLock { state in
      for step in row {
        if let address = state.writing.remove(step) { state.keptLogs[address] = step }
      }
    }
  }

  /// Forgets the logs of an ended element, whose instance numbers will be reused.
  func forgetLogs(of row: Range<Int>) {
    state.withLock { state in
      for step in row { state.writing.remove(step) }
    }
    logs.forget(row)
  }
}

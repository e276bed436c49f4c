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
    planIndex(of: step)
      ?? state.withLock { state in
        // Of elements there are few that have not ended.
        state.writing.first { $0.value == step }?.key ?? state.keptLogs[step]
      }
  }

  /// Of a step that is no element's; `nil` of every other.
  func planIndex(of step: StepAddress) -> Int? {
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
    guard task.frame.isInElement else { return }
    state.withLock { $0.writing.set(task.address, for: task.instance) }
  }

  /// An element has ended, and its steps keep their numbers.
  func keepLogs(of row: Range<Int>) {
    state.withLock { state in
      for step in row {
        if let address = state.writing.remove(step) { state.keptLogs[address] = step }
      }
    }
  }

  /// The numbers of an element's steps will be those of others.
  func forgetLogs(of row: Range<Int>) {
    state.withLock { state in
      for step in row { state.writing.remove(step) }
    }
    logs.forget(row)
  }
}

import Synchronization
import WeftPlanning

/// Finds the logs of steps by address, while elements of loops come and go and reuse instance numbers.
final class LogOwners: Sendable {
  private struct State {
    /// The steps of elements that have begun to write, by the instance numbers under which their logs are stored.
    var writing = InstanceTable<StepAddress>()
    /// The instance numbers of steps in ended elements whose logs are kept.
    var kept: [StepAddress: Int] = [:]
    /// The index in the plan by address; built when a log is first requested.
    var planIndices: [StepAddress: Int]?
  }

  private let plan: Plan
  private let logs: StepLogs
  private let state = Mutex(State())

  init(plan: Plan, logs: StepLogs) {
    self.plan = plan
    self.logs = logs
  }

  /// A range of a step's log, as far as it exists. Empty for a step that has not started, and for an element that
  /// succeeded, since there may be very many.
  func log(of step: StepAddress, in range: Range<UInt64>) -> [UInt8] {
    guard let number = instanceNumber(of: step) else { return [] }
    let bytes = logs.read(
      Int(clamping: range.lowerBound)..<Int(clamping: range.upperBound), of: number)
    // An element that ended meanwhile has passed its number on to another.
    return instanceNumber(of: step) == number ? bytes : []
  }

  /// The size of a step's log.
  func size(of step: StepAddress) -> UInt64 {
    instanceNumber(of: step).map { UInt64(logs.size(of: $0)) } ?? 0
  }

  private func instanceNumber(of step: StepAddress) -> Int? {
    planIndex(of: step)
      ?? state.withLock { state in
        // Only few elements have not ended.
        state.writing.first { $0.value == step }?.key ?? state.kept[step]
      }
  }

  /// The index in the plan; `nil` for steps of elements.
  func planIndex(of step: StepAddress) -> Int? {
    state.withLock { state in
      if let indices = state.planIndices { return indices[step] }
      let made = Dictionary(
        plan.steps.enumerated().map { ($1.address, $0) }, uniquingKeysWith: { first, _ in first })
      state.planIndices = made
      return made[step]
    }
  }

  /// Records that a step begins to write a log.
  func begin(_ task: StepTask) {
    logs.name(task.instanceNumber, task.address)
    guard task.instance.isInElement else { return }
    state.withLock { $0.writing.set(task.address, for: task.instanceNumber) }
  }

  /// Keeps the logs of an ended element, whose steps keep their instance numbers.
  func keep(_ row: Range<Int>) {
    state.withLock { state in
      for step in row {
        if let address = state.writing.remove(step) { state.kept[address] = step }
      }
    }
  }

  /// Forgets the logs of an ended element, whose instance numbers will be reused.
  func forget(_ row: Range<Int>) {
    state.withLock { state in
      for step in row { state.writing.remove(step) }
    }
    logs.forget(row)
  }
}

import WeftDefinition
import WeftEvents
import WeftPlanning
import WeftPlatform

/// Steps that run no program: one that only computes, and the end of those that wait or ask.
extension RunEngine {
  /// Evaluates a step that only computes.
  func compute(_ task: StepTask) -> NodeResult {
    reportStart(of: task)
    let since = time.now
    let own = NodeValues(outcome: .success, conclusion: .success, attempts: 1)
    let end = StepEnd(
      outcome: .success, conclusion: .success, attempts: 1, exit: nil, duration: time.now - since)
    return concludeComputing(task, end, own)
  }

  /// Ends a step without a program, with its outputs if it succeeded.
  func concludeComputing(_ task: StepTask, _ end: StepEnd, _ own: NodeValues) -> NodeResult {
    guard end.outcome == .success else { return conclude(task, end, own) }
    var (own, end) = (own, end)
    var resolved = ResolvedStep(
      asWritten: task.step, directory: plan.workingDirectory(of: task.step))
    let obstacle = StepResolver(values, in: task.instance).resolve(
      task.index, attempt: 1, &resolved)
    do throws(StepFailure) {
      if let obstacle { throw obstacle }
      own.outputs = try OutputCollector(values, in: task.instance).outputs(
        ofStep: task.index, own: own, attempt: 1)
      end.outputs = own.outputs.map(ReportedOutput.init)
    } catch {
      if let end = rehearsedValues(of: task, end) { return end }
      let isTolerated = resolved.allowFailure.tolerates(error.classes)
      end = StepEnd(
        outcome: .failure, conclusion: isTolerated ? .success : .failure, attempts: 1, exit: nil,
        failure: error, duration: end.duration)
    }
    return conclude(task, end, own)
  }
}

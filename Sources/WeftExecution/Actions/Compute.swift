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
    let end = StepEnd(
      outcome: .success, conclusion: .success, attempts: 1, exit: nil, duration: time.now - since)
    return concludeComputing(task, end)
  }

  /// Ends a step without a program, with its outputs if it succeeded.
  func concludeComputing(_ task: StepTask, _ end: StepEnd) -> NodeResult {
    guard end.outcome == .success else { return conclude(task, end, NodeValues(end)) }
    var (own, end) = (NodeValues(outcome: .success, conclusion: .success, attempts: 1), end)
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
      let (outcome, conclusion) = resolved.allowFailure.judge(error, nil)
      let approver = end.approvedBy
      end = StepEnd(
        outcome: outcome, conclusion: conclusion, attempts: 1, exit: nil, failure: error,
        duration: end.duration)
      end.approvedBy = approver
    }
    return conclude(task, end, own)
  }
}

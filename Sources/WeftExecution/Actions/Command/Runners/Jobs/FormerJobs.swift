import Synchronization
import WeftDefinition
import WeftEvents
import WeftPlanning
import WeftPlatform

/// The jobs that earlier engines have left with a scheduler that their steps no longer use, because the run was resumed
/// with another runner.
///
/// Each is ended before its step starts elsewhere. A job whose step does not start again is left alone.
final class FormerJobs: Sendable {
  private struct Former {
    let directory: JobDirectory
    let submission: JobDirectory.Submission
    let scheduler: any JobScheduler
    /// Whether the step has another scheduler now, so that no command of it is in doubt.
    let isRemembered: Bool
  }

  private let run: RunID
  private let recorded: RunState
  private let left: Mutex<[StepAddress: Former]>

  /// - Parameter scheduler: The kind of scheduler that a step has now; `nil` for none.
  /// - Returns: `nil` if there are none.
  init?(
    of run: RunID, _ recorded: RunState, in folder: JobFolder, _ plan: Plan,
    scheduler: (PlannedStep) -> JobKind?
  ) {
    let addresses = PlanAddresses(plan)
    var left: [StepAddress: Former] = [:]
    for (address, step) in recorded.steps where step.isInDoubt {
      guard let index = addresses.step(at: address), let directory = folder.latest(of: address),
        let submission = directory.submission, let kind = submission.scheduler
      else { continue }
      let present = scheduler(plan.steps[index])
      if kind == present { continue }
      left[address] = Former(
        directory: directory, submission: submission,
        scheduler: kind == .slurm ? SlurmScheduler(SlurmCluster()) : LocalJobs(),
        isRemembered: present != nil)
    }
    if left.isEmpty { return nil }
    (self.run, self.recorded) = (run, recorded)
    self.left = Mutex(left)
  }

  /// Those that are left, by their steps.
  var remaining: [StepAddress: JobKey] {
    left.withLock { $0.mapValues(\.submission.key) }
  }

  /// Ends the job of a step that is about to start elsewhere; may block the calling thread until it has ended.
  ///
  /// - Throws: If it cannot be ended. Also if it has begun, and it is undecided whether the step may run twice.
  func end(before attempt: Attempt, in executor: CommandExecutor) throws(StepFailure) {
    guard let former = left.withLock({ $0.removeValue(forKey: attempt.address) }) else { return }
    let (directory, scheduler) = (former.directory, former.scheduler)
    do { try scheduler.prepare(executor) } catch {
      throw StepFailure(classes: [.spawn], message: "did not start: \(error)")
    }
    let neverBegins = directory.claim()
    directory.mark(stop: .cancelled)
    try scheduler.endJob(
      former.submission.key, in: directory, of: run, orUntilStopOf: attempt)
    scheduler.killRemains(of: attempt)
    // Its output may contain secrets.
    Directory.removeTree(directory.path)
    if neverBegins || !former.isRemembered || attempt.step.step.isMadeAgain { return }
    if let step = recorded.steps[attempt.address] { throw .inDoubt(step, in: run) }
  }
}

import WeftDefinition
import WeftPlanning
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// A run in several parts, each of which fails or is killed at a different place.
struct SplitRun {
  private var kinds: [RunRecord.Kind] = []
  private var parts = 0

  /// The journal so far.
  var recorded: RunState {
    var run = RunState()
    for (index, kind) in kinds.enumerated() {
      run.apply(RunRecord(number: UInt64(index + 1), at: WallTime(nanoseconds: 0), kind))
    }
    return run
  }

  /// Runs the next part, one step at a time. Services are ready at once, and end when the engine stops them, unless they
  /// fail.
  ///
  /// - Parameters:
  ///   - failing: The steps that exit with 1; all others succeed.
  ///   - killing: The step during which the engine is killed.
  /// - Returns: The steps that ran, in order, and the end of the part with its counts; `nil` if it was killed.
  @discardableResult
  mutating func run(
    _ workflow: Workflow, failing: Set<String> = [], killing: String? = nil,
    rerunning rerun: RerunSelection = RerunSelection()
  ) throws -> (ran: [String], outcome: Outcome?, counts: OutcomeCounts?) {
    let recorded = parts > 0 ? recorded : nil
    let keeper = RecordKeeper()
    let run = try RunHarness(workflow, maxParallel: 1, recorder: keeper) {
      $0.journal.recorded = recorded
      $0.journal.rerunning = rerun
    }
    let plan = run.run.plan
    kinds.append(
      .opened(
        RecordOpening(
          run: RunID("test"), resumption: parts, rerun: rerun.addresses(in: plan))))
    parts += 1
    let addresses = PlanAddresses(plan)
    var (ran, ready): ([String], Set<String>) = ([], [])
    while let next = run.running.first(where: {
      !ready.contains($0) || run.executor.isStopping($0)
    }) {
      if !ready.contains(next) { ran.append(next) }
      if next == killing { break }
      let isService = addresses.step(at: StepAddress(next)).map { plan.steps[$0].isService }
      if isService == true, !failing.contains(next), ready.insert(next).inserted {
        run.executor.beReady(next)
        continue
      }
      run.executor.exit(next, code: failing.contains(next) ? 1 : 0)
    }
    kinds += keeper.kinds
    let end = run.run.report.end
    return (ran, end?.outcome, end?.counts)
  }
}

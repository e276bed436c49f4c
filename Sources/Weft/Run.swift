public import WeftEvents
public import WeftExecution
public import WeftPlanning
import WeftRecord

/// A run in progress or finished.
public final class Run: Sendable {
  private let live: RunEngine

  init(_ live: RunEngine) {
    self.live = live
  }

  /// Approves a step with `approve`, even one that is not waiting yet. The first answer counts.
  public func approve(_ step: StepAddress) { live.answer(step, .approved(by: "the program")) }

  /// Rejects a step with `approve`, which fails with the class ``ErrorClass/rejected``.
  public func reject(_ step: StepAddress) { live.answer(step, .rejected) }

  /// The reason why the journal could not be written; `nil` if it was, or if there is none.
  public var recordFault: RecordError? { live.recordFault }

  /// Keeps the journal locked until the run ends, then writes the report.
  func keepUntilItEnds(_ journal: RunJournal) {
    live.completion.whenSettled { report in
      guard let folder = journal.folder else { return }
      let report = report.get()
      if report.end != nil { try? folder.write(report) }
      folder.letGo()
    }
  }

  /// Stores the measured durations of steps for later runs.
  func keepDurations(in store: any RunStore, of workflow: WorkflowKey) {
    live.completion.whenSettled { [live] report in
      guard let measures = live.measures else { return }
      store.add(measures, of: live.plan, succeeded: report.get().succeeded, to: workflow)
    }
  }

  public var id: RunID { live.id }

  /// All events of the run, from the beginning; each access makes a new subscription.
  ///
  /// A subscriber that comes after the run's first thousand events gets a snapshot of the state
  /// and then the rest. A slow subscriber never holds up the run. It gets every event except output beyond
  /// 4 MiB, which an event that names the gap replaces.
  public var events: EventSubscription { live.subscribe() }

  /// The report, available once the run has ended and none of its processes is left.
  ///
  /// Cancelling the waiting task does not cancel the run.
  public var report: RunReport {
    get async { await live.ended() }
  }

  /// The report as of now.
  public var progress: RunReport { live.report }

  /// A lower bound for the time left, if steps take as long as in earlier runs in the same ``RunStore``; `nil`
  /// without a store, while earlier runs are too few, and once nothing new starts.
  ///
  /// The larger of the rest of the longest path, and the rest of all steps divided by the slots.
  public var remaining: Duration? { live.remainingTime }

  /// Cancels the run: running programs get TERM and, after the grace period, KILL; nothing else starts.
  ///
  /// Returns at once; the run has ended when ``report`` is available. Only the first reason counts.
  public func cancel(_ reason: CancelReason = .requested) { live.cancel(reason) }

  /// Kills the run without a grace period.
  public func kill() { live.killNow() }

  /// The end of a step's log: both streams, in the order in which they were read.
  ///
  /// Logs are kept until the run is released. The log of a loop element is only kept while the element runs, or
  /// if it failed, since a loop may have very many elements. Empty for an unknown step.
  public func output(of step: StepAddress, last count: Int = 64 << 10) -> [UInt8] {
    let size = live.logSize(of: step)
    return live.log(of: step, in: (size - min(size, UInt64(max(0, count))))..<size)
  }
}

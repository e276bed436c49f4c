public import WeftExecution
public import WeftPlanning
import WeftRecord

/// A run under way, or over.
public final class Run: Sendable {
  private let live: LiveRun

  init(_ live: LiveRun) {
    self.live = live
  }

  /// Answers a step with `approve`, also one that does not wait yet: yes. Of several answers the first counts.
  public func approve(_ step: StepAddress) { live.answer(step, .approved(by: "the program")) }

  /// Answers a step with `approve`: no. It fails with the class ``ErrorClass/rejected``.
  public func reject(_ step: StepAddress) { live.answer(step, .rejected) }

  /// Why the record of the run could not be kept; `nil` if it was, or there is none.
  public var recordFault: RecordFault? { live.recordFault }

  /// The run's record is held, and reported on at its end, as long as the run goes on.
  func keepUntilItEnds(_ journal: RunJournal) {
    live.completion.whenSettled { report in
      guard let folder = journal.folder else { return }
      let report = report.get()
      if report.end != nil { try? folder.write(report) }
      folder.letGo()
    }
  }

  /// What the run learns about how long its steps take is there for the next one.
  func keepDurations(in store: any RunStore, of workflow: WorkflowKey) {
    live.completion.whenSettled { [live] report in
      guard let measures = live.measures else { return }
      store.add(measures, of: live.plan, succeeded: report.get().succeeded, to: workflow)
    }
  }

  public var id: RunID { live.id }

  /// Everything that happens, from the beginning; a new subscription at each access.
  ///
  /// A subscriber that comes after the run's first thousand events gets a snapshot of what has happened
  /// and then the rest. One that reads slowly gets every event but for output beyond 4 MiB, in whose
  /// place stands an event that names the gap; it never holds up the run.
  public var events: EventSubscription { live.subscribe() }

  /// The report, once the run has ended and nothing of it is left.
  ///
  /// Cancelling the task that waits does not cancel the run.
  public var report: RunReport {
    get async { await live.ended() }
  }

  /// What is known of the run at this moment.
  public var progress: RunReport { live.report }

  /// How much longer the run takes at least, if its steps take as long as in earlier runs in the same
  /// ``RunStore``; `nil` of a run without one, while earlier runs say too little, and when nothing new starts any
  /// more.
  ///
  /// What is left of the longest path, or what is left of all steps shared among the slots, whichever is more.
  public var remaining: Duration? { live.remainingTime }

  /// Asks the run to end: running programs get TERM and, after the grace, KILL; nothing else starts.
  ///
  /// Returns at once; the run has ended when ``report`` is there. Only the first reason counts.
  public func cancel(_ reason: CancelReason = .requested) { live.cancel(reason) }

  /// Ends the run without a grace.
  public func kill() { live.killNow() }

  /// The last bytes of what a step has written, both streams in the order they were read.
  ///
  /// Kept until the run is released, but of an element of a `forEach` or `matrix` only while it runs, or if
  /// it has failed: there may be very many. Empty for a step that there is not.
  public func output(of step: StepAddress, last count: Int = 64 << 10) -> [UInt8] {
    let size = live.logSize(of: step)
    return live.log(of: step, in: (size - min(size, UInt64(max(0, count))))..<size)
  }
}

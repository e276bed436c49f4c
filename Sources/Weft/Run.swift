public import WeftEvents
public import WeftExecution
import WeftFutures
public import WeftPlanning
import WeftPlatform
package import WeftRecord

/// A run in progress or finished.
public final class Run: Sendable {
  /// The engine's side of the run.
  package let live: RunEngine
  private let closing: Future<RunClosing, Never>

  /// - Parameter close: Called once when the run has ended, before ``report`` is available.
  init(_ live: RunEngine, close: @escaping @Sendable (RunReport) -> RunClosing) {
    self.live = live
    closing = live.completion.map(close)
  }

  /// The ID, by which a store finds the run; unique without one, too.
  public var id: RunID { live.id }

  /// Approves a step with `approve`, even one that is not waiting yet. The first answer counts.
  ///
  /// A recorded run without an approver is suspended as soon as nothing can proceed without an answer, perhaps before
  /// this one. Other ways are never too late: the closure that an ``Engine`` is given as `approve`,
  /// ``Engine/ResumeOptions/answers``, and ``FileRunStore/answer(_:of:approved:)`` before the run is resumed.
  public func approve(_ step: StepAddress) { live.answer(step, .ofProgram(true)) }

  /// Rejects a step with `approve`, which fails with the class ``ErrorClass/rejected``.
  public func reject(_ step: StepAddress) { live.answer(step, .ofProgram(false)) }

  /// The reason why the journal could not be written; `nil` if it was, or if there is none.
  public var recordFault: RecordError? { live.recordFault }

  /// All events of the run, from the beginning; each access makes a new subscription.
  ///
  /// A subscriber that comes after the run's first thousand events gets a snapshot of the state
  /// and then the rest. A slow subscriber never holds up the run. It gets every event except output beyond
  /// 4 MiB, which an event that names the gap replaces.
  public var events: EventSubscription { live.subscribe() }

  /// The report, available once the run has ended, none of its processes is left, and its journal is closed.
  ///
  /// Cancelling the waiting task does not cancel the run.
  public var report: RunReport {
    get async { await closing.value.report }
  }

  /// The report as of now.
  public var progress: RunReport { live.report }

  /// A lower bound for the time left, if steps take as long as in earlier runs in the same ``RunStore``; `nil`
  /// without a store, while earlier runs are too few, and once nothing new starts.
  ///
  /// The larger of the rest of the longest path, and the rest of all steps divided by the slots.
  public var remaining: Duration? { live.remainingTime }

  /// The steps that wait at this moment although their dependencies are done, in the order in which they began to wait,
  /// each with what it lacks.
  ///
  /// Steps that wait for an approval, a time or their next attempt are not among them; ``progress`` has those. The
  /// reasons change with each step that starts or ends, and are worked out by this call.
  ///
  /// - Parameter count: The maximum number of steps to return.
  public func waitingSteps(atMost count: Int = 100) -> [WaitingStep] {
    live.waitingSteps(atMost: count).first
  }

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

  /// Calls a closure once the run has ended and its journal is closed.
  package func whenClosed(_ act: @escaping @Sendable () -> Void) {
    closing.whenSettled { _ in act() }
  }

  /// Blocks until the run has ended and its journal is closed.
  package func waitUntilClosed() -> RunClosing {
    let wakeup = Wakeup()
    closing.whenSettled { _ in wakeup.wake() }
    while true {
      if let closing = closing.outcome { return closing.get() }
      wakeup.wait()
    }
  }
}

/// The result of closing the journal of an ended run.
package struct RunClosing: Sendable {
  package let report: RunReport
  /// The reason why the journal or the report of the run is incomplete.
  package var fault: RunStoreError?
  /// Old runs that could not be removed.
  package var unremoved: [(run: RunID, fault: RunFolderError)] = []
}

extension StateDirectory {
  /// Removes the oldest runs that have ended. Runs that could be resumed stay.
  ///
  /// - Parameters:
  ///   - count: The number of runs that stay in any case.
  ///   - run: A run that stays, regardless of the clock.
  /// - Returns: The runs that could not be removed.
  func removeEndedRuns(
    keeping count: Int, and run: RunID
  ) -> [(run: RunID, fault: RunFolderError)] {
    // Only runs beyond the limit are inspected.
    guard ids.count > count else { return [] }
    var unremoved: [(run: RunID, fault: RunFolderError)] = []
    for old in newestFirst().dropFirst(max(0, count))
    where old != run && retention(of: old) == .ended {
      do { _ = try remove(old, retention: .ended) } catch { unremoved.append((old, error)) }
    }
    return unremoved
  }
}

package import WeftEvents
package import WeftPlanning

/// Displays a run in progress.
///
/// The module's tour: events come in, text goes out, and nothing here can affect a run.
///
/// - ``DisplaySettings`` chooses between the two displays.
/// - ``PlainReporter``: one line per event, for logs and pipes.
/// - ``LiveReporter``: scrolling lines above a redrawn area, for terminals.
/// - `RunProgress` folds events into the state that both show; `RunSummary` is the end of both.
/// - `DisplayText` is the only place that sanitizes foreign text.
///
/// A reporter owns no clock, file or thread. In a loop, its caller waits for events or until ``nextRedraw``,
/// whichever comes first, and calls ``handle(_:now:size:log:remaining:waiting:openLine:write:)``, which writes nothing after
/// `runFinished`.
package struct Reporter: Sendable {
  /// Returns bytes of a step's log; fewer than requested at the end of the log.
  package typealias ReadLog = (StepAddress, Range<UInt64>) -> [UInt8]
  /// Called with a complete frame, or with whole lines in batches of about 64 KiB.
  ///
  /// All of it goes to one stream, also the steps' standard error and the summary of a failed run, because only a
  /// single stream preserves the order.
  package typealias Write = ([UInt8]) -> Void

  /// Exactly one of these, so that it is changed in place.
  private var plain: PlainReporter?
  private var live: LiveReporter?

  package init(_ settings: DisplaySettings, labels: StepLabels) {
    switch settings.mode {
    case .plain: plain = PlainReporter(settings, labels: labels)
    case .live: live = LiveReporter(settings, labels: labels)
    }
  }

  /// The time at which ``handle(_:now:size:log:remaining:waiting:openLine:write:)`` must be called even without events, since the
  /// run's start; `nil` if only events matter.
  package var nextRedraw: Duration? { live?.nextRedraw }

  /// The facts about a run that a display asks for.
  struct Source {
    let log: ReadLog
    let remaining: () -> Duration?
    let waiting: () -> WaitingSteps
    let openLine: (StepAddress) -> [UInt8]?
  }

  /// Shows events and the passage of time.
  ///
  /// - Parameters:
  ///   - events: All new events in order; none for a redraw.
  ///   - now: The time since the run's start.
  ///   - size: Called once, because terminals change their size; returns `nil` while nothing may be redrawn, such as in
  ///     the background. Lines are then shown later, except the run's end.
  ///   - log: Called for output whose events were dropped.
  ///   - remaining: Called once per frame; returns the estimated remaining time, or `nil` if it is unknown.
  ///   - waiting: Called once per frame; returns the steps that wait, and for what.
  ///   - openLine: Called once per frame while a step is shown alone; returns the text of the line that the step has
  ///     begun and not ended.
  package mutating func handle(
    _ events: [RunEvent], now: Duration, size: () -> DisplaySize?, log: @escaping ReadLog,
    remaining: @escaping () -> Duration? = { nil },
    waiting: @escaping () -> WaitingSteps = { WaitingSteps() },
    openLine: @escaping (StepAddress) -> [UInt8]? = { _ in nil }, write: Write
  ) {
    plain?.handle(events, log: log, write: write)
    live?.handle(
      events, now: now, size: size,
      source: Source(log: log, remaining: remaining, waiting: waiting, openLine: openLine),
      write: write)
  }

  /// Removes the redrawn area, so that other output may use the screen; the next frame draws it again. Pending lines
  /// are shown before that if `isVisible`.
  package mutating func withdraw(isVisible: Bool, write: Write) {
    live?.withdraw(isVisible: isVisible, write)
  }
}

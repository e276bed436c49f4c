package import WeftExecution
package import WeftPlanning

/// Shows a run to people while it goes on.
///
/// The module's tour: events come in, text goes out, and nothing here can affect a run.
/// * ``DisplaySettings`` decides from the surroundings between the two displays.
/// * ``PlainReporter``: one line for each thing that happens, for logs and pipes.
/// * ``LiveReporter``: lines that scroll away above an area that is redrawn, for terminals.
/// * `RunProgress` folds events into what both show; `RunSummary` is how both end.
/// * `DisplayText` is the one place where foreign text is made harmless.
///
/// A reporter owns no clock, file or thread. Its caller, in a loop, waits for events or until
/// ``nextRedraw``, whichever comes first, and calls
/// ``handle(_:now:size:log:remaining:write:)``, which writes nothing after `runFinished`.
package struct Reporter: Sendable {
  /// Where bytes go. The plain display tells the run on standard output, what steps wrote to their
  /// standard error included, because only one stream keeps the order; how a run failed goes to
  /// standard error. The live display uses `output` alone.
  package enum Channel: Sendable, Hashable {
    case output
    case errors
  }

  /// Bytes of a step's log; fewer than asked for when the log has no more.
  package typealias ReadLog = (StepAddress, Range<UInt64>) -> [UInt8]
  /// Called with a whole frame, or with whole lines of about 64 KiB together.
  package typealias Write = (Channel, [UInt8]) -> Void

  private enum Display: Sendable {
    case plain(PlainReporter)
    case live(LiveReporter)
  }

  private var display: Display

  package init(_ settings: DisplaySettings, labels: StepLabels) {
    display =
      switch settings.mode {
      case .plain: .plain(PlainReporter(settings, labels: labels))
      case .live: .live(LiveReporter(settings, labels: labels))
      }
  }

  /// When ``handle(_:now:size:log:remaining:write:)`` wants to be called though nothing has happened, as a time
  /// since the run's start; `nil`: not before the next event.
  package var nextRedraw: Duration? {
    switch display {
    case .plain: nil
    case .live(let live): live.nextRedraw
    }
  }

  /// Shows what has happened, and what time it is.
  ///
  /// - Parameters:
  ///   - events: All new events in order; none for a redraw.
  ///   - now: Time since the run's start.
  ///   - size: Asked once for each frame, as terminals change their size; `nil` while nothing is to be
  ///     redrawn, as in the background. What has ended by then is shown later, and the run's end at once.
  ///   - log: Asked for output of which the events were dropped.
  ///   - remaining: Asked once for each frame how much longer the run takes; `nil` while nobody can say.
  package mutating func handle(
    _ events: [RunEvent], now: Duration, size: () -> DisplaySize?, log: ReadLog,
    remaining: () -> Duration? = { nil }, write: Write
  ) {
    switch display {
    case .plain(var plain):
      display = .plain(PlainReporter.spent)
      plain.handle(events, log: log, write: write)
      display = .plain(plain)
    case .live(var live):
      display = .live(LiveReporter.spent)
      live.handle(
        events, now: now, size: size, log: log, remaining: remaining, write: write)
      display = .live(live)
    }
  }

  /// Takes away what would be redrawn, so that others may write to the screen; the next frame draws it
  /// again. What has happened until now is shown before, where `isVisible`.
  package mutating func withdraw(isVisible: Bool, write: Write) {
    guard case .live(var live) = display else { return }
    display = .live(LiveReporter.spent)
    live.withdraw(isVisible: isVisible, write)
    display = .live(live)
  }
}

public import WeftEvents
import WeftPlatform
import WeftRecord

/// The events of a run of this or another process, as its journal and its logs have them.
///
/// The sequence begins with the run's last engine; what an earlier one did appears as restored. Output is that of a
/// log, so all of it counts as standard output. The sequence ends when the run has ended, is suspended, or has lost its
/// engine: ``FileRunStore/recorded(_:)`` says which. When another engine resumes the run, `runStarted` follows.
///
/// A run that was removed has no events. Each iterator reads from the beginning, and looks for news 20 times per second while nothing happens.
public struct FollowedEvents: AsyncSequence, Sendable {
  private let run: RunID
  private let directory: StateDirectory

  init(_ run: RunID, in directory: StateDirectory) {
    self.run = run
    self.directory = directory
  }

  /// Begins to read the run.
  public func makeAsyncIterator() -> Iterator {
    Iterator((try? FollowedRun(run, in: directory)).map(RunPoller.init))
  }

  /// Reads one run from its beginning.
  public struct Iterator: AsyncIteratorProtocol {
    /// `nil` when nothing more can come.
    private var poller: RunPoller?
    /// Read and not yet returned, last first.
    private var taken: [RunEvent] = []

    init(_ poller: RunPoller?) { self.poller = poller }

    /// The next event; `nil` after the last one, or if the waiting task is cancelled.
    public mutating func next() async -> RunEvent? {
      while taken.isEmpty {
        guard !Task.isCancelled, var poller else { return nil }
        if poller.isIdle { try? await Task.sleep(for: RunPoller.pause) }
        var found: [RunEvent] = []
        let finding = poller.poll { update in
          if case .happened(let events) = update { found += events }
        }
        taken = found.reversed()
        self.poller = if case .continues = finding { poller } else { nil }
      }
      return taken.popLast()
    }
  }
}

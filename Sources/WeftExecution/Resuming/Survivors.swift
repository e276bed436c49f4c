import WeftPlanning
package import WeftPlatform

/// What the steps of a run have left running whose engines are gone.
package struct Survivors {
  private let run: RunID
  private let engines: [RecordedEngine]
  private let search = RunSearch(membership: RunCookie.membership)

  /// - Parameter past: What is recorded of the run.
  package init(of run: RunID, past: RecordedRun) {
    self.run = run
    engines = past.engines
  }

  /// The processes that are alive now, those left out that `"leftovers": "keep"` spares.
  package var processes: [ProcessStatus] { search.processes(of: run.text, startedBy: engines) }

  /// Asks all of them to end, and kills those that do not; blocks until they are dead or cannot be killed.
  package func end() -> StraysEnd {
    StraysEnding(policy: StopPolicy(), stop: StopSwitch()) { processes }.end()
  }

  /// What to tell of those that could not be killed.
  package static let help = "they may be another user's, or wait for a device"
}

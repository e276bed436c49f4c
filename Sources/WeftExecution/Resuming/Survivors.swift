import WeftPlanning
package import WeftPlatform

/// What the steps of a run whose engine was killed have left running.
package struct Survivors {
  private let run: String
  private let search: RunSearch

  package init(
    of run: String, _ search: RunSearch = RunSearch(membership: RunCookie.membership)
  ) {
    (self.run, self.search) = (run, search)
  }

  /// Those that are alive now.
  package var processes: [ProcessStatus] { search.runs()[run]?.processes ?? [] }

  /// Asks all of them to end, and kills those that do not; blocks until they are dead or cannot be killed.
  package func end() -> StraysEnd {
    StraysEnding(policy: StopPolicy(), stop: StopSwitch()) { processes }.end()
  }

  /// What to tell of those that could not be killed.
  package static let help = "they may be another user's, or wait for a device"
}

import WeftDiagnostics
import WeftExecution
import WeftPlatform

/// What the steps of a run whose weft was killed have left running.
struct Survivors {
  private let run: String
  private let search: RunSearch

  init(of run: String, _ search: RunSearch = RunSearch(membership: RunCookie.membership)) {
    (self.run, self.search) = (run, search)
  }

  private var processes: [ProcessStatus] { search.runs()[run]?.processes ?? [] }

  var areThere: Bool { !processes.isEmpty }

  /// Asks all of them to end, and kills those that do not; blocks until they are dead or cannot be killed.
  func end() -> StraysEnd {
    StraysEnding(policy: StopPolicy(), stop: StopSwitch()) { processes }.end()
  }

  /// In a message.
  static func names(_ processes: [ProcessRecord]) -> String {
    processes.map { "\($0.id) (\(TerminalText.harmless($0.command)))" }.joined(separator: ", ")
  }

  /// What to tell of those that could not be killed.
  static let help = "they may be another user's, or wait for a device"
}

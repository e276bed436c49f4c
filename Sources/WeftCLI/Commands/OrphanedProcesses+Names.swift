import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftPlatform

extension OrphanedProcesses {
  /// Returns the processes in a message.
  static func names(_ processes: [ProcessRecord]) -> String {
    processes.map { "\($0.id) (\(TerminalText.harmless($0.command)))" }.joined(separator: ", ")
  }
}

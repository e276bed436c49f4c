import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftPlatform

/// The directory and file that a journal names, unless the user has named them too.
///
/// The journal decides which file runs, and in which directory. A modified journal could run any program as the user
/// resuming it. The user therefore confirms with `--trust-record` everything that does not follow from the place
/// where the command is called.
struct RecordedLocation {
  private let run: RunID
  private let opening: RecordOpening
  private let stateDirectory: String

  init(_ run: RunID, _ opening: RecordOpening, in stateDirectory: String) {
    self.run = run
    self.opening = opening
    self.stateDirectory = stateDirectory
  }

  /// Rejects a directory other than the working directory and the parent of the state directory, and a file outside
  /// the directory.
  func check() throws(Refusal) {
    if let directory = opening.directory, !isPresent(directory) {
      throw Refusal(
        .usage,
        "the record says that run \(run) began in \(quoted(directory)), which is not this directory",
        help: "call weft resume there; --trust-record goes on there without that")
    }
    guard let file = opening.file else { return }
    if file == "<stdin>" {
      throw Refusal(
        .usage,
        "the workflow of run \(run) came from standard input: only the record says what it runs",
        help: "--trust-record runs what the record holds")
    }
    guard isInside(file) else {
      throw Refusal(
        .usage,
        "the record says that run \(run) is of \(quoted(file)), which is outside of the run's directory",
        help: "--trust-record runs that file")
    }
  }

  private func isPresent(_ directory: String) -> Bool {
    guard let recorded = try? FileStamp(at: directory) else { return false }
    return [".", "\(stateDirectory)/.."].contains { path in
      guard let present = try? FileStamp(at: path) else { return false }
      return present.device == recorded.device && present.inode == recorded.inode
    }
  }

  private func isInside(_ file: String) -> Bool {
    guard file.hasPrefix("/") else { return Command.Caching.names(file, in: []) != nil }
    guard let directory = opening.directory else { return false }
    return file.hasPrefix(directory == "/" ? "/" : directory + "/") && !file.contains("/../")
  }
}

import Weft
import WeftDiagnostics
import WeftEvents
import WeftPlatform
import WeftReporting

/// The runs in one state directory, found by the names that users type.
struct RecordedRuns {
  let state: StateDirectory

  var store: FileRunStore { FileRunStore(directory: state.path) }

  /// - Throws: If the directory does not exist or is not safe to read.
  init(in place: RecordDirectory) throws(CommandFailure) {
    do { state = try StateDirectory(place.path, makes: false) } catch {
      if case .place(let fault) = error, fault.error == .notFound {
        throw RecordedRuns.missingRun(in: place.path)
      }
      throw CommandFailure(error)
    }
  }

  /// Opens the state directory for a command about all runs, for which a missing directory is not an error.
  ///
  /// - Returns: `nil` if there is no state directory, and none was named.
  static func all(in place: RecordDirectory) throws(CommandFailure) -> StateDirectory? {
    do { return try StateDirectory(place.path, makes: false) } catch {
      guard case .place(let fault) = error, fault.error == .notFound else {
        throw CommandFailure(error)
      }
      if !place.isNamed { return nil }
      throw missingRun(in: place.path)
    }
  }

  /// Returns the run that the user means.
  ///
  /// - Parameter wanted: An ID or its beginning; `nil` for the latest run.
  func chosen(_ wanted: String?) throws(CommandFailure) -> RunID {
    let runs = state.ids
    guard let wanted else {
      guard let latest = state.newestFirst(atMost: 1).first else {
        throw RecordedRuns.missingRun(in: state.path)
      }
      return latest
    }
    let matches = runs.filter { $0.text.hasPrefix(wanted) }
    guard let match = matches.first, !wanted.isEmpty else {
      throw CommandFailure(
        .usage, "no run \"\(wanted)\" is recorded in \"\(state.path)\"",
        help: WorkflowLookup().workflow(named: wanted) == nil
          ? "\"weft runs\" lists the runs there"
          : "\"\(wanted)\" is a workflow, not a run: \"weft runs\" lists the runs; without a name, "
            + "\"weft show\" shows the latest")
    }
    guard matches.count == 1 || match.text == wanted else {
      throw CommandFailure(
        .usage, "\"\(wanted)\" matches several runs",
        help: "name one: " + matches.suffix(10).map(\.text).joined(separator: ", "))
    }
    return match
  }

  private static func missingRun(in place: String) -> CommandFailure {
    CommandFailure(
      .usage, "no run is recorded in \"\(place)\"",
      help: "use --state-dir DIR to find runs elsewhere")
  }
}

/// The location of recorded runs.
struct RecordDirectory: Sendable, Hashable {
  /// The value of `--state-dir`.
  private let option: String?
  /// The value of `-C`, to which the other one is relative.
  private let start: String?

  init(option: String?, start: String?) { (self.option, self.start) = (option, start) }

  init(_ parsed: ParsedArguments) {
    option = parsed.value(of: .stateDirectory) ?? parsed.value(of: .records)
    start = parsed.value(of: .directory)
  }

  var isNamed: Bool { option != nil }

  var path: String {
    if let option { return option }
    if let named = ThisProcess.variable(StateDirectory.variable), !named.isEmpty { return named }
    return WorkflowLookup().stateDirectory ?? StateDirectory.defaultName
  }

  /// Returns the arguments that identify a run to a command.
  func words(for run: RunID) -> String {
    [
      run.text, start.map { "-C \(ShellWord.quoted($0))" },
      option.map { "--state-dir \(ShellWord.quoted($0))" },
    ].compactMap(\.self).joined(separator: " ")
  }

  /// Returns the run for the commands that the display suggests.
  func reference(to run: RunID, isRecorded: Bool = true) -> RunReference {
    RunReference(id: run.text, arguments: isRecorded ? words(for: run) : nil)
  }
}

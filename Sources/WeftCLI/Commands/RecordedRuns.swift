import WeftEvents
import WeftPlatform
import WeftRecord

/// The runs in one state directory, found by the names that users type.
struct RecordedRuns {
  let state: StateDirectory

  /// - Throws: If the directory does not exist or is not safe to read.
  init(in place: String) throws(Refusal) {
    do { state = try StateDirectory(place, makes: false) } catch {
      if case .place(let fault) = error, fault.error == .notFound {
        throw RecordedRuns.noRun(in: place)
      }
      throw Refusal(error)
    }
  }

  /// Opens the state directory for a command about all runs, for which a missing directory is not an error.
  ///
  /// - Parameter option: The value of `--state-dir`.
  /// - Returns: `nil` if there is no state directory, and none was named.
  static func all(in option: String?) throws(Refusal) -> StateDirectory? {
    let place = RecordPlace.path(option)
    do { return try StateDirectory(place, makes: false) } catch {
      guard case .place(let fault) = error, fault.error == .notFound else { throw Refusal(error) }
      if option == nil { return nil }
      throw noRun(in: place)
    }
  }

  /// Returns the run that the user means.
  ///
  /// - Parameter wanted: An ID or its beginning; `nil` for the latest run.
  func chosen(_ wanted: String?) throws(Refusal) -> RunID {
    let runs = state.ids
    guard let wanted else {
      guard let latest = state.newestFirst(atMost: 1).first else {
        throw RecordedRuns.noRun(in: state.path)
      }
      return latest
    }
    let matches = runs.filter { $0.text.hasPrefix(wanted) }
    guard let match = matches.first, !wanted.isEmpty else {
      throw Refusal(
        .usage, "no run \"\(wanted)\" is recorded in \"\(state.path)\"",
        help: "\"weft runs\" lists the runs there")
    }
    guard matches.count == 1 || match.text == wanted else {
      throw Refusal(
        .usage, "\"\(wanted)\" is the beginning of several runs",
        help: "name one: " + matches.suffix(10).map(\.text).joined(separator: ", "))
    }
    return match
  }

  private static func noRun(in place: String) -> Refusal {
    Refusal(
      .usage, "no run is recorded in \"\(place)\"",
      help: "--state-dir DIR names where the records are")
  }
}

/// The location of recorded runs.
enum RecordPlace {
  /// - Parameter option: The value of `--state-dir`.
  static func path(_ option: String?) -> String {
    if let option { return option }
    if let named = ThisProcess.variable(StateDirectory.variable), !named.isEmpty { return named }
    return StateDirectory.defaultName
  }

  /// Returns the hint for output that is shown only in part.
  ///
  /// - Parameter words: The result of ``words(for:stateDirectory:)``.
  static func wayToLogs(of words: String) -> String { "all lines: weft logs \(words) STEP" }

  /// Returns the arguments that identify a run to a command.
  static func words(for run: RunID, stateDirectory option: String?) -> String {
    option.map { "\(run) --state-dir \(ShellWord.quoted($0))" } ?? run.text
  }
}

extension RunInvocation {
  var recordDirectory: String { RecordPlace.path(stateDirectory) }
}

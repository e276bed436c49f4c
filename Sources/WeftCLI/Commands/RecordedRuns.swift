import WeftExecution
import WeftPlatform
import WeftRecord

/// The runs that are recorded in one place, by the names that command lines have for them.
struct RecordedRuns {
  let state: StateDirectory

  /// - Throws: When there is no such place, or it is not safe to read.
  init(in place: String) throws(Refusal) {
    do { state = try StateDirectory(place, makes: false) } catch {
      if case .place(let fault) = error, fault.error == .notFound {
        throw RecordedRuns.noRun(in: place)
      }
      throw Refusal(error)
    }
  }

  /// The records for a command that is about all runs: that there is none yet is no error of such a command.
  ///
  /// - Parameter option: What `--state-dir` says.
  /// - Returns: `nil` if there is no state directory, and none was named.
  static func all(in option: String?) throws(Refusal) -> StateDirectory? {
    let place = RecordPlace.path(option)
    do { return try StateDirectory(place, makes: false) } catch {
      guard case .place(let fault) = error, fault.error == .notFound else { throw Refusal(error) }
      if option == nil { return nil }
      throw noRun(in: place)
    }
  }

  /// - Parameter wanted: An id or the beginning of one; `nil`: the latest.
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

/// Where the records of runs are.
enum RecordPlace {
  /// - Parameter option: What `--state-dir` says.
  static func path(_ option: String?) -> String {
    if let option { return option }
    if let named = ThisProcess.variable(StateDirectory.variable), !named.isEmpty { return named }
    return StateDirectory.defaultName
  }

  /// For who sees only the end of what a step has written.
  ///
  /// - Parameter words: As ``words(for:stateDirectory:)`` has them.
  static func wayToLogs(of words: String) -> String { "all lines: weft logs \(words) STEP" }

  /// What is to be typed behind a command to have it find a run.
  static func words(for run: RunID, stateDirectory option: String?) -> String {
    option.map { "\(run) --state-dir \(ShellWord.quoted($0))" } ?? run.text
  }
}

extension RunInvocation {
  var recordDirectory: String { RecordPlace.path(stateDirectory) }
}

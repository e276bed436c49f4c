import Weft
import WeftEvents
import WeftPlatform
import WeftReports

/// `weft diff`: shows what differs between two recorded runs, from the earlier to the later one.
struct DiffCommand: Subcommand {
  /// IDs or their beginnings: none for the latest run, one for a run and the previous one of its file.
  private let runs: [String]
  private let format: RunDetailFormat
  private let place: RecordDirectory

  init(_ parsed: ParsedArguments) throws(UsageError) {
    runs = parsed.operands
    format = try parsed.word(of: .runDetailFormat) ?? .text
    place = RecordDirectory(parsed)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    let recorded = try RecordedRuns(in: place)
    let run = try recorded.chosen(runs.first)
    let other =
      if runs.count > 1 { try recorded.chosen(runs[1]) } else { try recorded.previous(to: run) }
    let sides = try [other, run].map { run throws(CommandFailure) in
      try ReportedRun(reading: run, in: recorded.state, called: place.words(for: run))
    }
    // Runs of the same moment stay in the order of the arguments.
    let isReversed =
      sides[1].recorded.startedAt.map(\.nanoseconds) ?? 0
      < sides[0].recorded.startedAt.map(\.nanoseconds) ?? 0
    let difference = RunDifference(
      from: sides[isReversed ? 1 : 0], to: sides[isReversed ? 0 : 1])
    console.output.write(difference.rendered(as: format, console.output.displaySettings))
    return sides.contains(where: \.isDamaged) ? .broken : .success
  }
}

extension RecordedRuns {
  /// Returns the run of the same file, or workflow built in Swift, that began before this one.
  fileprivate func previous(to run: RunID) throws(CommandFailure) -> RunID {
    guard let own = state.glance(at: run) else {
      throw CommandFailure(.unknown(run, in: state.path))
    }
    var isEarlier = false
    let found = state.list(atMost: 1) { entry in
      if entry.run == run {
        isEarlier = true
        return false
      }
      return isEarlier && entry.state != .damaged && entry.file == own.file
        && (own.file != nil || entry.workflow == own.workflow)
    }
    guard let previous = found.first else {
      let name = own.file ?? own.workflow ?? run.text
      throw CommandFailure(
        .usage, "no run of \"\(name)\" before \(run) is recorded",
        help: "name the other run: weft diff RUN RUN; \"weft runs\" lists them")
    }
    return previous.run
  }
}

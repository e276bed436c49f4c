import Weft
import WeftEvents
import WeftPlatform
import WeftReporting

/// `weft runs`: lists recorded runs, the newest first.
struct RunsCommand: Subcommand {
  /// Empty for any state.
  private let states: Set<RecordedState>
  /// The name of the file or workflow; `nil` for any.
  private let file: String?
  /// Nanoseconds since 1970; `nil` for no limit.
  private let since: Int64?
  private let until: Int64?
  private let limit: Int?
  private let format: RunListFormat
  private let place: RecordDirectory

  init(_ parsed: ParsedArguments) throws(UsageError) {
    states = Set(try parsed.words(of: .runState))
    file = parsed.value(of: .runFile)
    let now = WallClock.now.nanoseconds
    since = try parsed.moment(of: .since, now: now)
    until = try parsed.moment(of: .until, now: now)
    limit = try parsed.count(of: .runLimit, in: 1...1_000_000)
    format = try parsed.word(of: .runListFormat) ?? .table
    place = RecordDirectory(parsed)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    report(try runs(), console)
    return .success
  }

  private func runs() throws(CommandFailure) -> [RunListEntry] {
    try RecordedRuns.all(in: place)?.list(atMost: limit ?? .max, where: wants) ?? []
  }

  private func wants(_ run: RunListEntry) -> Bool {
    if !states.isEmpty, !states.contains(run.state) { return false }
    if let file, !run.isCalled(file) { return false }
    // The ID of an unreadable run still contains its start, to the second.
    let start = (run.startedAt ?? run.run.startedAt)?.nanoseconds ?? 0
    if let since, start < since { return false }
    if let until, start >= until { return false }
    return true
  }

  private func report(_ runs: [RunListEntry], _ console: Console) {
    switch format {
    case .json: console.output.write(RunListJSON.rendered(runs))
    case .csv: console.output.write(RunListCSV.rendered(runs))
    case .table where runs.isEmpty: console.errors.write("weft: no matching run is recorded\n")
    case .table:
      let now = WallTime.now
      console.output.write(
        RunTable(console.output.displaySettings, now: now).rendered(runs))
    }
  }
}

extension RunListEntry {
  /// Whether the name is that of the workflow, the path of the file, or the end of that path.
  fileprivate func isCalled(_ name: String) -> Bool {
    workflow == name || file == name || file?.hasSuffix("/" + name) == true
  }
}

enum RunListFormat: String, CaseIterable {
  case table, json, csv
}

extension ParsedArguments {
  /// Parses a time: a date, RFC 3339, or the duration since then.
  func moment(of option: Option, now: Int64) throws(UsageError) -> Int64? {
    guard let found = value(of: option) else { return nil }
    if let duration = try? DurationText.duration(from: found) {
      return Timestamp(nanoseconds: now).advanced(by: .zero - duration).nanoseconds
    }
    for text in [found, found + "T00:00:00Z"] {
      if let moment = try? MomentText.moment(from: text) { return moment.nanoseconds }
    }
    throw .wrongValue(
      of: "\"\(option.name)\"", found: found,
      wanted: "a duration such as 2d or 1h30m, a date, or a date and time with its offset from UTC",
      help: "for example: \(option.name) 2d, \(option.name) 2026-11-20, "
        + "\(option.name) 2026-11-20T09:00:00Z", command)
  }
}

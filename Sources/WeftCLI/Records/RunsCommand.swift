import Weft
import WeftDefinition
import WeftEvents
import WeftPlanning
import WeftPlatform
import WeftReporting

/// `weft runs`: lists recorded runs, the newest first.
struct RunsCommand: Subcommand {
  /// Empty for any state.
  private let states: Set<RecordedState>
  private let failures: FailureFilter
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
    failures = try FailureFilter(parsed)
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
    guard let state = try RecordedRuns.all(in: place) else { return [] }
    return state.list(atMost: limit ?? .max) { wants($0) && failures.isMet(by: $0, in: state) }
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

  /// Whether options leave out runs, other than by their number.
  private var isFiltered: Bool {
    !states.isEmpty || !failures.isEmpty || file != nil || since != nil || until != nil
  }

  private func report(_ runs: [RunListEntry], _ console: Console) {
    if format == .table, runs.isEmpty {
      console.errors.write("weft: no \(isFiltered ? "matching " : "")run is recorded\n")
    } else {
      console.output.write(runs.rendered(as: format, console.output.displaySettings))
    }
  }
}

/// The failures that a listed run must have.
private struct FailureFilter {
  /// Empty for any class.
  private let classes: Set<ErrorClass>
  /// Steps and groups; empty for any.
  private let steps: [StepAddress]

  init(_ parsed: ParsedArguments) throws(UsageError) {
    var classes: Set<ErrorClass> = []
    for name in parsed.values(of: .failureClass) {
      guard let known = ErrorClass(name) ?? (name == ErrorClass.inDoubt.name ? .inDoubt : nil)
      else {
        throw .wrongValue(
          of: "\"\(Option.failureClass.name)\"", found: name, wanted: "an error class",
          help: ErrorClass.nearest(to: name).asSuggestion ?? ErrorClass.list, parsed.command)
      }
      classes.insert(known)
    }
    self.classes = classes
    steps = parsed.values(of: .failedStep).map(StepAddress.init)
  }

  var isEmpty: Bool { classes.isEmpty && steps.isEmpty }

  /// Whether something in the run failed in this way, tolerated or not. Reads the whole journal if it mentions such a
  /// failure: a group may have failed in a run that succeeded, and whose steps did not fail.
  func isMet(by run: RunListEntry, in state: StateDirectory) -> Bool {
    if isEmpty { return true }
    guard state.mayHaveFailed(run.run, with: classes), let detail = try? state.detail(of: run.run)
    else { return false }
    let failures = detail.failures.filter { _, failure in
      classes.isEmpty || failure.classes.contains(where: classes.contains)
    }
    if steps.isEmpty || failures.isEmpty { return !failures.isEmpty }
    let addresses = RecordedPlan(run.run, detail.recorded.lastOpening, in: state).plan
      .map { PlanAddresses($0) }
    return failures.contains { failed, _ in
      guard let failed else { return false }
      return steps.contains { addresses?.isInside(failed, $0) ?? failed.isInside($0) }
    }
  }
}

extension RunDetail {
  /// The failures of steps, those of groups that no member caused, and that of the run itself, which has no address.
  fileprivate var failures: [(address: StepAddress?, failure: StepFailure)] {
    var found: [(StepAddress?, StepFailure)] = steps.compactMap { address, step in
      guard case .finished(let end, _) = step.state, let failure = end.failure else { return nil }
      return (address, failure)
    }
    for (address, group) in recorded.groups {
      guard let end = group.end, end.cause == nil, let failure = end.failure
      else { continue }
      found.append((address, failure))
    }
    if let failure = recorded.end?.failure { found.append((nil, failure)) }
    return found
  }
}

extension RunListEntry {
  /// Whether the name is that of the workflow, the path of the file, or the end of that path.
  fileprivate func isCalled(_ name: String) -> Bool {
    workflow == name || file == name || file?.hasSuffix("/" + name) == true
  }
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

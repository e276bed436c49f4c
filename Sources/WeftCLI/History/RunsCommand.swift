import WeftEvents
import WeftPlatform
import WeftRecord
import WeftReporting

/// `weft runs`: lists recorded runs, the newest first.
struct RunsCommand {
  private let invocation: RunsInvocation
  private let console: Console

  init(_ invocation: RunsInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  func execute() -> ExitCode {
    do throws(Refusal) {
      report(try runs())
      return .success
    } catch {
      return console.refuse(error)
    }
  }

  private func runs() throws(Refusal) -> [RunListEntry] {
    guard let state = try RecordedRuns.all(in: invocation.stateDirectory) else { return [] }
    var runs: [RunListEntry] = []
    for run in state.newestFirst() {
      guard runs.count < invocation.limit ?? .max else { break }
      if let glance = state.glance(at: run), invocation.wants(glance) { runs.append(glance) }
    }
    return runs
  }

  private func report(_ runs: [RunListEntry]) {
    switch invocation.format {
    case .json: console.output.write(RunListJSON.rendered(runs))
    case .csv: console.output.write(RunListCSV.rendered(runs))
    case .table where runs.isEmpty: console.errors.write("weft: no such run is recorded\n")
    case .table:
      let now = WallTime(nanoseconds: WallClock.now.nanoseconds)
      console.output.write(
        RunTable(console.output.displaySettings, now: now).rendered(runs))
    }
  }
}

extension RunsInvocation {
  func wants(_ run: RunListEntry) -> Bool {
    if !states.isEmpty, !states.contains(run.state) { return false }
    if let file, !run.isCalled(file) { return false }
    // The ID of an unreadable run still contains its start, to the second.
    if let since, (run.startedAt ?? run.run.startedAt)?.nanoseconds ?? 0 < since { return false }
    return true
  }
}

extension RunListEntry {
  /// Whether the name is that of the workflow, the path of the file, or the end of that path.
  fileprivate func isCalled(_ name: String) -> Bool {
    workflow == name || file == name || file?.hasSuffix("/" + name) == true
  }
}

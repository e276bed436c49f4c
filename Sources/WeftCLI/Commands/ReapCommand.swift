import WeftExecution
import WeftPlatform

/// `weft reap`: ends what a weft that was killed has left running.
struct ReapCommand {
  /// An id or the beginning of one; `nil`: the latest.
  private let wanted: String?
  private let console: Console

  init(run: String?, _ console: Console) {
    wanted = run
    self.console = console
  }

  func execute() -> ExitCode {
    defer { RunSearch.clear() }
    let search = RunSearch(membership: RunCookie.membership)
    do {
      guard let run = try chosen(from: search.runs()) else {
        console.output.write("nothing is left of any run\n")
        return .success
      }
      return reap(run.run, search)
    } catch {
      return console.refuse(error)
    }
  }

  /// The run to be reaped; `nil` if nothing is left and none was asked for.
  private func chosen(from runs: [String: FoundRun]) throws(Refusal) -> FoundRun? {
    guard let wanted else {
      // Ids sort by time.
      return runs.values.filter { $0.engine == nil }.max { $0.run < $1.run }
    }
    let matches = runs.values.filter { $0.run.hasPrefix(wanted) }.sorted { $0.run < $1.run }
    guard let match = matches.first, !wanted.isEmpty else {
      throw Refusal(
        .usage, "nothing is alive of a run \"\(wanted)\"",
        help: runs.isEmpty
          ? nil
          : "these have something alive: " + runs.keys.sorted().joined(separator: ", "))
    }
    guard matches.count == 1 || match.run == wanted else {
      throw Refusal(
        .usage, "\"\(wanted)\" is the beginning of several runs",
        help: "name one: " + matches.map(\.run).joined(separator: ", "))
    }
    if let engine = match.engine {
      throw Refusal(
        .broken, "the weft of run \(match.run) is alive (pid \(engine))",
        help: "to end the run: kill \(engine)")
    }
    return match
  }

  private func reap(_ run: String, _ search: RunSearch) -> ExitCode {
    let end = Survivors(of: run, search).end()
    if !end.ended.isEmpty {
      console.output.write("run \(run): ended \(Survivors.names(end.ended))\n")
    }
    guard !end.survivors.isEmpty else { return .success }
    console.complain(
      Complaint(
        "run \(run): could not end \(Survivors.names(end.survivors))", help: Survivors.help))
    return .broken
  }
}

/// How many programs can run at once, as far as open files go.
package struct DescriptorBudget: Sendable, Hashable {
  /// New descriptors get numbers below this: the soft `RLIMIT_NOFILE`.
  package var limit: Int
  /// How many of those numbers are taken by others. Descriptors numbered higher, which a process may
  /// have inherited, take nothing away.
  package var open: Int

  package init(limit: Int, open: Int) {
    self.limit = limit
    self.open = open
  }

  /// While a program starts, the engine holds both ends of its three pipes, the descriptor of its exit,
  /// its thread's wake, and its control group's directory and events. When it runs, three are closed.
  package static let perProgram = 10

  /// For what the engine opens in passing: a listing of processes, a copy of a log, a file to read.
  package static let reserve = 8

  /// What a run holds from its beginning to its end: its folder with logs, control, lock, reserve and journal,
  /// `/dev/null`, and the control group with its place and its events.
  package static let perRun = 11

  /// The limit under which a run with one program at a time can begin.
  package var fewest: Int { open + Self.perRun + Self.perProgram }

  /// How many programs can run at once; at least one is always tried.
  ///
  /// - Parameter extra: What each program needs beside ``perProgram``.
  package func programs(extra: Int = 0) -> Int {
    max(1, (limit - open - Self.reserve) / (Self.perProgram + extra))
  }

  /// The limit under which so many programs could run at once.
  package func limit(forPrograms count: Int, extra: Int = 0) -> Int {
    open + Self.reserve + count * (Self.perProgram + extra)
  }
}

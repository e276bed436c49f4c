/// The number of programs that can run at the same time within the limit of open files.
package struct DescriptorBudget: Sendable, Hashable {
  /// The soft `RLIMIT_NOFILE`: new descriptors get numbers below it.
  package var limit: Int
  /// The number of descriptors below the limit that are already open. Higher ones, which a process may have inherited,
  /// do not reduce the budget.
  package var open: Int

  package init(limit: Int, open: Int) {
    self.limit = limit
    self.open = open
  }

  /// The descriptors per program. While it is spawned, the engine holds both ends of its three pipes, its exit
  /// descriptor, its thread's wake descriptor, and its control group's directory and events. Once it runs, three are
  /// closed.
  package static let perProgram = 10

  /// The descriptors for files that the engine opens briefly: a process listing, a copy of a log, a file to read.
  package static let reserve = 8

  /// The descriptors that a run holds from beginning to end: its folder with logs, control, lock, reserve and journal,
  /// `/dev/null`, and the control group with its parent and its events.
  package static let perRun = 11

  /// The lowest limit with which a run can start, with one program at a time.
  package var fewest: Int { open + Self.perRun + Self.perProgram }

  /// The number of programs that can run at the same time; always at least one.
  ///
  /// - Parameter extra: The descriptors that each program needs in addition to ``perProgram``.
  package func programs(extra: Int = 0) -> Int {
    max(1, (limit - open - Self.reserve) / (Self.perProgram + extra))
  }

  /// The lowest limit with which `count` programs can run at the same time.
  package func limit(forPrograms count: Int, extra: Int = 0) -> Int {
    open + Self.reserve + count * (Self.perProgram + extra)
  }
}

package import WeftEvents
import WeftPlatform

extension StateDirectory {
  /// Returns the runs, the newest first. IDs contain the second in which a run began; only runs that began in the
  /// same second are compared by their journals.
  ///
  /// - Parameter limit: The maximum number of runs.
  package func newestFirst(atMost limit: Int = .max) -> [RunID] {
    var rest = ids[...]
    var runs: [RunID] = []
    while let last = rest.last, runs.count < limit {
      let alike = rest.suffix(while: { $0.second == last.second })
      rest = rest.dropLast(alike.count)
      runs += alike.count == 1 ? Array(alike) : ordered(alike)
    }
    return Array(runs.prefix(limit))
  }

  private func ordered(_ runs: ArraySlice<RunID>) -> [RunID] {
    let known = runs.map { (run: $0, began: beginning(of: $0) ?? 0) }
    return known.sorted { ($0.began, $0.run.text) > ($1.began, $1.run.text) }.map(\.run)
  }

  /// Returns nanoseconds since 1970.
  private func beginning(of run: RunID) -> Int64? {
    guard let folder = try? folder(of: run),
      let file = try? folder.file(RunFolder.journalName, .reading)
    else { return nil }
    let ends = JournalEnds(file, of: run, named: "", limits: JournalLimits())
    return (try? ends.opening())??.at.nanoseconds
  }
}

extension RunID {
  fileprivate var second: Substring { text.prefix(15) }
}

extension ArraySlice {
  /// Returns the longest suffix whose elements all satisfy the condition.
  fileprivate func suffix(while isWanted: (Element) -> Bool) -> ArraySlice {
    var start = endIndex
    while start > startIndex, isWanted(self[start - 1]) { start -= 1 }
    return self[start...]
  }
}

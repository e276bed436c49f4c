/// Decides when a watched run starts again, from the times of changes and the files that differ.
///
/// Changes count as one until none has come for ``quiet``. Then the contents of the files are compared with those that
/// the latest run has read: if all are equal, nothing happens.
///
/// A file that changes while a run is under way may have been changed by a step or by the user. Both start a run, but a
/// file that changes in ``limit`` runs one after another counts as one that steps write: from then on, its changes
/// during runs do not count, until a run leaves it alone.
package struct WatchTrigger: Sendable {
  /// The effect of changes on a run under way.
  package enum OnChange: String, Sendable, CaseIterable {
    case restart, finish
  }

  /// The effect of a comparison.
  package enum Effect: Sendable, Hashable {
    case nothing
    /// Cancel the run under way, because of these files.
    case cancel(because: Set<String>)
    /// Start the next run.
    case start
  }

  /// The time without changes that ends a burst.
  package static let quiet = Duration.milliseconds(100)
  /// The longest time for which a burst delays a run.
  package static let patience = Duration.seconds(10)
  /// The number of successive runs in which a file changes until it counts as written by them.
  package static let limit = 5

  private let onChange: OnChange
  private var first: Duration?
  private var last = Duration.zero
  private var isRunning = false
  private var isCancelled = false
  /// The number of successive runs in which each file has changed.
  private var streaks: [String: Int] = [:]
  /// The files that runs write.
  private var written: Set<String> = []

  package init(_ onChange: OnChange) { self.onChange = onChange }

  /// Notes that something has changed.
  package mutating func noticed(at now: Duration) {
    first = first ?? now
    last = now
  }

  /// The time at which to compare the files; `nil` until something changes.
  package var comparisonTime: Duration? {
    guard let first, !isRunning || (onChange == .restart && !isCancelled) else { return nil }
    return min(last + WatchTrigger.quiet, first + WatchTrigger.patience)
  }

  /// Lets the comparison wait because more changes are sure to come.
  ///
  /// - Returns: Whether it may wait any longer.
  package mutating func postpone(at now: Duration) -> Bool {
    guard let first, now < first + WatchTrigger.patience else { return false }
    last = now
    return true
  }

  /// Decides after a comparison at the time for it.
  ///
  /// - Parameters:
  ///   - changed: The files that differ from those that the run has read.
  ///   - read: Those of them that a step reads for sure, by default all; only they can cancel a run.
  package mutating func compared(
    _ changed: Set<String>, areRead read: Set<String>? = nil
  ) -> Effect {
    first = nil
    guard isRunning else {
      guard !changed.isEmpty || isCancelled else { return .nothing }
      isCancelled = false
      return .start
    }
    guard onChange == .restart, !isCancelled else { return .nothing }
    // The last run of a streak has to end: none follows it.
    let isReason = { (file: String) in
      !written.contains(file) && streaks[file, default: 0] < WatchTrigger.limit - 1
    }
    let reasons = (read ?? changed).filter(isReason)
    guard !reasons.isEmpty else { return .nothing }
    isCancelled = true
    return .cancel(because: reasons)
  }

  /// Notes that a run begins, with the files as they are now.
  package mutating func began() {
    isRunning = true
    isCancelled = false
    first = nil
  }

  /// Notes that the run has ended; files that it wrote do not count.
  ///
  /// - Parameter changed: The files that differ from those that it has read.
  /// - Returns: The files that count as written by runs, and those of them that did not before.
  package mutating func ended(
    _ changed: Set<String>, at now: Duration
  ) -> (written: Set<String>, new: Set<String>) {
    isRunning = false
    streaks = Dictionary(uniqueKeysWithValues: changed.map { ($0, streaks[$0, default: 0] + 1) })
    let known = written.intersection(changed)
    written = known.union(
      streaks.filter { $0.value >= WatchTrigger.limit }.map(\.key))
    if isCancelled || !changed.isSubset(of: written) { noticed(at: now) }
    return (written, written.subtracting(known))
  }
}

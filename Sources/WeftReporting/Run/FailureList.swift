import WeftExecution
import WeftPlanning

/// What failed, for the end of the run: a bounded number of failures, in the order they happened.
struct FailureList: Sendable {
  struct Entry: Sendable {
    let address: StepAddress
    /// What happened, in a sentence without its subject.
    let message: String
    let help: String?
    let isTolerated: Bool
    let isGroup: Bool
    let duration: Duration
    /// Empty for a group, and beyond the first few.
    let tail: OutputTail
  }

  /// How many are told by name.
  static let entryLimit = 50
  /// How many are told with their last lines.
  static let tailLimit = 10

  private(set) var entries: [Entry] = []
  /// Failures beyond the limit.
  private(set) var omitted = 0

  /// Whether the last lines of a step that failed now would be shown.
  func wantsTail(of end: StepEnd) -> Bool {
    end.conclusion != .success && entries.count < FailureList.tailLimit
  }

  mutating func add(step address: StepAddress, _ end: StepEnd, tail: OutputTail) {
    add(
      Entry(
        address: address, message: end.failure?.message ?? "failed", help: end.failure?.help,
        isTolerated: end.conclusion == .success, isGroup: false, duration: end.duration,
        tail: tail))
  }

  /// A group that failed by itself; one that failed because of a member adds nothing to it.
  mutating func add(group address: StepAddress, _ end: GroupEnd) {
    guard end.outcome == .failure, end.cause == nil else { return }
    add(
      Entry(
        address: address, message: end.failure?.message ?? "failed", help: end.failure?.help,
        isTolerated: end.conclusion == .success, isGroup: true, duration: end.duration,
        tail: OutputTail()))
  }

  private mutating func add(_ entry: Entry) {
    if entries.count < FailureList.entryLimit {
      entries.append(entry)
    } else {
      omitted += 1
    }
  }

  /// The cause of the run's failure first, then the others; those that were tolerated last.
  func ordered(cause: StepAddress?) -> [Entry] {
    entries.filter { $0.address == cause }
      + entries.filter { $0.address != cause && !$0.isTolerated }
      + entries.filter { $0.address != cause && $0.isTolerated }
  }
}

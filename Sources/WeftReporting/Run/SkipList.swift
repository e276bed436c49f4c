import WeftEvents
import WeftPlanning

/// Skipped steps, grouped by reason.
struct SkipList: Sendable {
  /// A group that is reported in one sentence.
  enum Cause: Sendable, Hashable {
    case reason(SkipReason)
    /// The steps' own conditions.
    case ownConditions
  }

  struct Entry: Sendable {
    let cause: Cause
    var count: Int
    /// The first ones.
    var names: [StepAddress]
  }

  /// The maximum number of names.
  static let nameLimit = 3
  /// The maximum number of distinct reasons.
  static let reasonLimit = 20

  /// The groups in the order in which their reasons first occurred.
  private(set) var entries: [Entry] = []
  /// The number of steps with reasons beyond the limit.
  private(set) var omitted = 0
  private var indices: [Cause: Int] = [:]

  mutating func add(_ address: StepAddress, _ reason: SkipReason) {
    let cause = reason == .condition(of: address) ? Cause.ownConditions : .reason(reason)
    if let index = indices[cause] {
      entries[index].count += 1
      if entries[index].names.count < SkipList.nameLimit { entries[index].names.append(address) }
    } else if entries.count < SkipList.reasonLimit {
      indices[cause] = entries.count
      entries.append(Entry(cause: cause, count: 1, names: [address]))
    } else {
      omitted += 1
    }
  }
}

import WeftExecution
import WeftPlanning

/// Steps that never started, put together by the reason.
struct SkipList: Sendable {
  /// What is told in one sentence.
  enum Cause: Sendable, Hashable {
    case reason(SkipReason)
    /// Conditions of their own.
    case ownConditions
  }

  struct Entry: Sendable {
    let cause: Cause
    var count: Int
    /// The first of them.
    var names: [StepAddress]
  }

  /// How many are told by name.
  static let nameLimit = 3
  /// How many reasons are told apart.
  static let reasonLimit = 20

  /// In the order in which the reasons came up.
  private(set) var entries: [Entry] = []
  /// Steps of reasons beyond the limit.
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

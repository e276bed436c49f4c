import WeftExecution
import WeftPlanning

/// Steps that never started, put together by the reason.
struct SkipList: Sendable {
  struct Entry: Sendable {
    let reason: SkipReason
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
  private var indices: [SkipReason: Int] = [:]

  mutating func add(_ address: StepAddress, _ reason: SkipReason) {
    if let index = indices[reason] {
      entries[index].count += 1
      if entries[index].names.count < SkipList.nameLimit { entries[index].names.append(address) }
    } else if entries.count < SkipList.reasonLimit {
      indices[reason] = entries.count
      entries.append(Entry(reason: reason, count: 1, names: [address]))
    } else {
      omitted += 1
    }
  }
}

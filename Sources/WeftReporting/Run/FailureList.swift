import WeftExecution
import WeftPlanning

/// What failed, for the end of the run: a bounded number of failures, in the order they happened.
///
/// Whether a failure is one of the run's is known only when what is around it has ended: a group may be tried
/// again, a race won by another, some elements may fail.
struct FailureList: Sendable {
  struct Entry: Sendable {
    let address: StepAddress
    /// What happened, in a sentence without its subject.
    let message: String
    let help: String?
    /// Why it does not count, in a few words; `nil` of one that does.
    var pardon: String?
    let isGroup: Bool
    let duration: Duration
    /// How many attempts there were.
    let attempts: Int
    /// Empty for a group, beyond the first few, and of what does not count.
    var tail: OutputTail
    /// What is open around it and may absorb it.
    fileprivate var scopes: [StepAddress]
  }

  /// How many of those that count are told by name, and how many others.
  static let entryLimit = 50
  /// How many are told with their last lines.
  static let tailLimit = 10

  private(set) var entries: [Entry] = []
  private(set) var pardoned: [Entry] = []
  /// Failures beyond the limit, by the outermost of what is around them.
  private var omittedIn: [StepAddress?: Int] = [:]
  /// Beyond the limit of those that do not count.
  private(set) var pardonedOmitted = 0

  /// Failures beyond the limit.
  var omitted: Int { omittedIn.values.reduce(0, +) }

  /// Those of which nobody knew at the time whether they count.
  var undecidedOnes: [Entry] { (entries + pardoned).filter { !$0.scopes.isEmpty } }

  /// Whether the last lines of a step that failed now would be shown.
  func wantsTail(of end: StepEnd) -> Bool {
    end.conclusion != .success && entries.count < FailureList.tailLimit
  }

  /// - Parameter scopes: What is open around it, the nearest first.
  mutating func add(
    step address: StepAddress, _ end: StepEnd, tail: OutputTail, in scopes: [StepAddress] = []
  ) {
    var message = end.failure?.message ?? "failed"
    if let reason = end.notRetried { message += "; not tried again: \(reason)" }
    add(
      Entry(
        address: address, message: message, help: end.failure?.help,
        pardon: end.conclusion == .success ? "tolerated" : nil, isGroup: false,
        duration: end.duration, attempts: end.attempts, tail: tail, scopes: scopes))
  }

  /// A group that failed by itself; one that failed because of a member adds nothing to it.
  ///
  /// - Parameter isFanOut: Whether it stands for many elements.
  mutating func add(
    group address: StepAddress, _ end: GroupEnd, isFanOut: Bool = false,
    in scopes: [StepAddress] = []
  ) {
    guard end.outcome == .failure, end.cause == nil else { return }
    add(
      Entry(
        address: address, message: end.failure?.message ?? "failed", help: end.failure?.help,
        pardon: end.conclusion == .success ? "tolerated" : nil, isGroup: !isFanOut,
        duration: end.duration, attempts: end.attempts, tail: OutputTail(), scopes: scopes))
  }

  private mutating func add(_ entry: Entry) {
    if entry.pardon != nil {
      addPardoned(entry)
    } else if hasRoom(for: entry) {
      entries.append(entry)
    } else {
      omittedIn[entry.scopes.last, default: 0] += 1
    }
  }

  /// Many failures that may turn out not to count leave room for those that do.
  private func hasRoom(for entry: Entry) -> Bool {
    if entries.count < FailureList.entryLimit { return true }
    let isUndecided = !entry.scopes.isEmpty
    let alike = entries.count { !$0.scopes.isEmpty == isUndecided }
    return alike < FailureList.entryLimit
  }

  private mutating func addPardoned(_ entry: Entry) {
    guard pardoned.count < FailureList.entryLimit else {
      pardonedOmitted += 1
      return
    }
    var entry = entry
    entry.tail = OutputTail()
    pardoned.append(entry)
  }

  /// What failed inside of something did not make it fail.
  ///
  /// - Parameter reason: In a few words.
  mutating func pardon(in scope: StepAddress, because reason: String) {
    guard entries.contains(where: { $0.scopes.contains(scope) }) || omittedIn[scope] != nil else {
      return
    }
    pardonedOmitted += omittedIn.removeValue(forKey: scope) ?? 0
    for var entry in entries where entry.scopes.contains(scope) {
      entry.pardon = reason
      addPardoned(entry)
    }
    entries.removeAll { $0.scopes.contains(scope) }
  }

  /// What did not count for a reason does not for another, or counts after all.
  ///
  /// - Parameter revised: `nil`: it counts.
  mutating func revise(_ reason: String, in scope: StepAddress, to revised: String?) {
    for index in pardoned.indices
    where pardoned[index].pardon == reason && pardoned[index].scopes.contains(scope) {
      pardoned[index].pardon = revised
    }
    entries += pardoned.filter { $0.pardon == nil }
    pardoned.removeAll { $0.pardon == nil }
  }

  /// The cause of the run's failure first, then the others; those that do not count last.
  func ordered(cause: StepAddress?) -> [Entry] {
    entries.filter { $0.address == cause } + entries.filter { $0.address != cause } + pardoned
  }
}

import WeftDiagnostics
import WeftEvents
import WeftPlanning

/// The failures for the summary of a run: a bounded number, in order.
///
/// Whether a failure counts is known only when its enclosing scopes have ended: a group may be retried, another step
/// may win a race, some elements may be allowed to fail.
struct FailureList: Sendable {
  struct Entry: Sendable {
    let address: StepAddress
    /// The failure as a sentence without its subject.
    let message: String
    let help: String?
    /// The reason why it is tolerated, in a few words; `nil` if it counts.
    var tolerate: String?
    let isGroup: Bool
    let duration: Duration
    /// The number of attempts.
    let attempts: Int
    /// Empty for groups, tolerated failures, and beyond the first few.
    var tail: OutputTail
    /// The enclosing scopes that may still absorb it.
    fileprivate var scopes: [StepAddress]
  }

  /// The maximum number of listed failures, separately for those that count and tolerated ones.
  static let entryLimit = 50
  /// The maximum number of failures shown with their last lines.
  static let tailLimit = 10

  private(set) var entries: [Entry] = []
  private(set) var tolerated: [Entry] = []
  /// The failures beyond the limit, by their outermost scope.
  private var omittedIn: [StepAddress?: Int] = [:]
  /// The tolerated failures beyond the limit.
  private(set) var toleratedOmitted = 0

  /// The failures beyond the limit.
  var omitted: Int { omittedIn.values.reduce(0, +) }

  /// The failures that were undecided when they happened.
  var undecidedEntries: [Entry] { (entries + tolerated).filter { !$0.scopes.isEmpty } }

  /// Whether the last lines of a step that fails now would be shown.
  func wantsTail(of end: StepEnd) -> Bool {
    end.conclusion != .success && entries.count < FailureList.tailLimit
  }

  /// - Parameter scopes: The open enclosing scopes, innermost first.
  mutating func add(
    step address: StepAddress, _ end: StepEnd, tail: OutputTail, in scopes: [StepAddress] = []
  ) {
    var message = end.failure?.message ?? "failed"
    if let reason = end.notRetried { message += "; not retried: \(reason)" }
    add(
      Entry(
        address: address, message: message, help: end.failure?.help,
        tolerate: end.conclusion == .success ? "tolerated" : nil, isGroup: false,
        duration: end.duration, attempts: end.attempts, tail: tail, scopes: scopes))
  }

  /// Adds a group that failed by itself; a group that failed because of a member adds nothing to the member's
  /// failure.
  ///
  /// - Parameter isLoop: Whether it is a loop.
  mutating func add(
    group address: StepAddress, _ end: GroupEnd, isLoop: Bool = false,
    in scopes: [StepAddress] = []
  ) {
    guard end.outcome == .failure, end.cause == nil else { return }
    add(
      Entry(
        address: address, message: end.failure?.message ?? "failed", help: end.failure?.help,
        tolerate: end.conclusion == .success ? "tolerated" : nil, isGroup: !isLoop,
        duration: end.duration, attempts: end.attempts, tail: OutputTail(), scopes: scopes))
  }

  private mutating func add(_ entry: Entry) {
    if entry.tolerate != nil {
      addTolerated(entry)
    } else if hasRoom(for: entry) {
      entries.append(entry)
    } else {
      omittedIn[entry.scopes.last, default: 0] += 1
    }
  }

  /// Counts undecided failures separately, so that they cannot displace those that count.
  private func hasRoom(for entry: Entry) -> Bool {
    if entries.count < FailureList.entryLimit { return true }
    let isUndecided = !entry.scopes.isEmpty
    let alike = entries.count { !$0.scopes.isEmpty == isUndecided }
    return alike < FailureList.entryLimit
  }

  private mutating func addTolerated(_ entry: Entry) {
    guard tolerated.count < FailureList.entryLimit else {
      toleratedOmitted += 1
      return
    }
    var entry = entry
    entry.tail = OutputTail()
    tolerated.append(entry)
  }

  /// Tolerates the failures in a scope that did not fail because of them.
  ///
  /// - Parameter reason: The reason in a few words.
  mutating func tolerate(in scope: StepAddress, because reason: String) {
    guard entries.contains(where: { $0.scopes.contains(scope) }) || omittedIn[scope] != nil else {
      return
    }
    toleratedOmitted += omittedIn.removeValue(forKey: scope) ?? 0
    for var entry in entries where entry.scopes.contains(scope) {
      entry.tolerate = reason
      addTolerated(entry)
    }
    entries.removeAll { $0.scopes.contains(scope) }
  }

  /// Changes the reason why failures in a scope are tolerated, or makes them count.
  ///
  /// - Parameter revised: `nil` makes them count.
  mutating func revise(_ reason: String, in scope: StepAddress, to revised: String?) {
    for index in tolerated.indices
    where tolerated[index].tolerate == reason && tolerated[index].scopes.contains(scope) {
      tolerated[index].tolerate = revised
    }
    entries += tolerated.filter { $0.tolerate == nil }
    tolerated.removeAll { $0.tolerate == nil }
  }

  /// Returns the cause of the run's failure first, then the others; tolerated ones last.
  func ordered(cause: StepAddress?) -> [Entry] {
    entries.filter { $0.address == cause } + entries.filter { $0.address != cause } + tolerated
  }
}

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
    add(Entry(cause: cause, count: 1, names: [address]))
  }

  mutating func add(_ other: SkipList) {
    for entry in other.entries { add(entry) }
    omitted += other.omitted
  }

  private mutating func add(_ entry: Entry) {
    if let index = indices[entry.cause] {
      entries[index].count += entry.count
      let room = SkipList.nameLimit - entries[index].names.count
      entries[index].names += entry.names.prefix(room)
    } else if entries.count < SkipList.reasonLimit {
      indices[entry.cause] = entries.count
      entries.append(entry)
    } else {
      omitted += entry.count
    }
  }
}

/// Steps that succeeded only after retries, which may be unreliable.
struct Recoveries: Sendable {
  static let nameLimit = 5

  private(set) var count = 0
  /// The first of them, with their numbers of attempts.
  private(set) var first: [(step: StepAddress, attempts: Int)] = []

  mutating func add(_ step: StepAddress, _ end: StepEnd) {
    guard end.outcome == .success, end.attempts > 1 else { return }
    count += 1
    if first.count < Recoveries.nameLimit { first.append((step, end.attempts)) }
  }

  /// The sentence `2 steps succeeded only after further attempts: fetch (3), upload[4] (2)`; `nil` if there are none.
  var sentence: String? {
    guard count > 0 else { return nil }
    let names = first.map { "\($0.step) (\($0.attempts))" }.joined(separator: ", ")
    let rest = count > first.count ? " and \(count - first.count) more" : ""
    return "\(Count(count, "step")) succeeded only after retries: \(names)\(rest)"
  }
}

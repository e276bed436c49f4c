public import WeftPlanning

/// The thing that a step lacks whose dependencies are done.
public enum WaitReason: Sendable, Hashable {
  /// A slot of the run: as many attempts are running as may run at once.
  case slot
  /// A slot of an enclosing group, whose `maxParallel` members are running.
  indirect case group(StepAddress)
  /// Slots of the pool, or a turn before larger requests for them. The holders are steps that have some, only the
  /// first ``holderLimit``.
  indirect case pool(String, holders: [StepAddress])
  /// The rate of the pool allows no further start yet.
  indirect case rate(String)

  /// The maximum number of holders that are named.
  public static let holderLimit = 3
}

extension WaitReason {
  /// The kinds by their names in JSON.
  fileprivate enum Kind: String, CodedValue {
    case slot, group, pool, rate

    static var blank: Kind { .slot }

    /// The reason that a reader fills.
    var blankReason: WaitReason {
      switch self {
      case .slot: .slot
      case .group: .group(.blank)
      case .pool: .pool("", holders: [])
      case .rate: .rate("")
      }
    }
  }

  /// The kind of thing, in one word.
  package var word: String { kind.rawValue }

  fileprivate var kind: Kind {
    switch self {
    case .slot: .slot
    case .group: .group
    case .pool: .pool
    case .rate: .rate
    }
  }
}

extension EventCoder {
  /// Codes the reason of a wait as members of the event.
  package mutating func code(_ reason: inout WaitReason?) throws(Failure) {
    var kind = reason?.kind
    try code("because", &kind)
    if Self.isReading { reason = kind?.blankReason }
    switch reason {
    case .slot, nil: break
    case .group(var group):
      try code("group", &group)
      reason = .group(group)
    case .pool(var pool, var holders):
      try code("pool", &pool)
      try codeIfAny("holders", &holders)
      reason = .pool(pool, holders: holders)
    case .rate(var pool):
      try code("pool", &pool)
      reason = .rate(pool)
    }
  }
}

/// The first steps that wait for something other than their dependencies, and the number of all of them.
package struct WaitingSteps: Sendable, Hashable {
  package var first: [WaitingStep]
  package var count: Int

  package init(_ first: [WaitingStep] = [], count: Int = 0) {
    (self.first, self.count) = (first, count)
  }
}

/// A step that waits, and the reason.
public struct WaitingStep: Sendable, Hashable {
  public let step: StepAddress
  public let reason: WaitReason

  package init(_ step: StepAddress, _ reason: WaitReason) {
    (self.step, self.reason) = (step, reason)
  }
}

/// A random `if`: written as an expression for the engine, and evaluated by the checkers.
indirect enum RandomCondition: Hashable {
  enum Status: String, CaseIterable { case success, failure, always, cancelled }

  case status(Status)
  case literal(Bool)
  /// The outcome of an earlier step or group.
  case outcome(of: String, is: String)
  /// The index of the innermost enclosing element.
  case index(is: Int)
  case not(RandomCondition)
  case and(RandomCondition, RandomCondition)
  case or(RandomCondition, RandomCondition)
  /// True, or not to be computed if another condition is true.
  case failing(if: RandomCondition)

  var text: String {
    switch self {
    case .status(let status): "\(status.rawValue)()"
    case .literal(let value): "\(value)"
    case .outcome(let step, let outcome): "steps.\(step).outcome == '\(outcome)'"
    case .index(let index): "index == \(index)"
    case .not(let inner): "!(\(inner.text))"
    case .and(let left, let right): "(\(left.text) && \(right.text))"
    case .or(let left, let right): "(\(left.text) || \(right.text))"
    case .failing(let inner): "fromJSON((\(inner.text)) && 'oops' || 'true')"
    }
  }

  /// The status functions that it calls.
  var statuses: Set<Status> {
    switch self {
    case .status(let status): [status]
    case .literal, .outcome, .index: []
    case .not(let inner), .failing(let inner): inner.statuses
    case .and(let left, let right), .or(let left, let right): left.statuses.union(right.statuses)
    }
  }

  /// The steps and groups that it reads.
  var references: Set<String> {
    switch self {
    case .outcome(let step, _): [step]
    case .status, .literal, .index: []
    case .not(let inner), .failing(let inner): inner.references
    case .and(let left, let right), .or(let left, let right):
      left.references.union(right.references)
    }
  }

  /// Whether it may evaluate to a different value for each element.
  var asksAboutElement: Bool {
    switch self {
    case .index: true
    case .status, .literal, .outcome: false
    case .not(let inner), .failing(let inner): inner.asksAboutElement
    case .and(let left, let right), .or(let left, let right):
      left.asksAboutElement || right.asksAboutElement
    }
  }

  /// Whether it gives immunity to failures: it calls one of the other three functions (SPEC §1.3).
  var looksAtFailures: Bool { !statuses.isDisjoint(with: [.failure, .always, .cancelled]) }
  /// Whether it gives immunity to the end of the run.
  var standsCancellation: Bool { !statuses.isDisjoint(with: [.always, .cancelled]) }

  /// Whether it may be impossible to compute.
  var mayFail: Bool {
    switch self {
    case .failing: true
    case .status, .literal, .outcome, .index: false
    case .not(let inner): inner.mayFail
    case .and(let left, let right), .or(let left, let right): left.mayFail || right.mayFail
    }
  }

  /// Its value; `nil` if it cannot be computed.
  func value(_ known: Known) -> Bool? {
    switch self {
    case .status(.success): known.success
    case .status(.failure): known.failure
    case .status(.always): true
    case .status(.cancelled): known.cancelled
    case .literal(let value): value
    case .outcome(let step, let outcome): known.outcome(step) == outcome
    case .index(let index): known.index == index
    case .not(let inner): inner.value(known).map { !$0 }
    case .and(let left, let right): left.value(known).flatMap { $0 ? right.value(known) : false }
    case .or(let left, let right): left.value(known).flatMap { $0 ? true : right.value(known) }
    case .failing(let inner): inner.value(known).flatMap { $0 ? nil : true }
    }
  }

  /// The values that a condition can read.
  struct Known {
    var success: Bool
    var failure: Bool
    var cancelled: Bool
    var index: Int?
    var outcome: (String) -> String?
  }
}

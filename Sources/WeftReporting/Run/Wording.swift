import WeftDefinition
import WeftDiagnostics
package import WeftEvents
import WeftHTTP
package import WeftPlanning

extension CancelReason {
  /// The reason in words, for use after "cancelled:".
  package var sentence: String {
    switch self {
    case .requested: "on request"
    case .filesChanged: "files changed"
    case .signal("INT"): "interrupted"
    case .signal(let name): "received SIG\(name)"
    case .runTimeout(let limit): "the run's time limit of \(ShownDuration.limit(limit)) passed"
    case .groupTimeout(let group, let limit):
      "the time limit of \"\(group)\", \(ShownDuration.limit(limit)), passed"
    case .failure(let step): "\"\(step)\" failed"
    case .raceWon(_, let winner): "\"\(winner)\" won the race"
    case .joined(let group): "enough of \"\(group)\" had succeeded"
    case .recordLost: "the journal of the run could not be written"
    }
  }
}

extension SkipReason {
  /// The reason in words, for use after "skipped", or "cancelled" depending on its outcome.
  var sentence: String {
    switch self {
    case .dependencyFailed(let step): "because \"\(step)\" failed"
    case .heldBack(let step): "because nothing starts after \"\(step)\" failed"
    case .condition(let group): "because the condition of \"\(group)\" is false"
    case .notSelected: "because it was not selected"
    case .cancelled(let reason): "before the start (\(reason.sentence))"
    }
  }

  /// Returns the phrase for one step: `skipped because "build" failed`, `skipped: its condition is false`.
  package func phrase(of step: StepAddress) -> String {
    switch self {
    case .condition(of: step): "skipped: its condition is false"
    case .condition(let group): "skipped: the condition of \"\(group)\" is false"
    case .dependencyFailed, .heldBack, .cancelled, .notSelected: "\(verb) \(sentence)"
    }
  }

  /// Whether the summary explains it; not if it was requested.
  var isReported: Bool {
    switch self {
    case .notSelected, .cancelled(.raceWon), .cancelled(.joined): false
    case .dependencyFailed, .heldBack, .condition, .cancelled: true
    }
  }

  /// The verb `skipped` or `cancelled`.
  var verb: String { outcome.rawValue }
}

extension GroupEnd {
  /// The phrase for the failure of a member of a group that succeeded.
  func toleration(by group: StepAddress) -> String {
    winner.map { "\"\($0)\" won the race" } ?? "tolerated by \"\(group)\""
  }
}

extension SkipList.Cause {
  /// Returns the phrase for `count` steps.
  func phrase(of count: Int) -> String {
    switch self {
    case .reason(let reason): "\(reason.verb) \(reason.sentence)"
    case .ownConditions:
      count == 1 ? "skipped by its own condition" : "skipped by their own conditions"
    }
  }
}

extension WaitReason {
  /// The phrase `waits for pool "db", held by "a"`.
  var phrase: String {
    switch self {
    case .slot: "waits for a slot"
    case .group(let group): "waits for a slot of \"\(group)\""
    case .pool(let pool, let holders):
      "waits for \(CountedResource.noun(ofPool: pool))"
        + (holders.isEmpty
          ? "" : ", held by \(QuotedList(holders.map(\.text), conjunction: "and"))")
    case .rate(let pool): "waits for the rate of pool \"\(pool)\""
    }
  }
}

extension Retry {
  /// The phrase `attempt 2 of 5 in 1.2 s`, for use after the failure.
  var sentence: String {
    let next = delay > .zero ? "in \(ShownDuration.precise(delay))" : "now"
    return "attempt \(attempt + 1) of \(attemptLimit) \(next)"
  }
}

/// Formats sizes in powers of a thousand; truncated, never rounded up.
package enum ShownSize {
  /// Returns `512 B`, `1.2 kB`, `84 kB`, `3.1 MB`.
  package static func text(_ bytes: Int) -> String {
    var unit = 1
    for name in ["B", "kB", "MB", "GB"] {
      let whole = bytes / unit
      if whole < 1000 || name == "GB" {
        guard unit > 1, whole < 10 else { return "\(whole) \(name)" }
        return "\(whole).\(bytes * 10 / unit % 10) \(name)"
      }
      unit *= 1000
    }
    return "\(bytes) B"
  }
}

extension HTTPSummary {
  /// The response, for use after the duration: "200, 12 kB".
  var phrase: String? {
    guard let status else { return nil }
    if let staleReason { return "\(status), a stale response from the cache: \(staleReason)" }
    if cache == "hit" { return "\(status) from the cache" }
    var phrase = "\(status), \(ShownSize.text(figures.bodyBytesReceived))"
    if figures.requests > redirects + 1 { phrase += " in \(figures.requests) requests" }
    if cache == "revalidated" { phrase += ", as in the cache" }
    if let savedTo { phrase += " to \(savedTo)" }
    return phrase
  }
}

/// The end of a group as a sentence without its subject, if it adds to its steps' messages.
struct GroupSentence {
  /// The state of the group before it ended.
  struct Prior {
    /// The outcomes of a loop's elements.
    var elements: ElementCount?
    /// The attempt that it waited for, which is no longer made.
    var nextAttempt: Int?

    static let nothing = Prior()
  }

  private let end: GroupEnd
  private let elements: ElementCount?
  private let nextAttempt: Int?

  init(_ end: GroupEnd, _ prior: Prior) {
    self.end = end
    elements = prior.elements
    nextAttempt = prior.nextAttempt
  }

  /// `nil` if its steps' messages say it all.
  var text: String? {
    let subject: String
    switch end.outcome {
    case .cancelled where nextAttempt != nil:
      subject = "cancelled before attempt \(nextAttempt!)"
    case .failure where nextAttempt != nil:
      subject = "failed\(tolerated) after \(time): \(reason); attempt \(nextAttempt!) was not made"
    case .failure
    where end.cause == nil || elements != nil || end.attempts > 1 || end.notRetried != nil:
      let refusal = end.notRetried.map { "; not retried: \($0)" } ?? ""
      subject = "failed\(tolerated) after \(time)\(attempt): \(reason)\(refusal)"
    case .success where end.winner != nil || elements != nil || end.attempts > 1:
      subject = "succeeded in \(time)\(attempt)\(winner)"
    case .cancelled where elements != nil: subject = "cancelled after \(time)"
    case .skipped where elements != nil: subject = "ended early after \(time)"
    case .success, .failure, .cancelled, .skipped: return nil
    }
    // A loop that failed before its elements were known has none.
    guard let elements, elements.all > 0 || end.outcome != .failure else { return subject }
    return "\(subject), \(elements.text)"
  }

  private var time: String { ShownDuration.precise(end.duration) }
  private var tolerated: String { end.conclusion == .success ? " (tolerated)" : "" }
  private var attempt: String { end.attempts > 1 ? " (attempt \(end.attempts))" : "" }
  private var winner: String { end.winner.map { ": \"\($0)\" won the race" } ?? "" }

  private var reason: String {
    let message = end.failure?.message ?? "failed"
    return end.cause.map { "\"\($0)\" \(message)" } ?? message
  }
}

import WeftDefinition
import WeftEvents

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
    case .failure where end.cause == nil || elements != nil || end.attempts > 1:
      subject = "failed\(tolerated) after \(time)\(attempt): \(reason)"
    case .success where end.winner != nil || elements != nil || end.attempts > 1:
      subject = "succeeded in \(time)\(attempt)\(winner)"
    case .cancelled where elements != nil: subject = "cancelled after \(time)"
    case .skipped where elements != nil: subject = "ended early after \(time)"
    case .success, .failure, .cancelled, .skipped: return nil
    }
    return elements.map { "\(subject), \($0.text)" } ?? subject
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

import WeftDefinition
import WeftExecution

/// How a group ended, in a sentence without its subject, if there is more to say than its steps have said.
struct GroupSentence {
  private let end: GroupEnd
  private let fanOut: ElementCount?

  /// - Parameter fanOut: Of what was run for many elements, how they ended.
  init(_ end: GroupEnd, _ fanOut: ElementCount?) {
    self.end = end
    self.fanOut = fanOut
  }

  /// `nil` where its steps have said it all.
  var text: String? {
    let subject: String
    switch end.outcome {
    case .failure where end.cause == nil || fanOut != nil || end.attempts > 1:
      let tolerated = end.conclusion == .success ? " (tolerated)" : ""
      subject = "failed\(tolerated) after \(time)\(attempt): \(reason)"
    case .success where end.winner != nil || fanOut != nil || end.attempts > 1:
      subject = "succeeded in \(time)\(attempt)\(winner)"
    case .cancelled where fanOut != nil: subject = "cancelled after \(time)"
    case .skipped where fanOut != nil: subject = "ended early after \(time)"
    case .success, .failure, .cancelled, .skipped: return nil
    }
    return fanOut.map { "\(subject), \($0.text)" } ?? subject
  }

  private var time: String { ShownDuration.precise(end.duration) }
  private var attempt: String { end.attempts > 1 ? " (attempt \(end.attempts))" : "" }
  private var winner: String { end.winner.map { ": \"\($0)\" won the race" } ?? "" }

  private var reason: String {
    let message = end.failure?.message ?? "failed"
    return end.cause.map { "\"\($0)\" \(message)" } ?? message
  }
}

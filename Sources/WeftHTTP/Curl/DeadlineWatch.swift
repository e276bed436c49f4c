/// When an exchange has taken too long. The deadline for connecting is libcurl's own matter.
struct DeadlineWatch {
  private let deadlines: HTTPDeadlines
  private let began: Duration
  private var lastSign: Duration
  /// Since when the server waits for this side, and not the other way round.
  private var heldSince: Duration?

  init(_ deadlines: HTTPDeadlines, now: Duration) {
    self.deadlines = deadlines
    began = now
    lastSign = now
  }

  /// Bytes came or went.
  mutating func sign(at now: Duration) {
    lastSign = now
    heldSince = nil
  }

  mutating func hold(at now: Duration) { heldSince = heldSince ?? now }

  mutating func release(at now: Duration) {
    if heldSince != nil { sign(at: now) }
  }

  /// When to look again; nil: never.
  var nextCheck: Duration? {
    let idle = heldSince == nil ? deadlines.idle.map { lastSign + $0 } : nil
    return [deadlines.total.map { began + $0 }, idle].compactMap(\.self).min()
  }

  func expired(at now: Duration) -> HTTPFailure.Kind? {
    if let total = deadlines.total, now >= began + total { return .timeout(.total, after: total) }
    if heldSince == nil, let idle = deadlines.idle, now >= lastSign + idle {
      return .timeout(.idle, after: idle)
    }
    return nil
  }
}

import WeftHTTP

/// The deadlines of an exchange.
struct DeadlineWatch {
  private let deadlines: HTTPDeadlines
  private let began: Duration
  private var lastSign: Duration
  /// The time since which the server waits for this side rather than the reverse.
  private var heldSince: Duration?
  private var isConnected = false

  init(_ deadlines: HTTPDeadlines, now: Duration) {
    self.deadlines = deadlines
    began = now
    lastSign = now
  }

  /// Notes that the request can be sent.
  mutating func connected() { isConnected = true }

  /// Notes that bytes were sent or received.
  mutating func sign(at now: Duration) {
    lastSign = now
    heldSince = nil
  }

  mutating func hold(at now: Duration) { heldSince = heldSince ?? now }

  mutating func release(at now: Duration) {
    if heldSince != nil { sign(at: now) }
  }

  /// The time of the next check; `nil` if there is none.
  var nextCheck: Duration? {
    let idle = heldSince == nil ? deadlines.idle.map { lastSign + $0 } : nil
    let connect = isConnected ? nil : deadlines.connect.map { began + $0 }
    return Self.earlier(deadlines.total.map { began + $0 }, Self.earlier(idle, connect))
  }

  private static func earlier(_ one: Duration?, _ other: Duration?) -> Duration? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }

  func expired(at now: Duration) -> HTTPFailure.Kind? {
    if let total = deadlines.total, now >= began + total { return .timeout(.total, after: total) }
    if !isConnected, let connect = deadlines.connect, now >= began + connect {
      return .timeout(.connect, after: connect)
    }
    if heldSince == nil, let idle = deadlines.idle, now >= lastSign + idle {
      return .timeout(.idle, after: idle)
    }
    return nil
  }
}

/// The way a program is asked to terminate before it is killed.
package struct StopPolicy: Hashable, Sendable {
  /// Sent to the program's whole group, followed by CONT, so that stopped processes receive it.
  package var signal: Signal
  /// The time from the signal to KILL, which is sent only if processes are left.
  package var grace: Duration

  package init(signal: Signal = .terminate, grace: Duration = .seconds(10)) {
    self.signal = signal
    self.grace = grace
  }
}

/// The urgency of a stop.
package enum StopLevel: Int, Comparable, Sendable {
  case none, graceful, now

  package static func < (one: StopLevel, other: StopLevel) -> Bool { one.rawValue < other.rawValue }
}

/// The reason why a program that did not end by itself was ended.
package enum StopCause: Hashable, Sendable {
  case timeout, cancelled
  /// It wrote no output for too long.
  case stall
}

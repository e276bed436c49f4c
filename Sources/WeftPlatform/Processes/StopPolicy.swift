/// How a program is asked to end before it is made to.
package struct StopPolicy: Hashable, Sendable {
  /// Sent to the program's whole group, followed by CONT, which reaches what is stopped.
  package var signal: Signal
  /// From the signal to KILL, which is sent only to what is left.
  package var grace: Duration

  package init(signal: Signal = .terminate, grace: Duration = .seconds(10)) {
    self.signal = signal
    self.grace = grace
  }
}

/// How urgently a program is to stop.
package enum StopLevel: Int, Comparable, Sendable {
  case none, graceful, now

  package static func < (one: StopLevel, other: StopLevel) -> Bool { one.rawValue < other.rawValue }
}

/// Who ended a program that did not end by itself.
package enum StopCause: Hashable, Sendable {
  case timeout, cancelled
  /// It wrote nothing for too long.
  case stall
}

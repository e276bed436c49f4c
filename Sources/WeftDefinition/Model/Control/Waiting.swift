/// What a step waits for that runs nothing.
public enum Waiting: Sendable, Hashable {
  case duration(Duration)
  /// A moment of the wall clock.
  case until(WallMoment)
  /// A text that is exactly one expression, of a duration.
  case computedDuration(Condition)
  /// A text that is exactly one expression, of a moment.
  case computedMoment(Condition)
}

/// A moment of the wall clock, as RFC 3339 writes it.
public struct WallMoment: Sendable, Hashable {
  /// Since 1970-01-01T00:00:00Z, without leap seconds.
  public var nanoseconds: Int64
  /// As it was written.
  public var text: String

  public init(nanoseconds: Int64, text: String) {
    self.nanoseconds = nanoseconds
    self.text = text
  }
}

/// What is asked of a person.
public struct Approval: Sendable, Hashable {
  /// What the person reads; may hold expressions.
  public var message: String

  public init(message: String) {
    self.message = message
  }
}

import WeftEncoding
public import WeftEvents
import WeftPlanning

/// The events of a run, for the assertions of a test.
///
/// ```swift
/// let events = run.events
/// #expect(events.outcome(of: "build") == .success)
/// #expect(events.has(.finished("build"), before: .started("deploy[*]")))
/// #expect(events.count(of: .started("deploy[*]")) == 3)
/// ```
public struct RecordedEvents: Sendable, RandomAccessCollection {
  private let events: [RunEvent]

  /// - Parameter events: In the order in which they happened.
  public init(_ events: [RunEvent]) { self.events = events }

  /// The position of the first event.
  public var startIndex: Int { events.startIndex }
  /// The position after the last event.
  public var endIndex: Int { events.endIndex }
  /// The event at a position.
  public subscript(position: Int) -> RunEvent { events[position] }

  /// A kind of event about steps whose address, or pattern, is given; `*` is any text.
  public struct Matcher: Sendable {
    let matches: @Sendable (RunEvent.Kind) -> Bool

    /// Any event for which the closure is true.
    public static func any(where matches: @escaping @Sendable (RunEvent.Kind) -> Bool) -> Matcher {
      Matcher(matches: matches)
    }

    private static func about(
      _ pattern: String, _ matches: @escaping @Sendable (RunEvent.Kind) -> StepAddress?
    ) -> Matcher {
      let pattern = StepPattern(pattern)
      return Matcher { matches($0).map { pattern.matches($0) } ?? false }
    }

    /// An attempt of a step, or of a group, starts.
    public static func started(_ step: String) -> Matcher {
      about(step) {
        switch $0 {
        case .stepStarted(let step, _, _), .groupStarted(let step, _): step
        default: nil
        }
      }
    }

    /// A step or group has ended, with this outcome if one is given.
    public static func finished(_ step: String, _ outcome: Outcome? = nil) -> Matcher {
      about(step) {
        switch $0 {
        case .stepFinished(let step, let end) where outcome == nil || end.outcome == outcome: step
        case .groupFinished(let step, let end) where outcome == nil || end.outcome == outcome: step
        default: nil
        }
      }
    }

    /// A step never starts.
    public static func skipped(_ step: String) -> Matcher {
      about(step) { if case .stepSkipped(let step, _) = $0 { step } else { nil } }
    }

    /// An attempt has failed, and another follows.
    public static func retrying(_ step: String) -> Matcher {
      about(step) {
        switch $0 {
        case .stepRetrying(let step, _), .groupRetrying(let step, _): step
        default: nil
        }
      }
    }

    /// A step has written a line that contains this text.
    public static func wrote(_ text: String, by step: String) -> Matcher {
      about(step) { kind in
        guard case .stepOutput(let step, let output) = kind, output.text.contains(text) else {
          return nil
        }
        return step
      }
    }
  }

  /// The number of events of a kind.
  public func count(of matcher: Matcher) -> Int { events.count { matcher.matches($0.kind) } }

  /// Whether there is an event of a kind.
  public func has(_ matcher: Matcher) -> Bool { first(matcher) != nil }

  /// The first event of a kind.
  public func first(_ matcher: Matcher) -> RunEvent? { events.first { matcher.matches($0.kind) } }

  /// Whether both kinds of events have happened, and all of the first kind before any of the second.
  public func has(_ earlier: Matcher, before later: Matcher) -> Bool {
    guard let last = events.lastIndex(where: { earlier.matches($0.kind) }),
      let first = events.firstIndex(where: { later.matches($0.kind) })
    else { return false }
    return last < first
  }

  /// The outcome of a step or group; `nil` if it has none yet.
  public func outcome(of step: String) -> Outcome? {
    for event in events.reversed() {
      switch event.kind {
      case .stepFinished(let address, let end), .stepCached(let address, let end),
        .stepRestored(let address, let end):
        if address.text == step { return end.outcome }
      case .groupFinished(let address, let end): if address.text == step { return end.outcome }
      case .stepSkipped(let address, let reason): if address.text == step { return reason.outcome }
      default: continue
      }
    }
    return nil
  }

  /// The end of the run; `nil` if it has not ended.
  public var end: RunEnd? {
    if case .runFinished(let end)? = events.last?.kind { end } else { nil }
  }
}

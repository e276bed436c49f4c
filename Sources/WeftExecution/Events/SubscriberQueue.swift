import WeftEvents

/// The events that one subscriber has not taken yet: all lifecycle events, and output up to a limit.
struct SubscriberQueue {
  private let outputLimitBytes: Int
  private var pending: [RunEvent] = []
  private var pendingOutputBytes = 0
  private var waker: (@Sendable () -> Void)?
  /// The number of events that the waker waits for.
  private var wakingCount = 1

  init(outputLimitBytes: Int) {
    self.outputLimitBytes = outputLimitBytes
  }

  /// The cost of an output event besides its bytes: the event itself.
  private static let eventOverheadBytes = 128

  mutating func append(_ event: RunEvent) {
    let bytes: Int
    switch event.kind {
    case .stepOutput(_, let output): bytes = output.bytes.count
    case .stepProgress(_, let progress): bytes = progress.text?.utf8.count ?? 0
    default:
      pending.append(event)
      return
    }
    let cost = bytes + SubscriberQueue.eventOverheadBytes
    if pendingOutputBytes + cost <= outputLimitBytes {
      pendingOutputBytes += cost
      pending.append(event)
    } else {
      drop(event, bytes: bytes)
    }
  }

  /// Adds output that does not fit to the gap at the end of the queue, so that there is at most one gap between
  /// two lifecycle events. Once output has been dropped, later output before the next take is dropped too:
  /// `pendingOutputBytes` only falls when the subscriber takes.
  private mutating func drop(_ event: RunEvent, bytes: Int) {
    var gap = OutputGap(sequences: event.sequence...event.sequence, count: 0, bytes: 0)
    if let earlier = gapAtTheEnd {
      gap = earlier
      pending.removeLast()
    }
    gap.sequences = gap.sequences.lowerBound...event.sequence
    gap.count += 1
    gap.bytes += bytes
    pending.append(
      RunEvent(
        sequence: gap.sequences.lowerBound, elapsed: event.elapsed, kind: .outputDropped(gap)))
  }

  private var gapAtTheEnd: OutputGap? {
    guard case .outputDropped(let gap) = pending.last?.kind else { return nil }
    return gap
  }

  mutating func takeAll() -> [RunEvent] {
    defer {
      pending = []
      pendingOutputBytes = 0
    }
    return pending
  }

  /// Stores a waker unless that many events are pending already.
  mutating func keep(_ waker: @escaping @Sendable () -> Void, untilPending count: Int) -> Bool {
    guard pending.count < count else { return false }
    self.waker = waker
    wakingCount = count
    return true
  }

  /// The waker, if the events it waits for are pending, or if `isDue` for another reason.
  mutating func takeWaker(ifDue isDue: Bool) -> (@Sendable () -> Void)? {
    guard isDue || pending.count >= wakingCount else { return nil }
    defer { waker = nil }
    return waker
  }
}

/// The events so far, as long as they are few and small: for a subscriber that comes a moment late.
struct EventHistory {
  /// `nil` once there were too many events or too much output in them.
  private(set) var events: [RunEvent]? = []
  private let limit: Int
  private var outputBytes = 0

  private static let outputLimitBytes = 1 << 20

  init(limit: Int) {
    self.limit = limit
  }

  mutating func append(_ event: RunEvent) {
    guard let count = events?.count else { return }
    if case .stepOutput(_, let output) = event.kind { outputBytes += output.bytes.count }
    guard count < limit, outputBytes <= EventHistory.outputLimitBytes else {
      events = nil
      return
    }
    events!.append(event)
  }
}

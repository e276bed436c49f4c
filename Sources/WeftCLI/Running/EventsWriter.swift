import Synchronization
import Weft
import WeftEvents
import WeftExecution
import WeftPlatform

/// Writes a run's events as JSON Lines, on a separate thread, so that a slow reader delays neither the run nor its
/// display.
final class EventsWriter: Sendable {
  private let descriptor: Descriptor
  /// The name of the target in messages.
  private let name: String
  /// The reason why events are missing.
  private let fault = Mutex<String?>(nil)
  private let ended = Wakeup()

  /// Opens the target, before the run starts.
  ///
  /// - Parameter isContinued: Whether the events follow those of an earlier run.
  init(_ target: EventsTarget, isContinued: Bool) throws(CommandError) {
    name = target.name
    descriptor = try target.open(isContinued: isContinued)
  }

  /// Starts writing the events of the subscription.
  func start(_ subscription: EventSubscription, on threads: ThreadPool) {
    do {
      try threads.submit { [self] in
        write(subscription)
        ended.wake()
      }
    } catch {
      fault.withLock { $0 = error.message }
      ended.wake()
    }
  }

  private func write(_ subscription: EventSubscription) {
    var pump = EventPump(subscription)
    var json = EventJSON(version: WeftVersion.current)
    var lines: [UInt8] = []
    do {
      while let events = pump.next() {
        for portion in EventsWriter.portions(of: events) {
          lines.removeAll(keepingCapacity: true)
          json.append(portion, to: &lines)
          try descriptor.writeAll(lines)
        }
      }
    } catch .brokenPipe {
      // The reader closed the pipe and wants no more events.
    } catch {
      fault.withLock { $0 = error.message }
    }
  }

  /// Splits the events of one write: JSON of binary output may be six times as long as the output.
  private static func portions(of events: [RunEvent]) -> [ArraySlice<RunEvent>] {
    var portions: [ArraySlice<RunEvent>] = []
    var (start, bytes) = (0, 0)
    for (index, event) in events.enumerated() {
      guard case .stepOutput(_, let output) = event.kind else { continue }
      bytes += output.bytes.count
      guard bytes >= portionBytes else { continue }
      portions.append(events[start...index])
      (start, bytes) = (index + 1, 0)
    }
    return start < events.count ? portions + [events[start...]] : portions
  }

  private static let portionBytes = 256 << 10

  /// Waits until the last event is written.
  ///
  /// - Returns: The error if events are missing.
  func finish() -> CommandError? {
    ended.wait()
    return fault.withLock { $0 }.map { CommandError("cannot write events to \(name): \($0)") }
  }
}

/// The destination of `--events`.
enum EventsTarget: Sendable, Hashable {
  case standardOutput
  /// Created, or truncated before the first run.
  case file(String)
  /// A descriptor that the caller has opened.
  case descriptor(Int32)

  fileprivate var name: String {
    switch self {
    case .standardOutput: "standard output"
    case .file(let path): "\"\(path)\""
    case .descriptor(let number): "descriptor \(number)"
    }
  }

  fileprivate func open(isContinued: Bool) throws(CommandError) -> Descriptor {
    switch self {
    case .standardOutput: return .standardOutput
    case .file(let path):
      do {
        return try .creating(path, isContinued ? .orExtended : .orEmptied)
      } catch {
        throw CommandError("cannot write events to \(name): \(error)")
      }
    case .descriptor(let number):
      let descriptor = Descriptor.inherited(number)
      if let descriptor, descriptor.isWritable { return descriptor }
      throw CommandError(
        "\(name) is \(descriptor == nil ? "not open" : "open for reading only"), "
          + "but --events writes to it",
        help: "open it in the shell: weft run --events fd:\(number) ... \(number)>FILE")
    }
  }
}

/// Delivers a run's events to one thread, in batches of any size.
///
/// Single events are delivered at once. Events in quick succession are combined, a hundred times per second: a thread
/// that woke for each would take a processor from the steps.
struct EventPump {
  private let subscription: EventSubscription
  private let wakeup: Wakeup
  private var lastBatch: Duration?
  private var isBusy = false

  /// The delay for combining batches in quick succession.
  private static let pause = Duration.milliseconds(10)
  /// The number of events that ends the delay early.
  private static let manyEvents = 1_000

  /// - Parameter wakeup: The point where the thread waits; waking it makes it check `isWanted`.
  init(_ subscription: EventSubscription, wakeup: Wakeup = Wakeup()) {
    self.subscription = subscription
    self.wakeup = wakeup
  }

  /// Waits for events, at most until `time` of ``MonotonicClock``, or until `isWanted`.
  ///
  /// - Returns: Empty if the time has come, or the thread is wanted elsewhere; `nil` after the last event.
  mutating func next(
    until time: Duration? = nil, isWanted: () -> Bool = { false }
  ) -> [RunEvent]? {
    if isBusy {
      wait(for: EventPump.manyEvents, until: MonotonicClock.now + EventPump.pause)
    }
    while true {
      guard let events = subscription.takeAll() else { return nil }
      if !events.isEmpty { return tracked(events) }
      if let time, time <= MonotonicClock.now { return [] }
      if isWanted() { return [] }
      wait(for: 1, until: time)
    }
  }

  private func wait(for count: Int, until time: Duration?) {
    let wakeup = wakeup
    subscription.whenReady(count: count) { wakeup.wake() }
    wakeup.wait(atMost: time.map { $0 - MonotonicClock.now })
  }

  private mutating func tracked(_ events: [RunEvent]) -> [RunEvent] {
    let now = MonotonicClock.now
    isBusy = lastBatch.map { now - $0 < EventPump.pause * 2 } ?? false
    lastBatch = now
    return events
  }
}

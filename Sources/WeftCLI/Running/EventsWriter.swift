import Synchronization
import WeftEvents
import WeftExecution
import WeftPlatform
import WeftRecord

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
  init(_ target: EventsTarget) throws(CommandError) {
    name = target.name
    descriptor = try target.open()
  }

  /// Starts writing the events of the subscription.
  func start(_ subscription: EventSubscription, on threads: BlockingThreads) {
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

extension EventsTarget {
  fileprivate var name: String {
    switch self {
    case .standardOutput: "standard output"
    case .file(let path): "\"\(path)\""
    case .descriptor(let number): "descriptor \(number)"
    }
  }

  fileprivate func open() throws(CommandError) -> Descriptor {
    switch self {
    case .standardOutput: return .standardOutput
    case .file(let path):
      do {
        return try .creating(path, .orEmptied)
      } catch {
        throw CommandError("cannot write events to \(name): \(error)")
      }
    case .descriptor(let number):
      guard let descriptor = Descriptor.inherited(number) else {
        throw CommandError(
          "\(name) is not open, but --events is to write to it",
          help: "open it in the shell: weft run --events fd:\(number) ... \(number)>FILE")
      }
      guard descriptor.isWritable else {
        throw CommandError(
          "\(name) is open for reading only, but --events is to write to it",
          help: "open it in the shell: weft run --events fd:\(number) ... \(number)>FILE")
      }
      return descriptor
    }
  }
}

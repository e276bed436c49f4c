import Synchronization
import WeftFutures

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

struct Oops: Error, Hashable {
  var number = 0
}

/// The promise of most tests: it may fail, and settles with a failure of its own if it is dropped.
typealias Source = Promise<Int, Oops>

extension Promise where Value == Int, Failure == Oops {
  convenience init(_ file: StaticString = #fileID, _ line: UInt = #line) {
    self.init(ifDropped: .failure(Oops(number: -1)), file: file, line: line)
  }
}

/// A thread-safe log of what happened, in order.
final class Log<Entry: Sendable>: Sendable {
  private let written = Mutex<[Entry]>([])

  var entries: [Entry] { written.withLock { $0 } }

  func write(_ entry: Entry) { written.withLock { $0.append(entry) } }

  func clear() {
    let entries = written.withLock { written in
      defer { written = [] }
      return written
    }
    withExtendedLifetime(entries) {}
  }
}

/// A thread-safe counter.
final class Tally: Sendable {
  private let count = Atomic<Int>(0)

  var total: Int { count.load(ordering: .sequentiallyConsistent) }

  func add() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }
}

/// The reports of dropped promises while these tests run, instead of lines on standard error.
///
/// Many tests drop promises, at the same time and by the million: only those of `DroppedPromiseTests`, where they are
/// expected, are kept.
enum DropReports {
  static let kept: Log<PromiseDroppedError> = {
    let log = Log<PromiseDroppedError>()
    PromiseDroppedError.reporter = { dropped in
      if dropped.file.hasSuffix("/DroppedPromiseTests.swift") { log.write(dropped) }
    }
    return log
  }()

  /// Collects the reports, for suites that drop promises on purpose.
  static func divert() { _ = kept }
}

/// SplitMix64 (Steele, Lea, Flood 2014): every seed gives a different sequence, the same on every machine.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Runs each body on a thread of its own, all released at once, and waits for them.
func onThreads(stackBytes: Int = 512 * 1024, _ bodies: [@Sendable () -> Void]) {
  let arrived = Tally()
  let threads = bodies.map { body in
    Thread(stackBytes: stackBytes) {
      arrived.add()
      while arrived.total < bodies.count { sched_yield() }
      body()
    }
  }
  for thread in threads { thread.join() }
}

/// Runs `body` on a thread with little stack, like that of a thread pool.
func onSmallStack(_ body: @escaping @Sendable () -> Void) { onThreads([body]) }

private struct Thread {
  private final class Start: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private let handle: pthread_t

  init(stackBytes: Int, _ body: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setstacksize(&attributes, stackBytes)
    defer { pthread_attr_destroy(&attributes) }
    let start = Unmanaged.passRetained(Start(body)).toOpaque()
    #if canImport(Darwin)
      var thread: pthread_t?
      pthread_create(&thread, &attributes, { Thread.run($0) }, start)
      handle = thread!
    #else
      var thread = pthread_t()
      pthread_create(&thread, &attributes, { Thread.run($0!) }, start)
      handle = thread
    #endif
  }

  func join() { pthread_join(handle, nil) }

  private static func run(_ start: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<Start>.fromOpaque(start).takeRetainedValue().body()
    return nil
  }
}

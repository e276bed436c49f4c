import Synchronization
import WeftHTTP
import WeftPlatform

/// The bytes on their way to a ``BodyWriter``, bounded by a capacity while the writer is busy.
struct OutletState: Sendable {
  enum Offer: Hashable {
    /// Accepted; `startsWork` if no work is in progress yet.
    case taken(startsWork: Bool)
    /// The caller must offer the same bytes again once the outlet has room.
    case full
  }

  enum Work {
    /// `frees` if the sender is waiting for room.
    case write([UInt8], frees: Bool)
    case end(BodyEnd)
    case rest
  }

  private let capacity: Int
  private var pending: [UInt8] = []
  private var isWorking = false
  private var isAwaited = false
  private var failure: HTTPFailure.Kind?
  private var end: BodyEnd?

  init(capacity: Int) { self.capacity = capacity }

  /// Accepts any number of bytes while empty; otherwise only as many as fit the capacity.
  mutating func offer(_ bytes: UnsafeRawBufferPointer) -> Offer {
    guard pending.isEmpty || pending.count + bytes.count <= capacity else {
      isAwaited = true
      return .full
    }
    pending.append(contentsOf: bytes)
    return .taken(startsWork: begin())
  }

  /// Announces that nothing more will be offered. Pending bytes are still written, unless the body was cancelled.
  ///
  /// - Returns: Whether the caller must start work.
  mutating func finish(_ end: BodyEnd) -> Bool {
    self.end = end
    if end == .broken(.cancelled) { pending = [] }
    return begin()
  }

  private mutating func begin() -> Bool {
    defer { isWorking = true }
    return !isWorking
  }

  /// Returns the worker's next action.
  mutating func next() -> Work {
    if failure != nil { pending = [] }
    if !pending.isEmpty {
      defer { (pending, isAwaited) = ([], false) }
      return .write(pending, frees: isAwaited)
    }
    if let end {
      self.end = nil
      return .end(failure.map { .broken($0) } ?? end)
    }
    isWorking = false
    return .rest
  }

  mutating func fail(_ kind: HTTPFailure.Kind) { failure = failure ?? kind }
}

/// Passes a body from the receiving thread to one that may block on a disk.
final class BodyOutlet: Sendable {
  private let writer: any BodyWriter
  private let threads: ThreadPool
  private let state: Mutex<OutletState>
  private let completion = Mutex(Completion())
  private let report: @Sendable (News) -> Void

  private struct Completion: Sendable {
    var call: (@Sendable (HTTPFailure.Kind?) -> Void)?
  }

  enum News: Sendable {
    case hasRoom
    case failed(HTTPFailure.Kind)
  }

  static let capacity = 1024 * 1024

  /// - Parameter tell: Called on the writer's thread.
  init(
    _ writer: any BodyWriter, threads: ThreadPool, report: @escaping @Sendable (News) -> Void
  ) {
    self.writer = writer
    self.threads = threads
    self.report = report
    state = Mutex(OutletState(capacity: Self.capacity))
  }

  /// Returns false if there is no room; `report` reports when there is.
  func offer(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch state.withLock({ $0.offer(bytes) }) {
    case .full: return false
    case .taken(let startsWork):
      if startsWork { start() }
      return true
    }
  }

  /// - Parameter done: Called once the writer knows the end, with the failure of the writer or of a write, if any.
  func finish(_ end: BodyEnd, done: @escaping @Sendable (HTTPFailure.Kind?) -> Void) {
    completion.withLock { $0.call = done }
    if state.withLock({ $0.finish(end) }) { start() }
  }

  private func start() {
    do { try threads.submit { self.work() } } catch {
      // No other thread can do the work, and the end must still be reported.
      state.withLock { $0.fail(.other(error.message)) }
      report(.failed(.other(error.message)))
      work()
    }
  }

  private func work() {
    while true {
      switch state.withLock({ $0.next() }) {
      case .write(let bytes, let frees): write(bytes, frees: frees)
      case .end(let end): return close(end)
      case .rest: return
      }
    }
  }

  private func write(_ bytes: [UInt8], frees: Bool) {
    if frees { report(.hasRoom) }
    do {
      try bytes.withRawBytes { (bytes) throws(HTTPFailure.Kind) in try writer.write(bytes) }
    } catch {
      state.withLock { $0.fail(error) }
      report(.failed(error))
    }
  }

  private func close(_ end: BodyEnd) {
    var failure: HTTPFailure.Kind?
    if case .broken(let kind) = end { failure = kind }
    do { try writer.end(end) } catch { failure = failure ?? error }
    completion.withLock { $0.call }?(failure)
  }
}

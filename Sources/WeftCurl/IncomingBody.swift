import Synchronization
import WeftHTTP
import WeftPlatform

/// The destination of a response body, as its ``BodyPlan`` defines it.
struct IncomingBody {
  enum Acceptance {
    case taken
    /// The caller must deliver the same bytes again.
    case full
    /// Neither these bytes nor later ones are needed.
    case enough
    case tooMuch(HTTPFailure.Kind)
  }

  private enum Place {
    case nowhere
    case memory([UInt8], isStart: Bool)
    case outlet(BodyOutlet)
  }

  private var place: Place
  private var budget: BodyBudget

  static let nothing = IncomingBody(.nowhere, BodyBudget(limit: nil))

  private init(_ place: Place, _ budget: BodyBudget) {
    self.place = place
    self.budget = budget
  }

  /// - Parameter tell: Called on another thread.
  init(
    _ plan: BodyPlan, threads: ThreadPool,
    report: @escaping @Sendable (BodyOutlet.Notice) -> Void
  ) {
    switch plan {
    case .keep(let limit): self.init(.memory([], isStart: false), BodyBudget(limit: limit))
    case .keepStart(let limit): self.init(.memory([], isStart: true), BodyBudget(limit: limit))
    case .write(let writer, let limit):
      self.init(
        .outlet(BodyOutlet(writer, threads: threads, report: report)), BodyBudget(limit: limit))
    case .refuse: self = .nothing
    }
  }

  /// Returns the failure if the declared length already exceeds the limit.
  func refusal(of head: HTTPResponseHead) -> HTTPFailure.Kind? {
    if case .memory(_, isStart: true) = place { return nil }
    return budget.isExceeded(byLengthOf: head) ? exceeded : nil
  }

  private var exceeded: HTTPFailure.Kind { .limit(.body, budget.limit ?? .max) }

  mutating func take(_ bytes: UnsafeRawBufferPointer) -> Acceptance {
    switch place {
    case .nowhere: return .taken
    case .memory(var body, let isStart):
      // The array must be uniquely referenced, or each append would copy it.
      place = .nowhere
      let count = budget.take(bytes.count)
      body.append(contentsOf: bytes.prefix(count))
      place = .memory(body, isStart: isStart)
      if count == bytes.count { return .taken }
      return isStart ? .enough : .tooMuch(exceeded)
    case .outlet(let outlet):
      var later = budget
      let count = later.take(bytes.count)
      guard outlet.offer(UnsafeRawBufferPointer(rebasing: bytes.prefix(count))) else {
        return .full
      }
      budget = later
      return count == bytes.count ? .taken : .tooMuch(exceeded)
    }
  }

  /// Returns the body kept in memory; `nil` if the body has another destination.
  mutating func takeStored() -> [UInt8]? {
    guard case .memory(let body, _) = place else { return nil }
    place = .nowhere
    return body
  }

  /// - Parameter done: Called with the failure if the body ended differently than `end` says.
  mutating func finish(_ end: BodyEnd, done: @escaping @Sendable (HTTPFailure.Kind?) -> Void) {
    guard case .outlet(let outlet) = place else { return done(nil) }
    place = .nowhere
    outlet.finish(end, done: done)
  }
}

/// The number of body bytes that are still accepted. Exact: the first byte beyond the limit is rejected.
struct BodyBudget {
  let limit: Int?
  private(set) var taken = 0

  init(limit: Int?) { self.limit = limit }

  /// Returns how many of the next `count` bytes are accepted.
  mutating func take(_ count: Int) -> Int {
    let allowed = limit.map { min(count, $0 - taken) } ?? count
    taken += allowed
    return allowed
  }

  /// Whether the declared length of the body exceeds the limit.
  func isExceeded(byLengthOf head: HTTPResponseHead) -> Bool {
    guard let limit, let length = head.contentLength, length > limit else { return false }
    // For a compressed body, the declared length says nothing about the decoded one.
    return !head.headers.contains("content-encoding")
  }
}

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
  private let report: @Sendable (Notice) -> Void

  private struct Completion: Sendable {
    var call: (@Sendable (HTTPFailure.Kind?) -> Void)?
  }

  enum Notice: Sendable {
    case hasRoom
    case failed(HTTPFailure.Kind)
  }

  static let capacity = 1024 * 1024

  /// - Parameter tell: Called on the writer's thread.
  init(
    _ writer: any BodyWriter, threads: ThreadPool, report: @escaping @Sendable (Notice) -> Void
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
